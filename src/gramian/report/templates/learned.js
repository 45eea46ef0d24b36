// The page of a prediction: rows by search, and the plot of predicted and true values, whose dots can be asked.

const facts = JSON.parse(document.getElementById('facts').textContent);
startTheme(() => {});
document.querySelectorAll('table.sortable[data-still]').forEach(makeSortable);
document.documentElement.classList.add('live');
startRows(facts, startPlot(facts));
