// SPDX-License-Identifier: MIT
// field.js - a number that is typed: a text field with a button less and a button more (the number
// pads of phones have no minus). What is typed goes to the C as text; its sentence comes back.
(function (qkv) {
  // As wide as its text, within what the style sheet allows; a digit is 1ch, a point half of one.
  qkv.grow = (input) => {
    const points = input.value.split(/[.,]/).length - 1;
    input.style.setProperty('--ch', input.value.length - points / 2);
  };

  // act(text) returns null or a sentence; name says which number it is.
  qkv.field = (name, act, complain) => {
    const input = qkv.el('input', { type: 'text', inputmode: 'text', autocomplete: 'off',
      spellcheck: 'false', 'aria-label': name });
    const send = (text) => {
      const trouble = act(text);
      input.setAttribute('aria-invalid', trouble ? 'true' : 'false');
      complain(trouble, input);
      return trouble;
    };
    const step = (by) => {
      const answer = qkv.model('step', by + '\n' + input.value);
      if (answer.error) complain(answer.error, input);
      else if (!send(answer.text)) input.value = answer.text;
      qkv.grow(input);
    };
    const button = (sign, by, word) => qkv.el('button', { type: 'button', class: 'step',
      'aria-label': qkv.word(word, name), onclick: () => step(by) }, sign);
    input.addEventListener('change', () => send(input.value));
    input.addEventListener('input', () => qkv.grow(input));
    input.addEventListener('keydown', (event) => {
      if (event.key === 'ArrowUp' || event.key === 'ArrowDown') {
        step(event.key === 'ArrowUp' ? 1 : -1);
        event.preventDefault();
      }
    });
    const node = qkv.el('span', { class: 'field' }, button('−', -1, 'LESS'), input,
      button('+', 1, 'MORE'));
    node.input = input;
    // What the state says, unless the reader is typing there.
    node.put = (text) => {
      if (document.activeElement !== input || input.getAttribute('aria-invalid') !== 'true')
        input.value = text;
      qkv.grow(input);
    };
    return node;
  };

  // A sentence beside fields, tied to the one that it speaks of.
  qkv.complainAt = (node) => (trouble, input) => {
    qkv.put(node, trouble || '');
    qkv.show(node, !!trouble);
    if (trouble) input.setAttribute('aria-describedby', node.id);
    else input.removeAttribute('aria-describedby');
    if (trouble) qkv.say(trouble);
  };
})(window.qkv);
