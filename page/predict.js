// SPDX-License-Identifier: MIT
// predict.js - a guess before stages 1, 3 and 4. Next never waits for it.
(function (qkv) {
  const node = qkv.id('predict');
  let shown = '';

  function choose(model, n) {
    const right = n === model.right;
    const said = qkv.word(right ? 'PREDICT_RIGHT' : 'PREDICT_WRONG', model.answers[model.right]);
    qkv.put(node.querySelector('.reason'), said);
    qkv.say(said);
  }

  qkv.figure('predict', (model) => {
    qkv.show(node, 'stage' in model);
    const key = JSON.stringify(model);
    if (!('stage' in model) || key === shown) return;
    shown = key;
    const options = model.answers.map((text, n) => qkv.el('label', {},
      qkv.el('input', { type: 'radio', name: 'predict', value: n, onchange: () => choose(model, n) }),
      qkv.el('bdi', {}, text)));
    node.replaceChildren(qkv.el('legend', {}, model.question), qkv.el('div', { class: 'choices' }, ...options),
      qkv.el('p', { class: 'small reason' }));
  });
})(window.qkv);
