// The page of a network: nodes by search, and the map, whose nodes show the edges they have.

const facts = JSON.parse(document.getElementById('facts').textContent);
startTheme(() => {});
document.querySelectorAll('table.sortable[data-still]').forEach(makeSortable);
document.documentElement.classList.add('live');

const joined = new Map(); // the others of every node, as places among the nodes that are drawn
for (let i = 0; i < facts.edges.length; i += 2) {
  for (const [one, other] of [[facts.edges[i], facts.edges[i + 1]], [facts.edges[i + 1], facts.edges[i]]]) {
    if (!joined.has(one)) joined.set(one, []);
    joined.get(one).push(other);
  }
}
const placeOf = new Map();
const map = startDots(facts, (row) => {
  const others = row ? joined.get(placeOf.get(row)) ?? [] : [];
  const path = others.map((place) => `M${row.x} ${row.y}L${map.points[place].x} ${map.points[place].y}`).join('');
  document.getElementById('plot-bar').setAttribute('d', path);
});
map?.points.forEach((row, place) => placeOf.set(row, place));
startListing(facts, map);
