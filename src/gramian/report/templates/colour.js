// Colours of dots. They live in the style sheet, so that the theme and the pictures agree.

const GROUP_COLOURS = 8;
const AMOUNT_COLOURS = 5;
const SHAPE_NAMES = ['circle', 'square', 'triangle', 'diamond'];

function parseColour(text) {
  const hex = text.trim().slice(1);
  return [0, 2, 4].map((i) => parseInt(hex.slice(i, i + 2), 16));
}

function readPalette() {
  const style = getComputedStyle(document.documentElement);
  const named = (name) => parseColour(style.getPropertyValue(name));
  return {
    groups: Array.from({ length: GROUP_COLOURS }, (_, i) => named(`--g${i}`)),
    amounts: Array.from({ length: AMOUNT_COLOURS }, (_, i) => named(`--a${i}`)),
    ink: named('--ink'),
    paper: named('--paper'),
  };
}

const mix = (one, other, part) => one.map((c, i) => Math.round(c + (other[i] - c) * part));

// 256 steps of the scale for amounts.
function amountTable(palette) {
  return Array.from({ length: 256 }, (_, i) => {
    const place = (i / 255) * (AMOUNT_COLOURS - 1);
    const left = Math.min(Math.floor(place), AMOUNT_COLOURS - 2);
    return mix(palette.amounts[left], palette.amounts[left + 1], place - left);
  });
}

// Dots by group: `codes` count from 1, 0 is no group.
function colourByGroup(codes, palette, hidden) {
  const none = mix(palette.ink, palette.paper, 0.6);
  return paint(codes.length, (i) => {
    const code = codes[i];
    if (hidden.has(code)) return null;
    return code === 0 ? none : palette.groups[(code - 1) % GROUP_COLOURS];
  }, (i) => (codes[i] === 0 ? 0 : Math.floor((codes[i] - 1) / GROUP_COLOURS) % SHAPE_NAMES.length));
}

// Dots by amount: `values` from `low` to `high`, NaN is missing. Larger amounts are drawn on top.
function colourByAmount(values, low, high, palette) {
  const table = amountTable(palette);
  const none = mix(palette.ink, palette.paper, 0.75);
  const width = high - low || 1;
  const painted = paint(values.length, (i) => {
    if (Number.isNaN(values[i])) return none;
    return table[Math.min(Math.max(Math.round(((values[i] - low) / width) * 255), 0), 255)];
  }, () => 0);
  painted.order = orderByValue(values, low, high);
  return painted;
}

// A counting sort into 1,024 steps: the exact order of nearly equal dots does not show.
function orderByValue(values, low, high) {
  const steps = 1024;
  const place = (value) =>
    Number.isNaN(value) ? 0 : Math.min(Math.max(Math.floor(((value - low) / (high - low || 1)) * (steps - 1)) + 1, 1), steps);
  const starts = new Uint32Array(steps + 2);
  for (let i = 0; i < values.length; i++) starts[place(values[i]) + 1]++;
  for (let s = 1; s < starts.length; s++) starts[s] += starts[s - 1];
  const order = new Uint32Array(values.length);
  for (let i = 0; i < values.length; i++) order[starts[place(values[i])]++] = i;
  return order;
}

function paint(count, colourOf, shapeOf) {
  const colours = new Uint8Array(4 * count);
  const shapes = new Uint8Array(count);
  for (let i = 0; i < count; i++) {
    const colour = colourOf(i);
    if (colour) {
      colours.set(colour, 4 * i);
      colours[4 * i + 3] = 255;
    }
    shapes[i] = shapeOf(i);
  }
  return { colours, shapes, order: null };
}

// The range that holds the middle 96 % of the values: a few extremes must not use up the scale.
function usefulRange(values) {
  const known = Float64Array.from(values).filter((v) => !Number.isNaN(v)).sort();
  if (!known.length) return [0, 1];
  const at = (part) => known[Math.round(part * (known.length - 1))];
  const [low, high] = [at(0.02), at(0.98)];
  return low < high ? [low, high] : [known[0], known[known.length - 1]];
}
