// Rows, or nodes, to search and sort. Each has a number, `row`, and may have a `name`, by which it is then known.

const SHOWN = 200;

function startListing(facts, plot) {
  const head = document.getElementById('table-head');
  const body = document.getElementById('table-body');
  const search = document.getElementById('table-search');
  const told = document.getElementById('table-count');
  const nameOf = (row) => row.name ?? row.row.toLocaleString('en');
  const texts = facts.rows.map((row) => [row.name ?? row.row, ...row.cells].join('\n').toLowerCase());
  const order = facts.rows.map((_, i) => i);
  let sorted = null;

  // The one whose very name or number is wanted; other hits come behind it.
  const meant = () => {
    const wanted = search.value.trim();
    const number = /^\d[\d,]*$/.test(wanted) ? Number(wanted.replaceAll(',', '')) : null;
    return facts.rows.findIndex((row) => (row.name === undefined ? row.row === number : row.name === wanted));
  };
  const draw = () => {
    const words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
    const exact = words.length ? meant() : -1;
    let found = order.filter((i) => words.every((word) => texts[i].includes(word)));
    if (exact >= 0) found = [exact, ...found.filter((i) => i !== exact)];
    body.replaceChildren(...found.slice(0, SHOWN).map((i) => {
      const row = facts.rows[i];
      const line = element('tr');
      const first = element('th', '', { scope: 'row' });
      if (row.x === undefined && row.name !== undefined) first.append(element('bdi', row.name));
      else first.append(element('button', nameOf(row), { type: 'button', class: 'row', dir: 'auto', 'data-dot': row.row }));
      line.append(first);
      row.cells.forEach((text, j) => {
        line.append(element('td', text || '–', { dir: 'auto', class: facts.numeric[j] ? 'figure' : '' }));
      });
      return line;
    }));
    const shown = Math.min(found.length, SHOWN);
    const noun = facts.noun ?? 'row';
    told.textContent = shown < found.length
      ? `${shown} of ${found.length.toLocaleString('en')} ${noun}s` : `${found.length.toLocaleString('en')} ${noun}${found.length === 1 ? '' : 's'}`;
  };
  const key = (i, place) => {
    const row = facts.rows[i];
    if (place === 0) return row.name ?? row.row;
    return facts.numeric[place - 1] ? row.values[place - 1] : row.cells[place - 1];
  };
  const compare = (a, b) => (typeof a === 'string' ? a.localeCompare(b, undefined, { numeric: true }) : a - b);
  const sortBy = (place, cell) => {
    const descending = sorted === place ? cell.getAttribute('aria-sort') === 'ascending' : place > 0 && facts.numeric[place - 1];
    const sign = descending ? -1 : 1;
    order.sort((a, b) => {
      const [one, other] = [key(a, place), key(b, place)];
      if (one === null || other === null) return (one === null) - (other === null);
      return sign * compare(one, other);
    });
    [...head.cells].forEach((other) => other.removeAttribute('aria-sort'));
    cell.setAttribute('aria-sort', descending ? 'descending' : 'ascending');
    sorted = place;
    draw();
  };
  [facts.first ?? 'Row', ...facts.head].forEach((name, place) => {
    const cell = element('th', '', { scope: 'col', class: place > 0 && facts.numeric[place - 1] ? 'figure' : '' });
    const button = element('button', name, { type: 'button' });
    button.addEventListener('click', () => sortBy(place, cell));
    cell.append(button);
    head.append(cell);
  });
  search.addEventListener('input', draw);
  document.addEventListener('click', (event) => {
    const wanted = event.target.closest('button[data-row]');
    if (wanted) {
      const number = Number(wanted.dataset.row) + 1;
      search.value = facts.rows.find((row) => row.row === number)?.name ?? String(number);
      draw();
      document.getElementById('rows').scrollIntoView();
    }
    const onPlot = event.target.closest('button[data-dot]');
    if (onPlot && plot) plot.show(Number(onPlot.dataset.dot));
  });
  draw();
}
