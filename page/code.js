// SPDX-License-Identifier: MIT
// code.js - the listing, whose lines light their stage; programs to copy; both forms of the softmax.
(function (qkv) {
  function drawListing(model) {
    const list = qkv.id('listing');
    for (const input of document.getElementsByName('language'))
      input.checked = input.value === (model.language ? 'c' : 'numpy');
    if (list.children.length !== model.lines.length || list.dataset.language !== String(model.language))
      list.replaceChildren(...model.lines.map(() => qkv.el('li', {})));
    list.dataset.language = model.language;
    model.lines.forEach((line, n) => {
      const item = list.children[n], staged = 'stage' in line;
      item.dataset.stage = staged ? line.stage : '';
      const note = [staged ? qkv.word('STAGE_' + line.stage) : null, line.shape].filter(Boolean).join(' · ');
      if (item.dataset.text === line.text + note) return;
      item.dataset.text = line.text + note;
      const code = qkv.el('code', {}, line.text);
      item.replaceChildren(staged
        ? qkv.el('button', { type: 'button', class: 'line', 'data-stage': line.stage,
          onclick: () => qkv.goStage(line.stage) }, code)
        : code, note ? qkv.el('span', { class: 'note' }, note) : '');
    });
  }

  function light() {
    for (const item of qkv.id('listing').children)
      item.classList.toggle('lit', item.dataset.stage === String(qkv.about.stage));
  }

  function table(node, model, form) {
    const rows = model.names.map((name, i) => qkv.el('tr', {}, qkv.el('th', { scope: 'row' }, name),
      qkv.el('td', {}, model.scaled[i]), qkv.el('td', {}, form.e[i]), qkv.el('td', {}, form.weight[i])));
    node.replaceChildren(qkv.el('thead', {}, qkv.el('tr', {}, qkv.el('td', {}),
      ...['COLUMN_SCALED', 'COLUMN_E', 'COLUMN_WEIGHT'].map((x) =>
        qkv.el('th', { scope: 'col' }, qkv.word(x))))), qkv.el('tbody', {}, ...rows),
      qkv.el('tfoot', {}, qkv.el('tr', {}, qkv.el('th', { scope: 'row' }, qkv.word('SUM')),
        qkv.el('td', {}), qkv.el('td', {}, form.sum[0]), qkv.el('td', {}))));
  }

  function drawMaximum(model) {
    qkv.id('large').checked = model.large;
    for (const name of ['naive', 'safe']) {
      table(qkv.id(name), model, model[name]);
      qkv.pieces(qkv.id(name + '-verdict'), model[name].verdict);
    }
  }

  function copy(call) {
    qkv.id('program').value = qkv.call(call, qkv.text);
    qkv.copy(qkv.id('program'), qkv.id('copied'));
  }

  for (const input of document.getElementsByName('language'))
    input.addEventListener('change', () => qkv.set({ code: input.value }, 'language'));
  qkv.id('copy-numpy').addEventListener('click', () => copy('numpy'));
  qkv.id('copy-c').addEventListener('click', () => copy('c'));
  qkv.id('large').addEventListener('change', (event) =>
    qkv.set({ big: event.target.checked ? 1 : 0 }, 'large'));
  qkv.figure('code', (model) => {
    drawListing(model);
    light();
  });
  qkv.figure(null, light);
  qkv.figure('maximum', drawMaximum, qkv.id('maximum-figure'));
})(window.qkv);
