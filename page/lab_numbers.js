// SPDX-License-Identifier: MIT
// lab_numbers.js - every name and number of the tokens as a text field. What is typed goes to the C as
// it is; a refusal stands below the table and the last good number stays in the state.
(function (qkv) {
  const lab = qkv.lab, el = qkv.el;
  const table = el('table', { class: 'lab-numbers lab-fields' });
  const trouble = el('p', { class: 'trouble', id: 'lab-numbers-trouble', role: 'alert', hidden: true });
  const less = el('button', { type: 'button', class: 'lab-step', 'aria-label': qkv.word('LAB_NUMBERS_LESS') }, '−');
  const more = el('button', { type: 'button', class: 'lab-step', 'aria-label': qkv.word('LAB_NUMBERS_MORE') }, '+');
  const reset = el('button', { type: 'button', class: 'link' }, qkv.word('LAB_RESET'));
  const node = el('details', { class: 'lab-part' }, el('summary', {}, qkv.word('LAB_NUMBERS_TITLE')),
    el('div', { class: 'scroll-x' }, table), trouble,
    el('div', { class: 'lab-row' }, less, el('span', {}, qkv.word('LAB_NUMBERS_CHOSEN')), more, reset));
  let chosen = null, now = null;

  const said = (sentence, input) => {
    qkv.put(trouble, sentence || '');
    qkv.show(trouble, !!sentence);
    if (!input) return;
    if (sentence) {
      input.setAttribute('aria-invalid', 'true');
      input.setAttribute('aria-describedby', 'lab-numbers-trouble');
    } else {
      input.removeAttribute('aria-invalid');
      input.removeAttribute('aria-describedby');
    }
  };

  function name(input) {
    const names = now.names.map((text, i) => (i === +input.dataset.r ? input.value : text));
    return qkv.set({ tok: names.map(encodeURIComponent).join(',') }, 'names');
  }

  function commit(input) {
    const { w, r, c } = input.dataset;
    said(w === 'n' ? name(input) : qkv.edit(w, r, c, input.value), input);
  }

  function field(letter, r, c, label) {
    const input = el('input', { type: 'text', autocomplete: 'off', 'data-w': letter, 'data-r': r, 'data-c': c,
      'aria-label': label, class: letter === 'n' ? 'name' : letter.toLowerCase() });
    return el('td', {}, input);
  }

  const spans = (model) => [['Q', model.q[0].length, 'q'], ['K', model.k[0].length, 'k'], ['V', model.v[0].length, 'v']];

  function build(model) {
    const head = el('tr', {}, el('th', { scope: 'col' }, qkv.word('LAB_NUMBERS_NAME')),
      ...spans(model).map(([letter, n, role]) => el('th', { scope: 'colgroup', colspan: n, class: role },
        el('span', { class: 'mark', 'aria-hidden': 'true' }), el('i', { class: 'serif' }, letter))));
    const rows = model.names.map((text, r) => el('tr', {}, field('n', r, 0, qkv.word('LAB_NUMBERS_NAME_OF', r)),
      ...spans(model).flatMap(([letter, n]) => Array.from({ length: n }, (x, c) =>
        field(letter, r, c, qkv.word('LAB_NUMBERS_CELL', letter, text, c))))));
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
    for (const input of table.querySelectorAll('input')) {
      const { w, r, c } = input.dataset;
      const text = w === 'n' ? model.names[r] : model[w.toLowerCase()][r][c];
      const bad = input.getAttribute('aria-invalid') === 'true';
      if (input.value !== text && !(bad && input === chosen)) {
        input.value = text;
        said('', input);
      }
    }
  }

  function step(by) {
    if (!chosen || chosen.dataset.w === 'n') return;
    chosen.value = qkv.call('lab_step', by + '\n' + chosen.value);
    commit(chosen);
  }

  table.addEventListener('focusin', (event) => { chosen = event.target; });
  table.addEventListener('change', (event) => commit(event.target));
  less.addEventListener('click', () => step(-1));
  more.addEventListener('click', () => step(1));
  reset.addEventListener('click', () => said(qkv.numbers()));
  node.addEventListener('toggle', () => lab.about && draw(lab.about));
  lab.numbers = { node, draw };
})(window.qkv);
