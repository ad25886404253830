// SPDX-License-Identifier: MIT
// lab_project.js - X and the matrices W^Q, W^K and W^V as text fields; whether the grid of scores is
// symmetric; two experiments: W^K tied to W^Q, and no projections at all (every W passes X through).
(function (qkv) {
  const lab = qkv.lab, el = qkv.el;
  const letters = ['Q', 'K', 'V'], roles = ['q', 'k', 'v'];
  // What an act did is said, in the page's one live region.
  const told = (trouble) => {
    if (!trouble) qkv.say(say.textContent);
    return trouble;
  };
  const fields = lab.fields('lab-weights-trouble', (input) =>
    told(qkv.edit(input.dataset.w, input.dataset.r, input.dataset.c, input.value)));
  const tables = el('div', { class: 'lab-weights' });
  const say = el('p', { id: 'lab-symmetric' });
  const detached = el('p', { class: 'lab-row' });
  const button = (word, act) => el('button', { type: 'button', onclick: act }, qkv.word(word));
  const tie = button('LAB_W_TIE', () => fields.said(told(qkv.set({ WK: text(model.q) }, 'tie', 'QK'))));
  const none = button('LAB_W_NONE', () => {
    const n = model.features.length, same = text(model.features.map((x, r) => model.features.map((y, c) => (r === c ? '1' : '0'))));
    fields.said(told(qkv.set({ dk: n, dv: n, WQ: same, WK: same, WV: same }, 'none', 'QKV')));
  });
  const reset = el('button', { type: 'button', class: 'link', onclick: () => fields.said(qkv.numbers()) }, qkv.word('LAB_RESET'));
  const node = el('details', { class: 'lab-part', id: 'lab-weights' }, el('summary', {}, qkv.word('LAB_W_TITLE')),
    el('p', { class: 'prose-note' }, ...powers(qkv.word('LAB_W_INTRO'))), tables, fields.trouble, fields.row,
    el('div', { class: 'lab-row' }, tie, none, reset), detached, say);
  let model = null, names = null;
  fields.watch(tables);
  for (const one of [tie, none]) one.replaceChildren(...powers(one.textContent));

  // W^Q as W with a raised Q
  function powers(sentence) {
    return sentence.split(/(W\^[QKV])/).map((piece) => (/^W\^[QKV]$/.test(piece) ? symbol(piece[2]) : piece));
  }
  function symbol(letter) {
    return el('span', { class: roles[letters.indexOf(letter)] }, el('i', { class: 'serif' }, 'W'), el('sup', {}, letter));
  }
  const text = (rows) => rows.map((row) => row.join(',')).join(';');

  // One matrix: rows have heads, columns are numbered or named.
  function matrix(title, w, rows, heads, columns, name, role) {
    return el('div', { class: 'scroll-x' }, el('table', { class: 'lab-numbers lab-fields', 'aria-label': name },
      el('thead', {}, el('tr', {}, el('th', { scope: 'col', class: role }, title),
        ...columns.map((x) => el('th', { scope: 'col' }, x)))),
      el('tbody', {}, ...rows.map((row, r) => el('tr', {}, el('th', { scope: 'row' }, el('bdi', {}, heads[r])),
        ...row.map((x, c) => fields.field(w, r, c, qkv.word('LAB_W_CELL', name, heads[r],
          w === 'X' ? columns[c] : qkv.word('LAB_W_NUMBER', c)), role)))))));
  }

  function build() {
    const numbered = (rows) => rows[0].map((x, c) => c);
    tables.replaceChildren(matrix(el('i', { class: 'serif' }, 'X'), 'X', model.x, names, model.features, 'X', ''),
      ...letters.map((letter, i) => matrix(symbol(letter), roles[i], model[roles[i]], model.features,
        numbered(model[roles[i]]), 'W ' + letter, roles[i])));
  }

  function drawDetached() {
    const list = qkv.about.detached;
    qkv.show(detached, list.length > 0);
    detached.replaceChildren(...list.flatMap((letter) => [el('span', {}, qkv.word('STATE_DETACHED', letter)),
      el('button', { type: 'button', class: 'link', onclick: () => fields.said(qkv.reconnect(letter)) },
        qkv.word('STATE_RECONNECT', letter))]));
  }

  function draw(about) {
    qkv.show(node, about.data === 'tokens');
    if (about.data !== 'tokens' || !node.open) return;
    const answer = lab.ask('weights', 0);
    if (answer.error) return;
    model = answer;
    names = lab.ask('names', 0).names;
    const shape = JSON.stringify([names, model.features, model.q[0].length, model.v[0].length]);
    if (tables.dataset.shape !== shape) build();
    tables.dataset.shape = shape;
    fields.put(tables, ({ w, r, c }) => model[w.toLowerCase()][r][c]);
    drawDetached();
    qkv.put(say, model.say.join(''));
  }

  node.addEventListener('toggle', () => lab.about && draw(lab.about));
  lab.weights = { node, draw };
})(window.qkv);
