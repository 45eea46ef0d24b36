// Things of a page that can be searched, sorted and asked: rows of a prediction, nodes of a network, and their dots.
// facts.title and facts.many are what they are called, a row without a name has its number.

const SHOWN = 200;
const nameOf = (row) => row.name ?? row.row.toLocaleString('en');

function startPlot(facts) {
  const svg = document.getElementById('plot');
  if (!svg) return null;
  const tip = document.getElementById('tip');
  const bar = document.getElementById('plot-bar');
  const dot = document.getElementById('plot-dot');
  const points = facts.rows.filter((row) => row.x !== undefined);
  const show = (row) => {
    bar.setAttribute('d', row.ends ? `M${row.x} ${row.ends[0]}V${row.ends[1]}M${row.x - 6} ${row.ends[0]}h12M${row.x - 6} ${row.ends[1]}h12` : '');
    dot.setAttribute('cx', row.x);
    dot.setAttribute('cy', row.y);
    dot.removeAttribute('hidden');
    tip.replaceChildren(element('h3', `${facts.title} ${nameOf(row)}`, { dir: 'auto' }), listed(facts, row));
    tip.hidden = false;
    const box = svg.getBoundingClientRect();
    const left = (row.x / svg.viewBox.baseVal.width) * box.width;
    const top = (row.y / svg.viewBox.baseVal.height) * box.height;
    const onLeft = left > box.width / 2;
    tip.style.left = onLeft ? '' : `${left + 14}px`;
    tip.style.right = onLeft ? `${box.width - left + 14}px` : '';
    tip.style.top = `${Math.min(top, box.height - tip.offsetHeight)}px`;
  };
  const hide = () => {
    bar.setAttribute('d', '');
    dot.setAttribute('hidden', '');
    tip.hidden = true;
  };
  const nearest = (event) => {
    const place = new DOMPoint(event.clientX, event.clientY).matrixTransform(svg.getScreenCTM().inverse());
    let best = null;
    let least = 24 * 24;
    for (const row of points) {
      const distance = (row.x - place.x) ** 2 + (row.y - place.y) ** 2;
      if (distance < least) [best, least] = [row, distance];
    }
    return best;
  };
  const point = (event) => {
    const row = nearest(event);
    if (row) show(row);
    else hide();
  };
  svg.addEventListener('pointermove', point);
  svg.addEventListener('pointerdown', point);
  svg.addEventListener('pointerleave', (event) => event.pointerType === 'mouse' && hide());
  return { show: (number) => { const row = points.find((item) => item.row === number); if (row) show(row); } };
}

function listed(facts, row) {
  const list = element('dl', '', { class: 'values' });
  facts.head.forEach((name, place) => {
    if (!row.cells[place]) return;
    list.append(element('dt', name, { dir: 'auto' }), element('dd', row.cells[place], { dir: 'auto' }));
  });
  return list;
}

function startRows(facts, plot) {
  const head = document.getElementById('table-head');
  const body = document.getElementById('table-body');
  const search = document.getElementById('table-search');
  const told = document.getElementById('table-count');
  const texts = facts.rows.map((row) => [row.name ?? row.row, ...(row.name === undefined ? row.cells : [])].join('\n').toLowerCase());
  let order = facts.rows.map((_, i) => i);
  let sorted = null;

  const draw = () => {
    const words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
    const number = /^\d[\d,]*$/.test(search.value.trim()) ? Number(search.value.replaceAll(',', '')) : null;
    const exact = facts.rows.findIndex((row) => (row.name === undefined ? row.row === number : row.name === search.value.trim()));
    let found = order.filter((i) => words.every((word) => texts[i].includes(word)));
    if (exact >= 0) found = [exact, ...found.filter((i) => i !== exact)];
    body.replaceChildren(...found.slice(0, SHOWN).map((i) => {
      const row = facts.rows[i];
      const line = element('tr');
      const first = element('th', '', { scope: 'row' });
      first.append(element('button', nameOf(row), { type: 'button', class: 'row', 'data-dot': row.row }));
      line.append(first);
      row.cells.forEach((text, j) => {
        line.append(element('td', text || '–', { dir: 'auto', class: facts.numeric[j] ? 'figure' : '' }));
      });
      return line;
    }));
    const shown = Math.min(found.length, SHOWN);
    told.textContent = shown < found.length
      ? `${shown} of ${found.length.toLocaleString('en')} ${facts.many}`
      : `${found.length.toLocaleString('en')} ${found.length === 1 ? facts.title.toLowerCase() : facts.many}`;
  };
  const sortBy = (place, cell) => {
    const descending = sorted === place ? cell.getAttribute('aria-sort') === 'ascending' : place > 0 && facts.numeric[place - 1];
    const key = (i) => (place === 0 ? facts.rows[i].name ?? facts.rows[i].row : facts.numeric[place - 1] ? facts.rows[i].values[place - 1] : facts.rows[i].cells[place - 1]);
    const sign = descending ? -1 : 1;
    const compare = (a, b) => (typeof a === 'string' ? a.localeCompare(b) : a - b);
    order.sort((a, b) => {
      const [one, other] = [key(a), key(b)];
      if (one === null || other === null) return (one === null) - (other === null);
      return sign * compare(one, other);
    });
    [...head.cells].forEach((other) => other.removeAttribute('aria-sort'));
    cell.setAttribute('aria-sort', descending ? 'descending' : 'ascending');
    sorted = place;
    draw();
  };
  [facts.title, ...facts.head].forEach((name, place) => {
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
    if (onPlot && plot) {
      document.getElementById('plotted').scrollIntoView();
      plot.show(Number(onPlot.dataset.dot));
    }
  });
  draw();
}
