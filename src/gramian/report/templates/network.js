// The page of a network: nodes by search, and the map, whose dots can be asked.

const facts = JSON.parse(document.getElementById('facts').textContent);
startTheme(() => {});
document.querySelectorAll('table.sortable[data-still]').forEach(makeSortable);
document.documentElement.classList.add('live');
startRows(facts, startPlot(facts));
