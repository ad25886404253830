// SPDX-License-Identifier: MIT
// lab_numbers.js - every name and number of the tokens as a text field: names, Q, K and V.
(function (qkv) {
  const lab = qkv.lab, el = qkv.el;
  const table = el('table', { class: 'lab-numbers lab-fields' });
  let now = null;

  function act(input) {
    const { w, r, c } = input.dataset;
    if (w !== 'n') return qkv.edit(w, r, c, input.value);
    const names = now.names.map((text, i) => (i === +r ? input.value : text));
    return qkv.set({ tok: names.map(encodeURIComponent).join(',') }, 'names');
  }

  const fields = lab.fields('lab-numbers-trouble', act);
  const reset = el('button', { type: 'button', class: 'link' }, qkv.word('LAB_RESET'));
  const node = el('details', { class: 'lab-part' }, el('summary', {}, qkv.word('LAB_NUMBERS_TITLE')),
    el('div', { class: 'scroll-x' }, table), fields.trouble, fields.row);
  fields.row.append(reset);
  fields.watch(table);

  const spans = (model) => [['Q', model.q[0].length, 'q'], ['K', model.k[0].length, 'k'], ['V', model.v[0].length, 'v']];

  function build(model) {
    const head = el('tr', {}, el('th', { scope: 'col' }, qkv.word('LAB_NUMBERS_NAME')),
      ...spans(model).map(([letter, n, role]) => el('th', { scope: 'colgroup', colspan: n, class: role },
        el('span', { class: 'mark', 'aria-hidden': 'true' }), el('i', { class: 'serif' }, letter))));
    const rows = model.names.map((text, r) => el('tr', {}, fields.field('n', r, 0, qkv.word('LAB_NUMBERS_NAME_OF', r), 'name'),
      ...spans(model).flatMap(([letter, n, role]) => Array.from({ length: n }, (x, c) =>
        fields.field(letter, r, c, qkv.word('LAB_NUMBERS_CELL', letter, text, c), role)))));
    table.replaceChildren(el('thead', {}, head), el('tbody', {}, ...rows));
  }

  function draw(about) {
    qkv.show(node, about.data === 'tokens');
    if (about.data !== 'tokens' || !node.open) return;
    const model = lab.ask('numbers', 0);
    if (model.error) return;
    const shape = [model.names.length, ...spans(model).map((s) => s[1])].join();
    if (table.dataset.shape !== shape) build(model);
    table.dataset.shape = shape;
    now = model;
    fields.put(table, ({ w, r, c }) => (w === 'n' ? model.names[r] : model[w.toLowerCase()][r][c]));
  }

  reset.addEventListener('click', () => fields.said(qkv.numbers()));
  node.addEventListener('toggle', () => lab.about && draw(lab.about));
  lab.numbers = { node, draw };
})(window.qkv);
