// The map: what is in view, what it is coloured by, which row is chosen.

const MANY_POINTS = 5000;
const TIP_COLUMNS = 7;
const ALIKE_ROWS = 10;

async function startMap(facts, store) {
  const byId = (id) => document.getElementById(id);
  const stage = byId('stage');
  const overlay = byId('overlay');
  const tip = byId('tip');
  const chosenBox = byId('chosen');
  const [bytes, groupBytes] = await Promise.all([store.unpack('map'), store.unpack('group'), store.ready]);
  const count = facts.rows;
  const x = mergePlanes(bytes, 0, count, 2);
  const y = mergePlanes(bytes, 2 * count, count, 2);
  const groups = mergePlanes(groupBytes, 0, count, facts.widths.group);
  const grouped = facts.groups.length > 1;
  const nearest = nearestIndex(x, y);
  let points = startPoints(byId('points'), x, y, count > MANY_POINTS, (other) => {
    points = other;
    stage.dataset.drawnBy = points.kind;
    if (state.painted) points.paint(state.painted);
    redraw();
  });
  stage.dataset.drawnBy = points.kind;

  const view = { x: 0, y: 0, scale: 1, width: 0, height: 0, ratio: 1 };
  const state = { colourBy: 'group', hover: -1, chosen: -1, alike: [], hidden: new Set(), painted: null, fitted: 1 };
  let palette = readPalette();

  // ---- drawing
  let waiting = false;
  const redraw = () => {
    if (waiting) return;
    waiting = true;
    requestAnimationFrame(() => {
      waiting = false;
      draw();
    });
  };
  const draw = () => {
    if (!state.painted || !view.width) return;
    const zoom = Math.min(Math.max(view.scale / state.fitted, 0.5), 40);
    const narrow = Math.min(1, Math.max(view.width / 700, 0.7));
    const size = Math.min(Math.max(13.5 - 2.2 * Math.log10(count), 2.8), 9) * narrow * zoom ** 0.35;
    points.draw(view, size, count > 20000 ? 0.7 : 0.85);
    drawOverlay(size);
  };
  const screen = (i) => [(x[i] - view.x) * view.scale + view.width / 2, (view.y - y[i]) * view.scale + view.height / 2];
  const colour = (rgb) => `rgb(${rgb.join(' ')})`;
  const drawOverlay = (size) => {
    const context = overlay.getContext('2d');
    context.setTransform(view.ratio, 0, 0, view.ratio, 0, 0);
    context.clearRect(0, 0, view.width, view.height);
    const ring = (i, radius, width) => {
      const [px, py] = screen(i);
      for (const [shade, extra] of [[palette.paper, 2.5], [palette.ink, 0]]) {
        context.strokeStyle = colour(shade);
        context.lineWidth = width + extra;
        context.beginPath();
        context.arc(px, py, radius, 0, 2 * Math.PI);
        context.stroke();
      }
    };
    const labels = state.chosen < 0 && { group: facts.groups, alternative: facts.alternative }[state.colourBy];
    if (labels && labels.length > 1) {
      context.font = '700 15px system-ui, sans-serif';
      context.textAlign = 'center';
      context.textBaseline = 'middle';
      context.lineJoin = 'round';
      labels.forEach((group, label) => {
        if (state.hidden.has(label + 1) || !group.size) return;
        const px = (group.at[0] - view.x) * view.scale + view.width / 2;
        const py = (view.y - group.at[1]) * view.scale + view.height / 2;
        context.strokeStyle = colour(palette.paper);
        context.lineWidth = 4;
        context.strokeText(label + facts.first_group, px, py);
        context.fillStyle = colour(palette.ink);
        context.fillText(label + facts.first_group, px, py);
      });
    }
    state.alike.forEach((i) => ring(i, size / 2 + 2.5, 1.25));
    if (state.chosen >= 0) ring(state.chosen, size / 2 + 5, 2.5);
    if (state.hover >= 0) ring(state.hover, size / 2 + 3, 2);
  };

  const fit = () => {
    const [left, right, bottom, top] = facts.map.view;
    const margin = 26;
    view.x = (left + right) / 2;
    view.y = (bottom + top) / 2;
    view.scale = Math.min(
      Math.max(view.width - 2 * margin, 50) / Math.max(right - left, 1),
      Math.max(view.height - 2 * margin, 50) / Math.max(top - bottom, 1),
    );
    state.fitted = view.scale;
    redraw();
  };
  new ResizeObserver(() => {
    const box = stage.getBoundingClientRect();
    if (!box.width) return;
    const whole = !view.width || view.scale === state.fitted;
    view.width = stage.clientWidth;
    view.height = stage.clientHeight;
    view.ratio = window.devicePixelRatio || 1;
    for (const canvas of [points.canvas, overlay]) {
      canvas.width = Math.round(view.width * view.ratio);
      canvas.height = Math.round(view.height * view.ratio);
    }
    if (whole) fit();
    draw();
  }).observe(stage);

  // ---- colours and legend
  const legend = byId('legend');
  const showGroups = (codes, names) => {
    state.painted = colourByGroup(codes, palette, state.hidden);
    const counts = new Map();
    codes.forEach((code) => counts.set(code, (counts.get(code) || 0) + 1));
    legend.replaceChildren(...[...counts.keys()].sort((a, b) => (a || 1e9) - (b || 1e9)).map((code) => {
      const button = element('button', '', { type: 'button', 'aria-pressed': String(!state.hidden.has(code)) });
      const shape = SHAPE_NAMES[Math.floor((code - 1) / GROUP_COLOURS) % SHAPE_NAMES.length];
      button.append(
        element('span', '', { class: code ? `mark g${(code - 1) % GROUP_COLOURS} ${shape}` : 'mark', 'aria-hidden': 'true' }),
        element('span', names(code), { class: 'name', dir: 'auto' }),
      );
      // Counts of a sample would contradict those on the cards.
      if (count === facts.all_rows) button.append(element('span', formatNumber(counts.get(code), 0), { class: 'quiet' }));
      button.addEventListener('click', () => {
        if (!state.hidden.delete(code)) state.hidden.add(code);
        recolour();
      });
      return button;
    }));
  };
  const showAmounts = (values, [low, high], title, text) => {
    state.painted = colourByAmount(values, low, high, palette);
    const strip = element('canvas', '', { width: 256, height: 1, 'aria-hidden': 'true' });
    const pixels = strip.getContext('2d');
    amountTable(palette).forEach((shade, i) => {
      pixels.fillStyle = colour(shade);
      pixels.fillRect(i, 0, 1, 1);
    });
    legend.replaceChildren(element('span', title, { dir: 'auto' }), element('span', text(low), { class: 'quiet' }), strip, element('span', text(high), { class: 'quiet' }));
  };
  const twoDigits = (value) => formatNumber(value, 2);

  let turn = 0; // unpacking takes a moment; only the last wish counts
  const recolour = async () => {
    const mine = ++turn;
    const by = state.colourBy;
    if (state.chosen >= 0) {
      const directions = await embedding();
      if (mine !== turn) return;
      const alike = likeness(facts.embedding, directions, state.chosen);
      const [low] = usefulRange(alike);
      const own = alike[state.chosen]; // below 1 where the page holds only some directions of the embedding
      showAmounts(alike, [Math.min(Math.max(low, 0), 0.95 * own), own], `Likeness to row ${store.nameOf(state.chosen)}`, twoDigits);
    } else if (by === 'group' || by === 'alternative') {
      const codes = by === 'group' ? groups : mergePlanes(await store.unpack(by), 0, count, facts.widths[by]);
      if (mine !== turn) return;
      const one = by === 'group' && !grouped;
      showGroups(codes, (code) => (code ? (one ? 'All rows' : `Group ${code - 1 + facts.first_group}`) : one ? 'Rows without values' : 'In no group'));
    } else if (by === 'oddness') {
      const odd = Float32Array.from(await store.unpack('oddness'), (code) => code / 255);
      if (mine !== turn) return;
      showAmounts(odd, [0, Math.max(...usefulRange(odd), 0.01)], 'Oddness', twoDigits);
    } else {
      const fact = facts.columns.find((one) => one.block === by);
      const column = await store.column(fact);
      if (mine !== turn) return;
      if (column.levels) showLevels(column);
      else {
        const values = Float64Array.from(column.codes, (_, i) => column.value(i));
        showAmounts(values, usefulRange(values), fact.name, (value) => textOf(fact, value));
      }
    }
    points.paint(state.painted);
    redraw();
  };
  // The most frequent levels have colours of their own; the others share one.
  const showLevels = (column) => {
    const own = column.levels.length <= GROUP_COLOURS ? GROUP_COLOURS : GROUP_COLOURS - 1;
    const codes = column.codes.map((code) => Math.min(code, own + 1));
    const names = (code) => (code === 0 ? 'missing' : code > own ? 'others' : column.levels[code - 1]);
    showGroups(codes.map((code) => (code > own ? GROUP_COLOURS : code)), (code) => names(code === GROUP_COLOURS && own < GROUP_COLOURS ? own + 1 : code));
  };
  let directions = null;
  const embedding = async () => {
    directions = directions || readEmbedding(facts.embedding, await store.unpack('embedding'), count);
    return directions;
  };

  const picker = byId('colour-by');
  const option = (value, text) => element('option', text, { value });
  picker.append(option('group', grouped ? 'group' : 'nothing'));
  if (facts.alternative) picker.append(option('alternative', 'the other grouping'));
  picker.append(option('oddness', 'oddness'));
  const coloured = facts.columns.filter((fact) => fact.scale !== 'levels' || (fact.levels > 1 && fact.levels <= 200 && fact.kind !== 'identifier' && fact.kind !== 'text'));
  if (coloured.length) {
    const list = element('optgroup', '', { label: 'a column' });
    list.append(...coloured.map((fact) => option(fact.block, fact.name)));
    picker.append(list);
  }
  const colourBy = (value) => {
    picker.value = value;
    state.colourBy = value;
    state.hidden.clear();
    if (state.chosen >= 0) choose(-1);
    else recolour();
  };
  picker.addEventListener('change', () => colourBy(picker.value));

  // ---- rows
  const groupText = (i) => (groups[i] ? `group ${groups[i] - 1 + facts.first_group}` : 'in no group');
  const visible = (i) => state.painted.colours[4 * i + 3] > 0;
  const showTip = async (i, px, py) => {
    const pairs = await store.values(i, TIP_COLUMNS);
    if (state.hover !== i) return;
    tip.replaceChildren(element('h3', `Row ${store.nameOf(i)}${grouped || !groups[i] ? `, ${groupText(i)}` : ''}`), valueList(pairs));
    tip.hidden = false;
    const right = px + 18 + tip.offsetWidth < view.width;
    tip.style.left = `${Math.max(right ? px + 18 : px - 18 - tip.offsetWidth, 4)}px`;
    tip.style.top = `${Math.min(Math.max(py - tip.offsetHeight / 2, 4), Math.max(view.height - tip.offsetHeight - 4, 4))}px`;
  };
  const hover = (i, px, py) => {
    if (i === state.hover) return;
    state.hover = i;
    tip.hidden = true;
    if (i >= 0) showTip(i, px, py);
    redraw();
  };
  const choose = async (i) => {
    state.chosen = i;
    state.alike = [];
    state.hover = -1;
    tip.hidden = true;
    if (i < 0) {
      chosenBox.replaceChildren(element('p', 'No row chosen. Choose a dot, or type the number of a row.', { class: 'quiet' }));
      return recolour();
    }
    const [codes, pairs, odd, typical] = await Promise.all([
      embedding(), store.values(i, facts.columns.length), store.unpack('oddness'), store.unpack('typicality'),
    ]);
    if (state.chosen !== i) return undefined;
    const alike = likeness(facts.embedding, codes, i);
    state.alike = largest(alike, ALIKE_ROWS, i);
    const than = `ore typical than ${formatShare(typical[i] / 255)} of `;
    const place = !groups[i] ? 'In no group' : grouped ? `In ${groupText(i)}, m${than}it` : `M${than}the rows`;
    const back = element('button', 'Let go of this row', { type: 'button', class: 'plain' });
    back.addEventListener('click', () => choose(-1));
    const listed = i < facts.listed ? [element('button', 'Find it in the table', { type: 'button', class: 'plain', 'data-line': i }), ' '] : [];
    chosenBox.replaceChildren(
      element('h3', `Row ${store.nameOf(i)}`),
      element('p', `${place}; oddness ${twoDigits(odd[i] / 255)}.`, { class: 'quiet' }),
      valueList(pairs),
      element('h4', `The ${state.alike.length} rows most like it`),
      await alikeTable(alike),
      ...listed,
      back,
    );
    return recolour();
  };
  const alikeTable = async (alike) => {
    const shown = facts.columns.slice(0, 2);
    const columns = await Promise.all(shown.map(store.column));
    const table = element('table');
    const head = element('tr');
    for (const name of ['Row', 'Likeness', ...(grouped ? ['Group'] : []), ...shown.map((fact) => fact.name)]) head.append(element('th', name, { scope: 'col', dir: 'auto' }));
    table.append(element('thead'), element('tbody'));
    table.tHead.append(head);
    for (const i of state.alike) {
      const line = element('tr');
      const button = element('button', store.nameOf(i), { type: 'button', class: 'row', 'data-row': store.rowOf(i), 'aria-label': `Show row ${store.nameOf(i)} on the map` });
      const name = element('th', '', { scope: 'row' });
      name.append(button);
      line.append(name, element('td', formatNumber(Math.min(alike[i], 1), 3)));
      if (grouped) line.append(element('td', groups[i] ? String(groups[i] - 1 + facts.first_group) : '–'));
      for (const column of columns) line.append(element('td', column.text(i) || '–', { dir: 'auto' }));
      table.tBodies[0].append(line);
    }
    const scroll = element('div', '', { class: 'scroll' });
    scroll.append(table);
    return scroll;
  };
  const chooseRow = (row) => {
    const dot = store.dotOf(row);
    if (dot < 0) {
      chosenBox.replaceChildren(element('p', `Row ${formatNumber(row + facts.first_row, 0)} is not on the map.`));
      return;
    }
    const [px, py] = screen(dot);
    if (px < 0 || py < 0 || px > view.width || py > view.height) {
      view.x = x[dot];
      view.y = y[dot];
    }
    choose(dot);
  };

  // ---- moving
  const zoomAt = (factor, px, py) => {
    const next = Math.min(Math.max(view.scale * factor, state.fitted / 40), state.fitted * 400);
    const mx = view.x + (px - view.width / 2) / view.scale;
    const my = view.y - (py - view.height / 2) / view.scale;
    view.x = mx - (px - view.width / 2) / next;
    view.y = my + (py - view.height / 2) / next;
    view.scale = next;
    redraw();
  };
  const move = (dx, dy) => {
    view.x -= dx / view.scale;
    view.y += dy / view.scale;
    redraw();
  };
  const find = (px, py, reach) =>
    nearest(view.x + (px - view.width / 2) / view.scale, view.y - (py - view.height / 2) / view.scale, reach / view.scale, visible);
  watchPointers(stage, { move, zoomAt, hover: (px, py) => hover(find(px, py, 14), px, py), leave: () => hover(-1), pick: (px, py, reach) => choose(find(px, py, reach)) });
  const middle = (factor) => zoomAt(factor, view.width / 2, view.height / 2);
  const keys = {
    ArrowLeft: () => move(60, 0), ArrowRight: () => move(-60, 0), ArrowUp: () => move(0, 60), ArrowDown: () => move(0, -60),
    '+': () => middle(1.5), '=': () => middle(1.5), '-': () => middle(1 / 1.5), 0: fit, Escape: () => choose(-1),
  };
  stage.addEventListener('keydown', (event) => {
    if (!keys[event.key] || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    keys[event.key]();
  });
  byId('zoom-in').addEventListener('click', () => middle(1.6));
  byId('zoom-out').addEventListener('click', () => middle(1 / 1.6));
  byId('zoom-reset').addEventListener('click', fit);
  document.querySelector('.controls').addEventListener('submit', (event) => {
    event.preventDefault();
    const typed = Number.parseInt(byId('row-number').value, 10);
    if (Number.isFinite(typed)) chooseRow(typed - facts.first_row);
  });
  if (facts.map.outside) {
    byId('map-outside').textContent = facts.map.outside === 1
      ? ' One row lies far outside this view: zoom out to see it.'
      : ` ${formatNumber(facts.map.outside, 0)} rows lie far outside this view: zoom out to see them.`;
  }
  await recolour();
  return { chooseRow, colourBy, themeChanged() { palette = readPalette(); recolour(); } };
}
