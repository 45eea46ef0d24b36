// Reading what data.py packed: pure functions from bytes to columns, no page needed.

function bytesFromBase64(text) {
  const binary = atob(text);
  const bytes = new Uint8Array(binary.length);
  for (let i = 0; i < binary.length; i++) bytes[i] = binary.charCodeAt(i);
  return bytes;
}

async function inflate(bytes) {
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream('deflate'));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

// Unsigned integers from columns of bytes: all lowest bytes first, then the next.
function mergePlanes(bytes, start, count, width) {
  if (width === 1) return bytes.subarray(start, start + count);
  const merged = width === 2 ? new Uint16Array(count) : new Uint32Array(count);
  for (let plane = 0; plane < width; plane++) {
    const at = start + plane * count;
    const factor = 2 ** (8 * plane);
    for (let i = 0; i < count; i++) merged[i] += factor * bytes[at + i];
  }
  return merged;
}

// Directions of the embedding as signed integers, one array for each.
function readEmbedding(how, bytes, count) {
  return how.steps.map((_, j) => {
    const codes = mergePlanes(bytes, j * how.width * count, count, how.width);
    return how.width === 1
      ? new Int8Array(codes.buffer, codes.byteOffset, count)
      : new Int16Array(codes.buffer, codes.byteOffset, count);
  });
}

// How alike every row is to one: dot products of the embedding.
function likeness(how, directions, row) {
  const alike = new Float32Array(directions[0].length);
  directions.forEach((codes, j) => {
    const weight = codes[row] * how.steps[j] * how.steps[j];
    for (let i = 0; i < alike.length; i++) alike[i] += weight * codes[i];
  });
  return alike;
}

// The rows with the largest values, largest first, leaving one out.
function largest(values, amount, except) {
  const best = [];
  for (let i = 0; i < values.length; i++) {
    if (i === except || (best.length === amount && values[i] <= values[best[amount - 1]])) continue;
    let place = best.length;
    while (place > 0 && values[best[place - 1]] < values[i]) place--;
    best.splice(place, 0, i);
    if (best.length > amount) best.pop();
  }
  return best;
}

// A column: codes (0 is missing), numeric values, and text for people.
function readColumn(how, bytes, count) {
  const codes = mergePlanes(bytes, 0, count, how.width);
  const levels = how.scale === 'levels'
    ? JSON.parse(new TextDecoder().decode(bytes.subarray(count * how.width)))
    : null;
  const value = (row) => (codes[row] === 0 ? NaN : valueOf(how, codes[row]));
  const text = (row) => {
    if (codes[row] === 0) return '';
    if (levels) return levels[codes[row] - 1];
    return textOf(how, valueOf(how, codes[row]));
  };
  return { how, codes, levels, value, text };
}

function valueOf(how, code) {
  const place = how.low + (code - 1) * how.step;
  if (how.scale === 'grid') return place / 10 ** how.decimals;
  if (how.scale === 'date') return (how.low + code - 1) * how.step;
  if (how.scale === 'curved') return how.centre + how.spread * Math.sinh(place);
  return place;
}

// No more digits than the packing kept.
function textOf(how, value) {
  if (how.scale === 'date') return dateText(value, how.step >= 86400);
  if (how.years) return String(value);
  if (how.scale === 'grid') return formatNumber(value, how.decimals);
  const bend = how.scale === 'curved' ? how.spread * Math.sqrt(1 + ((value - how.centre) / how.spread) ** 2) : 1;
  const digits = Math.floor(-Math.log10(how.step * bend));
  if (digits >= 0) return formatNumber(value, Math.min(digits, significantDecimals(value)));
  const unit = 10 ** -digits;
  return formatNumber(Math.round(value / unit) * unit, 0);
}

function significantDecimals(value) {
  if (value === 0) return 0;
  return Math.min(Math.max(4 - Math.floor(Math.log10(Math.abs(value))), 0), 12);
}

function formatNumber(value, decimals) {
  if (!Number.isFinite(value)) return '–';
  const size = Math.abs(value);
  const text = size >= 1e15 || (size > 0 && size < 1e-6 && decimals > 0)
    ? value.toExponential(3)
    : value.toLocaleString('en', { maximumFractionDigits: Math.min(decimals, 20) });
  return text.replace('-', '−');
}

function dateText(seconds, wholeDays) {
  const moment = new Date(seconds * 1000);
  if (Number.isNaN(moment.getTime())) return '–';
  const text = moment.toISOString();
  return wholeDays ? text.slice(0, text.indexOf('T')) : text.slice(0, 16).replace('T', ' ');
}

function formatShare(part) {
  const perCent = 100 * part;
  if (perCent > 0 && perCent < 0.1) return 'under 0.1 %';
  if (perCent > 99.5 && perCent < 100) return 'over 99 %';
  return `${formatNumber(perCent, perCent < 10 ? 1 : 0)} %`;
}
