// Rows of the table, unpacked block by block when first asked for, and shown as text. Text of the table enters the
// page through textContent only.

function rowStore(facts) {
  const blocks = new Map();
  const columns = new Map();

  const unpack = (name) => {
    if (!blocks.has(name)) {
      const holder = document.getElementById(`block-${name}`);
      blocks.set(name, inflate(bytesFromBase64(holder.textContent)));
    }
    return blocks.get(name);
  };
  const column = (fact) => {
    if (!columns.has(fact.block)) {
      columns.set(fact.block, unpack(fact.block).then((bytes) => readColumn(fact, bytes, facts.rows)));
    }
    return columns.get(fact.block);
  };
  let numbers = null;
  const ready = facts.rows < facts.all_rows
    ? unpack('rows').then((bytes) => { numbers = mergePlanes(bytes, 0, facts.rows, 4); })
    : Promise.resolve();

  return {
    unpack,
    column,
    ready,
    // The number of a dot in the table, counted from 0, and back (-1: not drawn).
    rowOf: (dot) => (numbers ? numbers[dot] : dot),
    dotOf(row) {
      if (!numbers) return row >= 0 && row < facts.rows ? row : -1;
      let low = 0;
      let high = numbers.length - 1;
      while (low < high) {
        const half = (low + high) >> 1;
        if (numbers[half] < row) low = half + 1;
        else high = half;
      }
      return numbers[low] === row ? low : -1;
    },
    nameOf(dot) {
      return formatNumber(this.rowOf(dot) + facts.first_row, 0);
    },
    // [name, text] of the first `amount` columns; the name of the row stands in front of them.
    async values(dot, amount) {
      const named = facts.columns.filter((fact) => fact.kind === 'identifier');
      const shown = named.concat(facts.columns.filter((fact) => fact.kind !== 'identifier')).slice(0, amount);
      return Promise.all(shown.map(async (fact) => [fact.name, (await column(fact)).text(dot)]));
    },
  };
}

function valueList(pairs) {
  const list = element('dl', '', { class: 'values' });
  for (const [name, text] of pairs) {
    list.append(element('dt', name, { dir: 'auto', title: name }));
    const shown = element('dd', text || '–', { dir: 'auto' });
    if (!text) shown.classList.add('quiet');
    list.append(shown);
  }
  return list;
}
