// SPDX-License-Identifier: MIT
// project.js - X times W, one cell spelled out: its row of X and its column of W are marked.
(function (qkv) {
  const roles = ['q', 'k', 'v'], letters = ['Q', 'K', 'V'];
  let now = null;

  function matrix(rows, heads, columns, name, cell) {
    const head = columns ? qkv.el('thead', {}, qkv.el('tr', {}, heads ? qkv.el('td', {}) : null,
      ...columns.map((x) => qkv.el('th', { scope: 'col' }, x)))) : null;
    return qkv.el('table', { class: 'matrix', 'aria-label': name }, head,
      qkv.el('tbody', {}, ...rows.map((row, r) => qkv.el('tr', {},
        heads ? qkv.el('th', { scope: 'row' }, heads[r]) : null,
        ...row.map((text, c) => cell(text, r, c))))));
  }

  function draw(model) {
    const role = roles[model.which], letter = letters[model.which];
    const node = qkv.id('product'), had = node.contains(document.activeElement);
    const focus = had ? document.activeElement.dataset.cell : null;
    const short = model.features.map((x, n) => qkv.el('span', { title: x }, 'x', qkv.el('sub', {}, n)));
    const plain = (mark) => (text, r, c) => qkv.el('td', { class: mark(r, c) ? 'lit' : false }, text);
    node.replaceChildren(
      matrix(model.x, model.names, short, 'X', plain((r) => r === model.row)),
      qkv.el('span', { class: 'sign', 'aria-hidden': 'true' }, '·'),
      matrix(model.w, model.features, null, 'W ' + letter, plain((r, c) => c === model.channel)),
      qkv.el('span', { class: 'sign', 'aria-hidden': 'true' }, '='),
      matrix(model.y, model.names, null, letter, (text, r, c) => qkv.el('td', { class: role },
        qkv.el('span', { 'data-cell': r + ',' + c,
          class: r === model.row && c === model.channel ? 'num now' : 'num',
          tabindex: r === model.row && c === model.channel ? 0 : -1,
          onfocus: () => choose(r, c) }, text))));
    if (focus) node.querySelector('[data-cell="' + focus + '"]').focus();
    qkv.pieces(qkv.id('project-work'), model.work);
    for (const input of document.getElementsByName('which')) input.checked = input.value === letter;
    now = model;
  }

  function choose(row, channel) {
    if (now.row === row && now.channel === channel) return;
    qkv.set({ prow: row, pcol: channel }, 'focus');
    qkv.say(qkv.id('project-work').textContent);
  }

  qkv.id('product').addEventListener('keydown', (event) => {
    const step = { ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [-1, 0], ArrowDown: [1, 0] }[event.key];
    if (!step || !event.target.dataset.cell) return;
    const row = now.row + step[0], channel = now.channel + step[1];
    const next = qkv.id('product').querySelector('[data-cell="' + row + ',' + channel + '"]');
    if (next) next.focus();
    event.preventDefault();
  });
  for (const input of document.getElementsByName('which'))
    input.addEventListener('change', () => qkv.set({ proj: input.value }, 'project'));
  qkv.figure('project', draw, qkv.id('project-figure'));
})(window.qkv);
