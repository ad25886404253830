// SPDX-License-Identifier: MIT
// calculator.js - the table in stages. Its rows and columns stand in the HTML; here only text, bars
// and marks change, so that nothing moves from one stage to the next.
(function (qkv) {
  const figure = qkv.id('calculator-figure');
  const table = figure.querySelector('table');
  const columns = ['key', 'value', 'score', 'scaled', 'weight', 'share'];
  const LAST = 4, AXIS = 64;

  function bar() {
    return qkv.svg('svg', { class: 'bar', width: AXIS + 1, height: 32, 'aria-hidden': 'true' },
      qkv.svg('path', { class: 'axis', d: 'M.5 0V32' }),
      qkv.svg('path', { class: 'one', d: `M${AXIS + .5} 0V32` }),
      qkv.svg('rect', { x: 0, y: 11, width: 0, height: 10 }));
  }

  function row(n) {
    const cells = columns.map((name) => qkv.el('td', { class: name, 'data-c': name, 'data-r': n }));
    return qkv.el('tr', { 'data-r': n }, qkv.el('th', { scope: 'row' }), ...cells);
  }

  function fit(body, n) {
    while (body.rows.length > n) body.deleteRow(-1);
    while (body.rows.length < n) body.append(row(body.rows.length));
  }

  function drawRow(tr, model, n, stage) {
    const item = model.rows[n];
    qkv.put(tr.cells[0], item.name);
    tr.classList.toggle('band', model.band === n);
    tr.classList.toggle('hidden-key', !!item.hidden);
    columns.forEach((name, i) => {
      const cell = tr.cells[i + 1], text = item[name] === undefined ? '' : item[name];
      if (name !== 'weight') {
        qkv.put(cell, text);
        return;
      }
      if (text === '') {
        cell.replaceChildren();
        return;
      }
      let number = cell.querySelector('span');
      if (!number) {
        number = qkv.el('span', {});
        cell.replaceChildren(number, bar());
      }
      qkv.put(number, text);
      cell.querySelector('rect').setAttribute('width', Math.max(0, item.w || 0) * AXIS);
    });
  }

  function drawBracket(body, model, stage) {
    const cell = body.rows[0].cells[4];
    const old = cell.querySelector('.bracket');
    if (old) old.remove();
    if (stage !== 2) return;
    table.style.setProperty('--n', body.rows.length);
    cell.append(qkv.el('span', { class: 'bracket', 'aria-hidden': 'true' },
      qkv.el('span', {}, model.divisor)));
  }

  function drawStages(stage) {
    for (const button of figure.querySelectorAll('.stages button')) {
      if (button.dataset.stage === String(stage)) button.setAttribute('aria-current', 'step');
      else button.removeAttribute('aria-current');
    }
    table.dataset.stage = stage;
    qkv.id('back').disabled = stage === 0;
    qkv.id('next').disabled = stage === LAST;
    qkv.id('next').classList.toggle('filled', stage !== LAST);
  }

  function draw(model) {
    const stage = model.stage;
    drawStages(stage);
    qkv.id('caption').replaceChildren(qkv.el('b', {}, qkv.word('STAGE', stage)), ' ' + model.caption);
    const body = table.tBodies[1];
    fit(body, model.rows.length);
    for (let n = 0; n < model.rows.length; n++) drawRow(body.rows[n], model, n, stage);
    drawBracket(body, model, stage);
    const query = table.tBodies[0].rows[0];
    qkv.put(query.querySelector('.who'), model.who);
    qkv.put(query.querySelector('.query'), model.query);
    const sum = table.tFoot.rows[0];
    sum.classList.toggle('band', model.band === -1);
    qkv.put(sum.querySelector('.weight'), model.sum);
    qkv.put(sum.querySelector('.share'), model.output);
    qkv.pieces(qkv.id('worked'), model.work);
    qkv.show(qkv.id('after4'), stage === LAST);
    document.title = qkv.word('STAGE', stage) + ' ' + qkv.word('TITLE');
  }

  function go(stage) {
    qkv.set({ st: stage }, 'stage');
    qkv.say(qkv.id('caption').textContent);
  }

  figure.addEventListener('click', (event) => {
    const button = event.target.closest('button');
    if (!button) return;
    if (button.id === 'next') go(qkv.about.stage + 1);
    else if (button.id === 'back') go(qkv.about.stage - 1);
    else if (button.dataset.stage) go(button.dataset.stage);
  });
  qkv.figure('calc', draw);
})(window.qkv);
