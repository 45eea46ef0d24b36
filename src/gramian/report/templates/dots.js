// Dots of a drawing that can be asked: the nearest to the pointer tells what it is. `mark(row)` draws what goes with a
// dot, and clears that away for null.

function startDots(facts, mark) {
  const svg = document.getElementById('plot');
  const points = facts.rows.filter((row) => row.x !== undefined);
  if (!svg || !points.length) return null;
  const tip = document.getElementById('tip');
  const dot = document.getElementById('plot-dot');
  const show = (row) => {
    mark(row);
    dot.setAttribute('cx', row.x);
    dot.setAttribute('cy', row.y);
    dot.removeAttribute('hidden');
    tip.replaceChildren(element('h3', row.name ?? `Row ${row.row}`, { dir: 'auto' }), listed(facts, row));
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
    mark(null);
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
  return {
    points,
    show(number) {
      const row = points.find((item) => item.row === number);
      if (!row) return;
      svg.closest('section').scrollIntoView();
      show(row);
    },
  };
}

// The first columns of a row, `told` of them if that is said: a small screen has no room for more.
function listed(facts, row) {
  const list = element('dl', '', { class: 'values' });
  facts.head.slice(0, facts.told).forEach((name, place) => {
    if (!row.cells[place]) return;
    list.append(element('dt', name, { dir: 'auto' }), element('dd', row.cells[place], { dir: 'auto' }));
  });
  return list;
}
