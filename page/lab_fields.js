// SPDX-License-Identifier: MIT
// lab_fields.js - a set of numbers as text fields, with one button less and one button more for all of
// them (the number pads of phones have no minus). What is typed goes to the C as it is; a refusal stands
// below the fields and the last good number stays in the state.
(function (qkv) {
  const lab = qkv.lab, el = qkv.el;

  // id: of the sentence's place; act(input): null or a sentence. Fields say what they are in data-w
  // (which table), data-r and data-c.
  lab.fields = (id, act) => {
    const trouble = el('p', { class: 'trouble', id, role: 'alert', hidden: true });
    const less = el('button', { type: 'button', class: 'lab-step', 'aria-label': qkv.word('LAB_NUMBERS_LESS') }, '−');
    const more = el('button', { type: 'button', class: 'lab-step', 'aria-label': qkv.word('LAB_NUMBERS_MORE') }, '+');
    const row = el('div', { class: 'lab-row' }, less, el('span', {}, qkv.word('LAB_NUMBERS_CHOSEN')), more);
    let chosen = null;

    function said(sentence, input) {
      qkv.put(trouble, sentence || '');
      qkv.show(trouble, !!sentence);
      if (!input) return;
      if (sentence) {
        input.setAttribute('aria-invalid', 'true');
        input.setAttribute('aria-describedby', id);
      } else {
        input.removeAttribute('aria-invalid');
        input.removeAttribute('aria-describedby');
      }
    }

    const commit = (input) => said(act(input), input);
    function step(by) {
      if (!chosen || chosen.dataset.w === 'n') return;
      chosen.value = qkv.call('lab_step', by + '\n' + chosen.value);
      qkv.grow(chosen);
      commit(chosen);
    }
    less.addEventListener('click', () => step(-1));
    more.addEventListener('click', () => step(1));

    function field(w, r, c, label, name) {
      return el('td', {}, el('input', { type: 'text', autocomplete: 'off', 'data-w': w, 'data-r': r, 'data-c': c,
        'aria-label': label, class: name }));
    }

    // What the state says stands in every field, but for one that was just refused.
    function put(node, textOf) {
      for (const input of node.querySelectorAll('input')) {
        const text = textOf(input.dataset), bad = input.getAttribute('aria-invalid') === 'true';
        if (input.value === text || (bad && input === chosen)) continue;
        input.value = text;
        if (input.dataset.w !== 'n') qkv.grow(input);
        said('', input);
      }
    }

    function watch(node) {
      node.addEventListener('focusin', (event) => { if (event.target.dataset.w) chosen = event.target; });
      node.addEventListener('change', (event) => commit(event.target));
      node.addEventListener('input', (event) => { if (event.target.dataset.w !== 'n') qkv.grow(event.target); });
    }

    return { trouble, row, said, field, put, watch };
  };
})(window.qkv);
