// What happens when the page opens: theme, tables that sort, and the map. Everything else stands in the page already.

async function start() {
  const facts = JSON.parse(document.getElementById('facts').textContent);
  let map = null;
  startTheme(() => map && map.themeChanged());
  document.querySelectorAll('table.sortable').forEach(makeSortable);
  if (!('DecompressionStream' in window)) throw new Error('this browser cannot unpack the rows; a newer one can');
  document.getElementById('map-live').hidden = false;
  document.documentElement.classList.add('live');
  const store = rowStore(facts);
  map = await startMap(facts, store);
  const table = await startTable(facts, store);
  document.addEventListener('click', (event) => {
    const button = event.target.closest('button[data-line]');
    if (button) table.show(Number(button.dataset.line));
  });
  const toMap = () => document.getElementById('map').scrollIntoView();
  document.addEventListener('click', (event) => {
    const button = event.target.closest('button[data-row]');
    if (!button) return;
    map.chooseRow(Number(button.dataset.row));
    if (!button.closest('#chosen')) toMap();
  });
  const other = document.getElementById('show-alternative');
  if (other) {
    other.addEventListener('click', () => {
      map.colourBy('alternative');
      toMap();
    });
  }
}

start().catch((error) => {
  // The still picture takes the place of the map, and the reader learns why.
  document.documentElement.classList.remove('live');
  document.getElementById('map-live').hidden = true;
  const trouble = document.getElementById('map-trouble');
  trouble.textContent = `The map is a still picture here: ${error.message}.`;
  trouble.hidden = false;
});
