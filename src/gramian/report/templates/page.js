// What every page can do: make elements, whose text enters through textContent only, change the theme, sort tables.

const element = (name, text, attributes = {}) => {
  const made = document.createElement(name);
  if (text !== undefined && text !== '') made.textContent = text;
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  return made;
};

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
