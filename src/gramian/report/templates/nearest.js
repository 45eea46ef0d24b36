// The dot nearest to a place: dots sorted into the cells of a grid once, then only cells near the place are searched.

const CELLS = 128;
const CELL = 65536 / CELLS;

function nearestIndex(x, y) {
  const starts = new Uint32Array(CELLS * CELLS + 1);
  const cellOf = (i) => Math.floor(y[i] / CELL) * CELLS + Math.floor(x[i] / CELL);
  for (let i = 0; i < x.length; i++) starts[cellOf(i) + 1]++;
  for (let c = 1; c < starts.length; c++) starts[c] += starts[c - 1];
  const filled = starts.slice();
  const members = new Uint32Array(x.length);
  for (let i = 0; i < x.length; i++) members[filled[cellOf(i)]++] = i;

  // The nearest dot within `reach` that `visible` accepts, or -1.
  return (px, py, reach, visible) => {
    const clamp = (value) => Math.min(Math.max(Math.floor(value / CELL), 0), CELLS - 1);
    let best = -1;
    let least = reach * reach;
    for (let row = clamp(py - reach); row <= clamp(py + reach); row++) {
      const from = starts[row * CELLS + clamp(px - reach)];
      const to = starts[row * CELLS + clamp(px + reach) + 1];
      for (let k = from; k < to; k++) {
        const i = members[k];
        const distance = (x[i] - px) ** 2 + (y[i] - py) ** 2;
        if (distance <= least && visible(i)) {
          least = distance;
          best = i;
        }
      }
    }
    return best;
  };
}
