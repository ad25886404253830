// SPDX-License-Identifier: MIT
// check.js - questions: one right option, and a reason for each. A wrong answer gets its reason where
// it stands and may be changed. Answers live in the history entry, so a reload keeps them.
(function (qkv) {
  // What this entry of the history remembers, by name.
  qkv.kept = (name) => (history.state || {})[name];
  qkv.keep = (name, value) =>
    history.replaceState(Object.assign({}, history.state, { [name]: value }), '', location.href);

  function reason(fieldset, model, n) {
    for (const old of fieldset.querySelectorAll('.reason')) old.remove();
    const good = n === model.right;
    const node = qkv.el('div', { class: good ? 'reason right' : 'reason' });
    const why = qkv.el('p', {});
    qkv.pieces(why, model.options[n].reason);
    node.append(why);
    if (good) {
      const worked = qkv.el('p', { class: 'worked' });
      qkv.pieces(worked, model.worked);
      node.append(worked);
    }
    node.append(qkv.el('a', { href: '#calculator-figure',
      onclick: () => qkv.goStage(model.stage) }, qkv.word('SEE_STAGE', model.stage)));
    fieldset.querySelectorAll('label')[n].after(node);
    return why.textContent;
  }

  // Makes a fieldset answer; answered(n) is told which option was chosen.
  qkv.question = (fieldset, model, answered) => {
    const choose = (n) => {
      const said = reason(fieldset, model, n);
      answered(n, n === model.right);
      return said;
    };
    fieldset.addEventListener('change', (event) => qkv.say(choose(+event.target.value)));
    return (n) => {
      const input = fieldset.querySelectorAll('input')[n];
      if (!input) return;
      input.checked = true;
      reason(fieldset, model, n);
    };
  };

  qkv.makeQuestion = (model, name) => {
    const legend = qkv.el('legend', {});
    qkv.pieces(legend, model.text);
    return qkv.el('fieldset', { class: 'question' }, legend, ...model.options.map((option, n) => {
      const text = qkv.el('span', {});
      qkv.pieces(text, option.text);
      return qkv.el('label', {}, qkv.el('input', { type: 'radio', name, value: n }), text);
    }));
  };

  qkv.begin(() => {
    for (const fieldset of document.querySelectorAll('.question')) {
      const number = fieldset.dataset.question, name = 'question' + number;
      const restore = qkv.question(fieldset, qkv.model('question', number + '\n1'),
        (n) => qkv.keep(name, n));
      if (qkv.kept(name) !== undefined) restore(qkv.kept(name));
    }
    const box = qkv.id('as-text');
    qkv.id('copy-state').addEventListener('click', () => {
      box.value = qkv.call('plain', qkv.text) + '\n' + qkv.link + '\n';
      qkv.copy(box, qkv.id('as-copied'));
    });
  });

  function grid(names, rows, caption) {
    return qkv.el('table', { class: 'grid' }, qkv.el('caption', {}, caption), qkv.el('thead', {}, qkv.el('tr', {}, qkv.el('td', {}),
      ...names.map((x) => qkv.el('th', { scope: 'col' }, x)))), qkv.el('tbody', {}, ...rows.map((row, i) =>
      qkv.el('tr', {}, qkv.el('th', { scope: 'row' }, names[i]), ...row.map((x) => qkv.el('td', {}, x))))));
  }
  qkv.figure('symmetry', (model) => qkv.id('symmetry').replaceChildren(
    grid(model.names, model.without, qkv.word('SCORES_WITHOUT')),
    grid(model.names, model.with, qkv.word('SCORES_WITH'))), qkv.id('symmetry'));
})(window.qkv);
