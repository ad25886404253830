// SPDX-License-Identifier: MIT
// lab_base.js - the three kinds of control that the lab is made of: radios, a stepper, a check box. Each
// is a node and a function that reads its place back from what is shown.
(function (qkv) {
  const lab = qkv.lab, el = qkv.el;
  let made = 0;

  // Text whose dₖ and √dₖ are drawn as mathematics.
  lab.math = (text) => text.split(/((?:÷ )?√?dₖ)/).map((piece) => {
    if (!piece.endsWith('dₖ')) return piece;
    const d = [el('i', { class: 'serif' }, 'd'), el('sub', {}, 'k')], sign = piece.slice(0, -2);
    const before = sign.replace('√', '');
    return el('span', { class: 'whole' }, before, ...(sign === before ? d : [qkv.root(...d)]));
  });

  // options: [value, label]; pick(about): the value now; set(value).
  lab.radios = (title, options, pick, set) => {
    const name = 'lab-' + made++;
    const inputs = options.map(([value]) => el('input', { type: 'radio', name, value }));
    const labels = options.map(([value, label], i) => el('label', {}, inputs[i], el('span', {}, ...lab.math(label))));
    const set_ = el('fieldset', { class: 'lab-group radios' }, el('legend', {}, ...lab.math(title)),
      el('div', { class: 'options' }, ...labels));
    set_.addEventListener('change', (event) => set(event.target.value));
    const draw = (about) => inputs.forEach((input) => { input.checked = input.value === pick(about); });
    return { node: set_, draw, labels };
  };

  // − text +; text(about), step(+1 or -1), ends(about): [least reached, most reached].
  lab.stepper = (title, text, step, ends) => {
    const less = el('button', { type: 'button', 'aria-label': qkv.word('LAB_LESS', title) }, '−');
    const more = el('button', { type: 'button', 'aria-label': qkv.word('LAB_MORE', title) }, '+');
    const value = el('bdi', { class: 'value' });
    const node = el('div', { class: 'lab-group lab-stepper', role: 'group', 'aria-label': title },
      el('span', { class: 'legend', 'aria-hidden': 'true' }, ...lab.math(title)),
      el('div', { class: 'options' }, less, value, more));
    less.addEventListener('click', () => step(-1));
    more.addEventListener('click', () => step(1));
    const draw = (about) => {
      const [least, most] = ends(about);
      qkv.put(value, text(about));
      // a button that is focused is never taken away: it is said to be off instead
      less.setAttribute('aria-disabled', least);
      more.setAttribute('aria-disabled', most);
    };
    return { node, draw, value };
  };

  lab.check = (label, is, set) => {
    const input = el('input', { type: 'checkbox' });
    const node = el('label', { class: 'lab-check' }, input, label);
    input.addEventListener('change', () => set(input.checked));
    return { node, draw: (about) => { input.checked = is(about); } };
  };
})(window.qkv);
