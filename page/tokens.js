// SPDX-License-Identifier: MIT
// tokens.js - "Attend from token": the same radios at the head of two figures, one choice.
(function (qkv) {
  const rows = [...document.querySelectorAll('fieldset.tokens')];

  function draw(model) {
    for (const row of rows) {
      const choices = row.querySelector('.choices');
      const name = row.querySelector('input').name;
      while (choices.children.length > model.rows.length) choices.lastChild.remove();
      while (choices.children.length < model.rows.length)
        choices.append(qkv.el('label', {},
          qkv.el('input', { type: 'radio', name, value: choices.children.length }),
          qkv.el('bdi', {})));
      model.rows.forEach((item, n) => {
        qkv.put(choices.children[n].querySelector('bdi'), item.name);
        choices.children[n].querySelector('input').checked = n === model.token;
      });
    }
  }

  for (const row of rows)
    row.addEventListener('change', (event) => {
      qkv.set({ t: '@' + event.target.value, f: '' }, 'token');
      qkv.say(qkv.id('worked').textContent);
    });
  qkv.figure('calc', draw);
})(window.qkv);
