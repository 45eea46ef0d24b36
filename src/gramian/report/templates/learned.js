// The page of a prediction: rows by search, and the plot of predicted and true values, whose dots show their interval.

const facts = JSON.parse(document.getElementById('facts').textContent);
startTheme(() => {});
document.querySelectorAll('table.sortable[data-still]').forEach(makeSortable);
document.documentElement.classList.add('live');
startListing(facts, startDots(facts, (row) => {
  const ends = row?.ends;
  const path = ends ? `M${row.x} ${ends[0]}V${ends[1]}M${row.x - 6} ${ends[0]}h12M${row.x - 6} ${ends[1]}h12` : '';
  document.getElementById('plot-bar').setAttribute('d', path);
}));
