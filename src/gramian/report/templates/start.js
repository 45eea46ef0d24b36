// What happens when the page opens: theme, tables that sort, and the map. Everything else stands in the page already.

function startTheme(changed) {
  const root = document.documentElement;
  const button = document.getElementById('theme');
  const system = window.matchMedia('(prefers-color-scheme: dark)');
  const isDark = () => (root.dataset.theme || (system.matches ? 'dark' : 'light')) === 'dark';
  const remembered = (action) => {
    try {
      return action(window.localStorage);
    } catch {
      return null; // a page opened from a file may be denied storage; then the choice lasts for this visit
    }
  };
  const label = () => {
    button.textContent = isDark() ? 'Light' : 'Dark';
    button.setAttribute('aria-label', isDark() ? 'Change to light colours' : 'Change to dark colours');
    changed();
  };
  const kept = remembered((storage) => storage.getItem('gramian-theme'));
  if (kept === 'dark' || kept === 'light') root.dataset.theme = kept;
  button.hidden = false;
  button.addEventListener('click', () => {
    root.dataset.theme = isDark() ? 'light' : 'dark';
    remembered((storage) => storage.setItem('gramian-theme', root.dataset.theme));
    label();
  });
  system.addEventListener('change', label);
  label();
}

function makeSortable(table) {
  const heads = [...table.tHead.rows[0].cells];
  heads.forEach((head, place) => {
    if (!head.dataset.sort) return;
    const button = element('button', head.textContent, { type: 'button' });
    head.replaceChildren(button);
    const numeric = head.dataset.sort === 'number';
    const valueOfCell = (cell) => (numeric ? Number(cell.dataset.value) : cell.textContent.trim());
    button.addEventListener('click', () => {
      const descending = head.hasAttribute('aria-sort') ? head.getAttribute('aria-sort') === 'ascending' : numeric;
      heads.forEach((other) => other.removeAttribute('aria-sort'));
      head.setAttribute('aria-sort', descending ? 'descending' : 'ascending');
      const body = table.tBodies[0];
      const sign = descending ? -1 : 1;
      const lines = [...body.rows].map((line) => [valueOfCell(line.cells[place]), line]);
      lines.sort(([a], [b]) => sign * (numeric ? a - b : a.localeCompare(b)));
      body.append(...lines.map(([, line]) => line));
    });
  });
}

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
