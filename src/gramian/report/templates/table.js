// The table itself: rows to search and sort. Only the lines in sight are in the page, so that 10,000 rows scroll freely.

const LINE_HEIGHT = 32;
const SPARE_LINES = 8;
const BOX_HEIGHT = 512; // of the box in the style sheet, which is lower before it has lines

async function startTable(facts, store) {
  const byId = (id) => document.getElementById(id);
  const box = byId('table-box');
  const count = facts.listed;
  const [membership, rank, odd, groupBytes] = await Promise.all(['membership', 'rank', 'oddness', 'group'].map(store.unpack));
  const ranks = mergePlanes(rank, 0, count, 4);
  const groups = mergePlanes(groupBytes, 0, facts.rows, facts.widths.group);
  const shown = facts.columns;
  const columns = await Promise.all(shown.map(store.column));
  const share = (bytes) => (i) => bytes[i] / 255;
  const two = (value) => value.toFixed(2);
  const groupText = (i) => (groups[i] ? String(groups[i] - 1 + facts.first_group) : '–');
  // What a line shows: a title, a value to sort by, and a text.
  const grouped = facts.groups.length > 1;
  const ofGroups = [
    { title: 'Group', value: (i) => groups[i] || Infinity, text: groupText, rising: true },
    { title: 'Membership', value: share(membership), text: (i) => two(membership[i] / 255) },
  ];
  const fields = [
    { title: 'Row', value: (i) => store.rowOf(i), text: (i) => store.nameOf(i), rising: true },
    ...(grouped ? ofGroups : []),
    { title: grouped ? 'Rank in group' : 'Rank', value: (i) => ranks[i], text: (i) => formatNumber(ranks[i], 0), rising: true },
    { title: 'Oddness', value: share(odd), text: (i) => two(odd[i] / 255) },
    ...columns.map((column, j) => ({
      title: shown[j].name,
      value: column.levels ? (i) => column.text(i) : column.value,
      text: column.text,
      words: Boolean(column.levels),
    })),
  ];

  let order = Array.from({ length: count }, (_, i) => i);
  let kept = order;
  let sorted = { field: 0, descending: false };
  const head = byId('table-head');
  const body = byId('table-body');

  const compare = (field) => (a, b) => {
    const [x, y] = [field.value(a), field.value(b)];
    if (field.words) return (x === '') - (y === '') || String(x).localeCompare(String(y));
    return Number.isNaN(x) - Number.isNaN(y) || x - y;
  };
  const sort = () => {
    const field = fields[sorted.field];
    const by = compare(field);
    const empty = (i) => (field.words ? field.value(i) === '' : Number.isNaN(field.value(i)));
    const sign = sorted.descending ? -1 : 1;
    // Missing values stay last either way.
    order = Array.from({ length: count }, (_, i) => i)
      .sort((a, b) => (empty(a) || empty(b) ? by(a, b) : sign * by(a, b)) || a - b);
    search();
  };
  let texts = null;
  const search = () => {
    const words = byId('table-search').value.toLowerCase().split(/\s+/).filter(Boolean);
    if (words.length) {
      texts = texts || Array.from({ length: count }, (_, i) => fields.map((field) => field.text(i)).join('\n').toLowerCase());
      kept = order.filter((i) => words.every((word) => texts[i].includes(word)));
    } else kept = order;
    byId('table-count').textContent = kept.length === count
      ? `${formatNumber(count, 0)} rows` : `${formatNumber(kept.length, 0)} of ${formatNumber(count, 0)} rows`;
    box.scrollTop = 0;
    draw();
  };

  const buttons = fields.map((field, place) => {
    const cell = element('th', '', { scope: 'col', dir: 'auto' });
    const button = element('button', field.title, { type: 'button' });
    button.addEventListener('click', () => {
      sorted = { field: place, descending: sorted.field === place ? !sorted.descending : !field.words && !field.rising };
      buttons.forEach((other) => other.removeAttribute('aria-sort'));
      cell.setAttribute('aria-sort', sorted.descending ? 'descending' : 'ascending');
      sort();
    });
    cell.append(button);
    return cell;
  });
  buttons[0].setAttribute('aria-sort', 'ascending');
  head.replaceChildren(...buttons);

  const line = (i, place) => {
    const row = element('tr', '', { 'aria-rowindex': place + 2 });
    if (i === marked) row.classList.add('used');
    fields.forEach((field, j) => {
      const text = field.text(i);
      if (j === 0) {
        const name = element('th', '', { scope: 'row' });
        name.append(element('button', text, { type: 'button', class: 'row', 'data-row': store.rowOf(i), 'aria-label': `Show row ${text} on the map` }));
        row.append(name);
      } else row.append(element('td', text || '–', { dir: 'auto' }));
    });
    return row;
  };
  let marked = -1;
  const gap = (lines) => {
    const row = element('tr', '', { class: 'gap', 'aria-hidden': 'true' });
    const cell = element('td', '', { colspan: fields.length });
    cell.style.height = `${lines * LINE_HEIGHT}px`;
    row.append(cell);
    return row;
  };
  const draw = () => {
    const first = Math.max(Math.floor(box.scrollTop / LINE_HEIGHT) - SPARE_LINES, 0);
    const last = Math.min(Math.ceil((box.scrollTop + BOX_HEIGHT) / LINE_HEIGHT) + SPARE_LINES, kept.length);
    const lines = kept.slice(first, last).map((i, k) => line(i, first + k));
    body.replaceChildren(gap(first), ...lines, gap(Math.max(kept.length - last, 0)));
  };
  let waiting = false;
  box.addEventListener('scroll', () => {
    if (waiting) return;
    waiting = true;
    requestAnimationFrame(() => { waiting = false; draw(); });
  });
  byId('table-search').addEventListener('input', search);
  byId('table-live').hidden = false;
  search();

  return {
    // Show the line of a dot of the map; false if the table does not list it.
    show(dot) {
      if (dot >= count) return false;
      byId('table-search').value = '';
      search();
      marked = dot;
      box.scrollTop = Math.max(kept.indexOf(dot) * LINE_HEIGHT - box.clientHeight / 2, 0);
      draw();
      byId('rows').scrollIntoView();
      return true;
    },
  };
}
