// The page around the reports: what is on the server, what is being done, and questions to a result. Text of tables
// enters the page through textContent only.
'use strict';

const POLL = 500; // milliseconds between looks at something that is going on
const GROUP_COLOURS = 8;
const STATES = {
  waiting: 'Waiting', running: 'Exploring', done: 'Done', failed: 'It did not work', cancelled: 'Cancelled', interrupted: 'Interrupted',
};
const ACTS = { cancel: 'Cancel', restart: 'Start again', delete: 'Delete' };

const $ = (id) => document.getElementById(id);
let maxBytes = Infinity;
let turn = 0; // counts changes of view; what belongs to an earlier one is dropped
let current = null;
let kinds = []; // what files can be uploaded for

function element(name, text, attributes = {}) {
  const made = document.createElement(name);
  if (text !== undefined && text !== '') made.textContent = text;
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  return made;
}

function bytes(count) {
  if (count < 1000) return `${count} bytes`;
  const units = ['kB', 'MB', 'GB', 'TB'];
  let value = count / 1000;
  while (value >= 999.5 && units.length > 1) {
    value /= 1000;
    units.shift();
  }
  return `${value < 9.95 ? value.toFixed(1) : Math.round(value)} ${units[0]}`;
}

function lasted(seconds) {
  const s = Math.max(Math.round(seconds), 0);
  return s < 60 ? `${s} s` : `${Math.floor(s / 60)} min ${s % 60} s`;
}

const many = (count, noun) => `${count.toLocaleString('en')} ${noun}${count === 1 ? '' : 's'}`;
const when = (seconds) => new Date(1000 * seconds).toLocaleString(undefined, { dateStyle: 'medium', timeStyle: 'short' });

// Answers of the server; what it refuses is thrown with its one line.
async function call(method, path, body) {
  const options = { method };
  if (body instanceof FormData) options.body = body;
  else if (body !== undefined) Object.assign(options, { body: JSON.stringify(body), headers: { 'Content-Type': 'application/json' } });
  let response;
  try {
    response = await fetch(path, options);
  } catch {
    throw new Error('The server does not answer; is gramian serve still running?');
  }
  if (response.status === 204) return null;
  const answer = await response.json().catch(() => ({ detail: `the server answered ${response.status}` }));
  if (!response.ok) throw Object.assign(new Error(answer.detail), { status: response.status });
  return answer;
}

function trouble(error) {
  $('trouble').hidden = !error;
  $('trouble').textContent = error ? error.message : '';
}

// Run something a person asked for; the button rests until it is done.
async function doing(button, action, complain = trouble) {
  button.disabled = true;
  complain(null);
  try {
    await action();
  } catch (error) {
    complain(error);
  } finally {
    button.disabled = false;
  }
}

// Views ---------------------------------------------------------------------------------------------------------------

// The name of a table may be written from right to left; `bdi` keeps that from what stands around it.
function show(view, name, more = '') {
  for (const id of ['home', 'work', 'result']) $(id).hidden = id !== view;
  $('tools').hidden = view !== 'result';
  document.body.classList.toggle('showing', view === 'result');
  $('where').replaceChildren(element('bdi', name), more);
  document.title = name ? `${name}${more} – gramian` : 'gramian';
}

function route() {
  turn += 1;
  trouble(null);
  openPanel(null);
  const id = location.hash.slice(1);
  if (/^[0-9a-f]{32}$/.test(id)) follow(id, turn);
  else home(turn);
}

const later = (mine, action) => setTimeout(() => mine === turn && action(), POLL);

async function home(mine) {
  try {
    const { jobs, max_bytes: limit } = await call('GET', 'api/jobs');
    if (mine !== turn) return;
    maxBytes = limit;
    $('limit').textContent = bytes(limit);
    show('home', '');
    list(jobs);
    trouble(null);
    if (jobs.some((job) => job.state === 'waiting' || job.state === 'running')) later(mine, () => home(mine));
  } catch (error) {
    if (mine !== turn) return;
    trouble(error);
    setTimeout(() => mine === turn && home(mine), 4 * POLL);
  }
}

async function follow(id, mine) {
  try {
    const job = await call('GET', `api/jobs/${id}`);
    if (mine !== turn) return;
    trouble(null);
    current = job;
    if (job.state === 'done') {
      result(job);
      return;
    }
    work(job);
    if (job.state === 'waiting' || job.state === 'running') later(mine, () => follow(id, mine));
  } catch (error) {
    if (mine !== turn) return;
    trouble(error);
    if (error.status === 404) show('', '');
    else setTimeout(() => mine === turn && follow(id, mine), 4 * POLL);
  }
}

// All explorations ----------------------------------------------------------------------------------------------------

function acts(job) {
  if (job.state === 'running') return ['cancel'];
  if (job.state === 'waiting') return ['cancel', 'delete'];
  return job.state === 'done' ? ['delete'] : ['restart', 'delete'];
}

function actButton(act, job) {
  const button = element('button', ACTS[act], { type: 'button', class: 'plain', 'data-act': act, 'aria-label': `${ACTS[act]}: ${job.name}` });
  button.addEventListener('click', () => {
    if (act === 'delete' && !window.confirm(`Delete the exploration of ${job.name} (${bytes(job.size)})?`)) return;
    doing(button, async () => {
      if (act === 'delete') await call('DELETE', `api/jobs/${job.id}`);
      else await call('POST', `api/jobs/${job.id}/${act}`);
      if (act === 'delete' && location.hash) location.hash = '';
      else route();
    });
  });
  return button;
}

function told(job) {
  if (job.state === 'done') return job.found.sentence;
  if (job.state === 'waiting') return job.before ? `${many(job.before, 'exploration')} before it` : 'It begins in a moment';
  if (job.state === 'running') return job.progress.stage || 'starting';
  return job.message;
}

function list(jobs) {
  $('earlier').hidden = !jobs.length;
  const kept = document.activeElement;
  const focused = $('jobs').contains(kept) ? kept.getAttribute('aria-label') || kept.getAttribute('href') : null;
  $('jobs').replaceChildren(...jobs.map((job) => {
    const item = element('li', '', { 'data-id': job.id });
    const what = element('div', '', { class: 'what' });
    const title = element('p');
    title.append(element('a', '', { class: 'title', href: `#${job.id}` }));
    title.firstChild.append(element('bdi', job.name));
    if (job.asked) title.append(element('span', `, ${job.asked}`, { class: 'quiet' }));
    if (job.state !== 'done') title.append(element('span', STATES[job.state], { class: `badge ${job.state}` }));
    what.append(title, element('p', told(job), { class: 'quiet' }));
    const facts = element('p', '', { class: 'facts' });
    facts.append(when(job.created), element('br'), bytes(job.size));
    const buttons = element('div', '', { class: 'acts' });
    buttons.append(...acts(job).map((act) => actButton(act, job)));
    item.append(what, facts, buttons);
    return item;
  }));
  if (focused) {
    const same = [...$('jobs').querySelectorAll('a, button')];
    same.find((other) => [other.getAttribute('aria-label'), other.getAttribute('href')].includes(focused))?.focus();
  }
  const size = jobs.reduce((sum, job) => sum + job.size, 0);
  $('total').textContent = `${many(jobs.length, 'exploration')} on disk, ${bytes(size)}. They stay until they are deleted.`;
}

// One exploration on its way ------------------------------------------------------------------------------------------

function work(job) {
  show('work', job.name);
  const active = job.state === 'waiting' || job.state === 'running';
  $('state').textContent = STATES[job.state];
  $('name').replaceChildren(element('bdi', job.name));
  $('message').textContent = job.state === 'running' || job.state === 'cancelled' ? '' : `${told(job)}.`;
  $('progress').hidden = job.state !== 'running';
  $('bar').value = job.progress.done || 0;
  const stages = job.progress.stages || [];
  $('stages').replaceChildren(...(stages.length ? stages : [{ name: 'starting', since: job.started }]).map((stage, i) => {
    const last = i >= stages.length - 1;
    const item = element('li', stage.name, last ? { class: 'now' } : {});
    const end = last ? Date.now() / 1000 : stages[i + 1].since;
    item.append(element('span', lasted(end - stage.since)));
    return item;
  }));
  const buttons = acts(job).map((act) => actButton(act, job));
  if (!active && job.started) buttons.push(element('a', 'Log', { href: `api/jobs/${job.id}/log`, target: '_blank' }));
  if ($('actions').dataset.for !== job.id + job.state) {
    $('actions').replaceChildren(...buttons); // not at every look: a button would vanish under the pointer
    $('actions').dataset.for = job.id + job.state;
  }
}

// A result ------------------------------------------------------------------------------------------------------------

const kindOf = (job) => kinds.find(({ name }) => name === job.kind);

function result(job) {
  const kind = kindOf(job);
  show('result', job.name, `: ${job.found.title}`);
  $('tool-ask').hidden = !kind.rows_like;
  $('tool-again').hidden = !kind.again;
  for (const id of ['tool-again', 'again-title', 'again-act']) $(id).textContent = kind.again;
  $('again-about').textContent = `The same ${kind.noun} with another number of ${kind.parts[1]}. It becomes an exploration of its own; this one stays.`;
  $('again-label').textContent = kind.parts[1].charAt(0).toUpperCase() + kind.parts[1].slice(1);
  const address = `api/jobs/${job.id}/files/report.html`;
  if ($('report').getAttribute('src') !== address) {
    // A new frame, not a new address in the old one: that would be a step for the browser's back button.
    const frame = $('report').cloneNode();
    frame.src = address;
    $('report').replaceWith(frame);
  }
  $('row').max = job.found.rows ?? '';
  $('groups').max = job.found.most ?? '';
  $('row').value = '';
  $('groups').value = '';
  $('alike').replaceChildren();
}

function openPanel(name) {
  $('panel').hidden = name === null;
  for (const button of $('tools').children) {
    const own = button.dataset.panel === name;
    button.setAttribute('aria-expanded', String(own));
    $(`panel-${button.dataset.panel}`).hidden = !own;
  }
  if (name === 'ask') $('row').focus();
  if (name === 'again') $('groups').focus();
  if (name === 'files') listFiles(current).catch(trouble);
}

async function listFiles(job) {
  const files = await call('GET', `api/jobs/${job.id}/files`);
  $('files').replaceChildren(...files.map(({ name, size }) => {
    const item = element('li');
    const what = element('span');
    what.append(element('a', name, { href: `api/jobs/${job.id}/files/${name}?download=1`, download: name }));
    what.append(element('span', kindOf(job).files[name], { class: 'about' }));
    item.append(what, element('span', bytes(size), { class: 'size' }));
    return item;
  }));
}

const status = (id, usual) => (error) => { $(id).textContent = error ? error.message : usual; };

async function ask(row) {
  const mine = turn;
  const found = await call('GET', `api/jobs/${current.id}/like?row=${encodeURIComponent(row)}&top=10`);
  if (mine !== turn) return;
  $('row').value = found.asked.row;
  const values = element('dl', '', { class: 'values' });
  for (const name of found.columns) values.append(element('dt', name, { title: name, dir: 'auto' }), element('dd', found.asked.values[name] || '–', { dir: 'auto' }));
  const best = Math.max(...found.rows.map((item) => item.score), 0) || 1;
  const near = element('ol', '', { class: 'near' });
  near.append(...found.rows.map((item) => {
    const line = element('li');
    const head = element('div', '', { class: 'head' });
    const button = element('button', `Row ${item.row.toLocaleString('en')}`, { type: 'button', class: 'row', 'data-row': item.row });
    button.addEventListener('click', () => doing(button, () => ask(item.row), status('ask-trouble', '')));
    const part = Math.max(item.score, 0) / best;
    const track = element('span', '', { class: 'track', role: 'img', 'aria-label': `${Math.round(100 * part)} % as like as the first` });
    const fill = element('span', '', { class: 'fill' });
    fill.style.width = `${100 * part}%`;
    track.append(fill);
    head.append(button, track, group(item.group));
    const shown = element('p');
    found.columns.forEach((name, i) => shown.append(i ? ' · ' : '', element('bdi', item.values[name] || '–')));
    line.append(head, shown);
    return line;
  }));
  const title = element('h3', `Row ${found.asked.row.toLocaleString('en')} `);
  title.append(group(found.asked.group));
  $('alike').replaceChildren(title, values, element('h3', found.rows.length ? 'Most like it, best first' : 'There is no other row'), near);
}

function group(number) {
  const named = element('span', '', { class: 'quiet' });
  if (number > 0) named.append(element('span', '', { class: `mark g${((number - 1) % GROUP_COLOURS) + 1}` }));
  named.append(number > 0 ? `group ${number}` : 'no group');
  return named;
}

// What people do ------------------------------------------------------------------------------------------------------

// A field of the form; `type` is one of those in kinds.py.
function fieldOf({ name, label, type, hint, longest, required }) {
  const attributes = { name };
  if (type === 'count') Object.assign(attributes, { type: 'number', min: 1, max: 1000000, inputmode: 'numeric', placeholder: hint });
  else if (type === 'flag') Object.assign(attributes, { type: 'checkbox', value: 'yes' });
  else Object.assign(attributes, { maxlength: longest, placeholder: hint, autocomplete: 'off' });
  if (required) attributes.required = '';
  const made = element('label', `${label} `);
  made.append(element('input', '', attributes));
  return made;
}

function chooseKind() {
  const kind = kinds.find(({ name }) => name === $('kind').value);
  $('noun').textContent = kind.noun;
  $('formats').textContent = kind.formats;
  $('file').accept = kind.accept;
  $('act').textContent = kind.act;
  $('needed').replaceChildren(...kind.settings.filter(({ required }) => required).map(fieldOf));
  $('options').replaceChildren(...kind.settings.filter(({ required }) => !required).map(fieldOf));
}

function pick() {
  const file = $('file').files[0];
  $('picked').replaceChildren(...(file ? [element('strong', file.name, { dir: 'auto' }), ` ${bytes(file.size)}`] : [element('strong', 'Choose a file'), ' or drop it here']));
}

async function send(form) {
  const file = $('file').files[0];
  if (!file) throw new Error(`Choose a ${$('noun').textContent} first.`);
  // A server that refuses in the middle may be heard as a broken connection; so look before.
  if (file.size > maxBytes) throw new Error(`${file.name} has ${bytes(file.size)}, more than the ${bytes(maxBytes)} this server takes; take fewer rows or edges, or serve with a larger --max-size.`);
  const body = new FormData(form);
  const job = await call('POST', 'api/uploads', body);
  form.reset();
  chooseKind();
  pick();
  location.hash = job.id;
}

async function start() {
  window.addEventListener('hashchange', () => kinds.length && route());
  $('file').addEventListener('change', pick);
  for (const kind of ['dragenter', 'dragover', 'dragleave', 'drop']) {
    $('drop').addEventListener(kind, (event) => {
      event.preventDefault();
      $('drop').classList.toggle('over', kind === 'dragenter' || kind === 'dragover');
      if (kind !== 'drop' || !event.dataTransfer.files.length) return;
      $('file').files = event.dataTransfer.files;
      pick();
    });
  }
  const submits = (id, action, complain) => $(id).addEventListener('submit', (event) => {
    event.preventDefault();
    doing(event.target.querySelector('[type=submit]'), () => action(event.target), complain);
  });
  submits('upload', send);
  submits('bundled', async () => {
    const job = await call('POST', 'api/jobs', { table: $('table').value });
    location.hash = job.id;
  });
  submits('ask', () => ask($('row').value), status('ask-trouble', ''));
  submits('again', async () => {
    const clusters = $('groups').value === '' ? null : Number($('groups').value);
    const job = await call('POST', `api/jobs/${current.id}/again`, { clusters });
    location.hash = job.id;
  }, status('again-trouble', ''));
  for (const button of $('tools').children) {
    button.addEventListener('click', () => openPanel(button.getAttribute('aria-expanded') === 'true' ? null : button.dataset.panel));
  }
  $('close').addEventListener('click', () => openPanel(null));
  call('GET', 'api/tables').then((tables) => {
    $('table').replaceChildren(...tables.map(({ name }) => element('option', name, { value: name })));
    const about = () => { $('about').textContent = `${tables.find(({ name }) => name === $('table').value)?.title ?? ''}.`; };
    $('table').addEventListener('change', about);
    about();
  }).catch(trouble);
  try {
    kinds = await call('GET', 'api/kinds');
  } catch (error) {
    trouble(error);
    return;
  }
  $('kind').replaceChildren(...kinds.map(({ name, title }) => element('option', title, { value: name })));
  $('kind').addEventListener('change', chooseKind);
  chooseKind();
  route();
}

start();
