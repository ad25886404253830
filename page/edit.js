// SPDX-License-Identifier: MIT
// edit.js - "Edit numbers": the numbers of queries, keys and values become text fields, in tab order;
// the one in focus has a button less and a button more below the table.
(function (qkv) {
  const figure = qkv.id('calculator-figure'), table = figure.querySelector('table');
  const toggle = qkv.id('edit'), stepper = qkv.id('stepper');
  const complain = qkv.complainAt(qkv.id('trouble'));
  const matrices = { q: 'Q', k: 'K', v: 'V' };
  let on = false, fields = new Map(), model = null, last = null;

  // "k2.0" is K, row 2, number 0; the query's row is the token's own.
  function place(code) {
    const [, letter, row, channel] = /^([qkv])(\d*)\.(\d+)$/.exec(code) || [];
    return letter ? { letter: matrices[letter], row: letter === 'q' ? model.token : row, channel } : null;
  }

  function name(code) {
    const at = place(code);
    return qkv.word('EDIT_CELL', model.rows[at.row].name,
      qkv.word({ Q: 'EDIT_QUERY', K: 'COLUMN_KEY', V: 'COLUMN_VALUE' }[at.letter]), at.channel);
  }

  function send(code, text) {
    const at = place(code), field = fields.get(code);
    const trouble = qkv.edit(at.letter, at.row, at.channel, text);
    field.setAttribute('aria-invalid', String(!!trouble));
    complain(trouble, field);
    if (!trouble) qkv.say(qkv.id('worked').textContent);
    return trouble;
  }

  function step(by) {
    const field = fields.get(last), answer = qkv.model('step', by + '\n' + field.value);
    if (answer.error) complain(answer.error, field);
    else if (!send(last, answer.text)) field.value = answer.text;
    qkv.grow(field);
  }

  function field(code, text) {
    const input = qkv.el('input', { type: 'text', class: 'cell', 'aria-label': name(code), value: text,
      autocomplete: 'off', spellcheck: 'false', 'data-f': code });
    input.addEventListener('input', () => {
      qkv.grow(input);
      qkv.fitTable();
    });
    input.addEventListener('change', () => send(code, input.value));
    input.addEventListener('focus', () => {
      last = code;
      qkv.put(stepper.querySelector('span'), name(code));
      stepper.classList.add('ready');
    });
    fields.set(code, input);
    return input;
  }

  // Fields stand in for the buttons of the same numbers.
  function fill() {
    for (const button of table.querySelectorAll('.num')) {
      if (!place(button.dataset.f)) continue;
      const code = button.dataset.f;
      let input = fields.get(code);
      if (!input || !input.isConnected) {
        input = field(code, exact(code));
        button.after(input);
      } else if (input.getAttribute('aria-invalid') !== 'true') input.value = exact(code);
      qkv.grow(input);
      button.hidden = true;
    }
    qkv.fitTable();
  }

  // Every digit of a number: what a field holds.
  function exact(code) {
    const at = place(code);
    const item = at.letter === 'Q' ? model : model.rows[at.row];
    return item['exact_' + at.letter.toLowerCase()][at.channel];
  }

  function empty() {
    for (const input of fields.values()) input.remove();
    fields.clear();
    for (const button of table.querySelectorAll('.num')) button.hidden = false;
    qkv.fitTable();
  }

  toggle.addEventListener('click', () => {
    on = !on;
    table.classList.toggle('editing', on);
    qkv.put(toggle, qkv.word(on ? 'EDIT_DONE' : 'EDIT_NUMBERS'));
    qkv.show(stepper, on);
    if (!on) {
      empty();
      complain(null, toggle);
      return;
    }
    fill();
    const first = fields.get('q.0');
    if (first) first.focus();
  });
  stepper.append(qkv.el('button', { type: 'button', class: 'step', 'aria-label': qkv.word('LESS', ''),
    onclick: () => step(-1) }, '−'), qkv.el('span', {}), qkv.el('button', { type: 'button', class: 'step',
    'aria-label': qkv.word('MORE', ''), onclick: () => step(1) }, '+'));
  qkv.figure('calc', (now) => {
    model = now;
    if (on) fill();
  }, figure);
})(window.qkv);
