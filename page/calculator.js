// SPDX-License-Identifier: MIT
// calculator.js - the table in stages. Its rows and columns stand in the HTML; here only text, bars
// and marks change, so that nothing moves from one stage to the next.
(function (qkv) {
  const figure = qkv.id('calculator-figure');
  const table = figure.querySelector('table');
  const columns = ['key', 'value', 'score', 'scaled', 'weight', 'share'];
  const letters = { query: 'q', key: 'k', value: 'v', score: 's', scaled: 'c', weight: 'w', share: 'h' };
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

  // A cell's content: one number or several, each a place that the worked line can speak of.
  function drawCell(cell, value, code, weight) {
    const list = value === undefined ? [] : Array.isArray(value) ? value : [value];
    const wanted = list.length + (Array.isArray(value) ? 1 : 0) + 10 * weight;
    if (cell.dataset.shape !== String(wanted)) {
      cell.dataset.shape = wanted;
      cell.replaceChildren();
      list.forEach((text, i) => {
        if (Array.isArray(value)) cell.append(i ? ', ' : '[');
        cell.append(text === '…' ? text : qkv.el('span', { class: 'num', tabindex: -1,
          'data-f': code + (Array.isArray(value) ? '.' + i : '') }, text));
      });
      if (Array.isArray(value)) cell.append(']');
      if (weight && list.length) cell.append(bar());
    }
    const buttons = cell.getElementsByClassName('num');
    for (let i = 0; i < buttons.length; i++) qkv.put(buttons[i], list[i]);
  }

  function drawRow(tr, model, n) {
    const item = model.rows[n];
    qkv.put(tr.cells[0], item.name);
    tr.classList.toggle('band', model.band === n);
    tr.classList.toggle('hidden-key', !!item.hidden);
    columns.forEach((name, i) => {
      const cell = tr.cells[i + 1], weight = name === 'weight' ? 1 : 0;
      drawCell(cell, item[name], letters[name] + n, weight);
      if (weight && item.weight !== undefined)
        cell.querySelector('rect').setAttribute('width', Math.max(0, item.w || 0) * AXIS);
    });
  }

  function drawBracket(body, model) {
    const old = table.querySelector('.bracket');
    if (old) old.remove();
    if (model.stage !== 2) return;
    table.style.setProperty('--n', body.rows.length);
    body.rows[0].cells[4].append(qkv.el('span', { class: 'bracket', 'aria-hidden': 'true' },
      qkv.el('span', {}, model.divisor)));
  }

  function drawStages(stage) {
    for (const button of figure.querySelectorAll('.stages button')) {
      if (button.dataset.stage === String(stage)) button.setAttribute('aria-current', 'step');
      else button.removeAttribute('aria-current');
    }
    table.dataset.stage = stage;
    // not `disabled`: that would take the focus from whoever just pressed it
    qkv.id('back').setAttribute('aria-disabled', String(stage === 0));
    qkv.id('next').setAttribute('aria-disabled', String(stage === LAST));
    qkv.id('next').classList.toggle('filled', stage !== LAST);
  }

  // The head of the scaled column: the formula's own, or what the reader chose in its place.
  const scaled = table.querySelector('thead .scaled .sym'), own = [...scaled.childNodes];
  function drawHead(model) {
    if (scaled.dataset.says === model.scale_head) return;
    scaled.dataset.says = model.scale_head;
    if (model.scale === 'sqrt' && model.scale_plain) scaled.replaceChildren(...own);
    else qkv.pieces(scaled, [{ t: model.scale_head }]);
  }

  function drawSums(model) {
    const query = table.tBodies[0].rows[0], sum = table.tFoot.rows[0];
    qkv.put(query.querySelector('.who'), model.who);
    drawCell(query.querySelector('.query'), model.query, 'q', 0);
    sum.classList.toggle('band', model.band === -1);
    sum.classList.toggle('reached', model.stage >= 3);
    drawCell(sum.querySelector('.weight'), model.sum, 'z', 0);
    drawCell(sum.querySelector('.share'), model.output, 'o', 0);
  }

  // One tab stop: the number that the worked line speaks of, or the first.
  function drawStop() {
    const all = [...table.querySelectorAll('.num')];
    const now = all.find((x) => x.dataset.f === qkv.about.focus) || all[0];
    for (const button of all) {
      button.tabIndex = button === now ? 0 : -1;
      button.classList.toggle('now', button.dataset.f === qkv.about.focus);
    }
  }

  // ---- room for long numbers ----

  // A row that nobody sees holds the widest number of every column and stage, so that columns keep
  // their width while the stages pass.
  const ruler = qkv.el('tr', {}, qkv.el('th', {}),
    ...columns.map((name) => qkv.el('td', { class: name })));
  table.append(qkv.el('tbody', { class: 'ruler', 'aria-hidden': 'true' }, ruler));

  function fillRuler(shapes) {
    columns.forEach((name, i) => {
      const shape = shapes[name], cell = ruler.cells[i + 1];
      cell.replaceChildren();
      if (!Array.isArray(shape)) cell.append(shape);
      else {
        shape.forEach((text, k) => cell.append(k ? ', ' : '[', qkv.el('span', {}, text)));
        cell.append(']');
      }
    });
  }

  // Lines that the vectors take, where they may break at their commas.
  function linesNow() {
    let most = 1;
    for (const cell of ruler.cells) {
      let lines = 1, end = -Infinity;
      for (const span of cell.children) {
        const box = span.getBoundingClientRect();
        if (box.width && box.left < end) lines++;
        end = box.right;
      }
      most = Math.max(most, lines);
    }
    return most;
  }

  // Every stage is tried, or the table would change while they pass.
  function tryStages(f) {
    const stage = table.dataset.stage;
    let most = 0;
    for (let n = 0; n <= LAST; n++) {
      table.dataset.stage = n;
      most = Math.max(most, f());
    }
    table.dataset.stage = stage;
    return most;
  }

  // All columns in a line; else the compact table's few; else vectors with a line for each number.
  const SHORT = { key: 8, value: 8, score: 6, scaled: 6, weight: 5, share: 13 };
  const long = (shapes) => columns.some((name) => [].concat(shapes[name]).join(', ').length >
    SHORT[name] - 2 * Array.isArray(shapes[name]));
  let fitted = '', shapes = null;
  qkv.fitTable = () => {
    const box = table.parentElement, editing = table.classList.contains('editing');
    const fields = editing ? [...table.querySelectorAll('input')].map((x) => x.value.length) : [];
    const now = JSON.stringify([shapes, box.clientWidth, fields]);
    if (now === fitted) return;
    fitted = now;
    fillRuler(shapes);
    table.classList.remove('narrow', 'stack');
    for (const name of ['--row', '--ask']) table.style.removeProperty(name);
    if (!editing && !long(shapes)) return;
    const over = () => box.scrollWidth - box.clientWidth;
    let most = tryStages(over);
    if (most > 1) {
      table.classList.add('narrow');
      most = tryStages(over);
    }
    if (most > 1) {
      table.classList.add('stack');
      table.style.setProperty('--row', Math.max(2, tryStages(linesNow)) * 24 + 10 + 'px');
    }
    table.style.setProperty('--ask', tryStages(() => table.tBodies[0].rows[0].offsetHeight) + 'px');
  };

  function draw(model) {
    shapes = model.shapes;
    drawStages(model.stage);
    qkv.id('caption').replaceChildren(
      qkv.el('b', {}, qkv.word('STAGE', model.stage)), ' ' + model.caption);
    const body = table.tBodies[1];
    fit(body, model.rows.length);
    for (let n = 0; n < model.rows.length; n++) drawRow(body.rows[n], model, n);
    drawBracket(body, model);
    drawHead(model);
    drawSums(model);
    qkv.fitTable();
    drawStop();
    qkv.pieces(qkv.id('worked'), model.work, model.label);
    const notes = [model.mask, model.odd].filter((x) => x).join(' ');
    qkv.put(qkv.id('masked'), notes);
    qkv.show(qkv.id('masked'), !!notes);
    qkv.drawOutput(model);
    document.title = qkv.word('STAGE', model.stage) + ' ' + qkv.word('TITLE');
  }

  function go(stage) {
    qkv.set({ st: stage, f: '' }, 'stage');
    qkv.say(qkv.id('caption').textContent);
  }

  // Arrow keys move between the numbers that can be seen.
  function move(event) {
    const step = { ArrowLeft: -1, ArrowRight: 1, ArrowUp: -1, ArrowDown: 1 }[event.key];
    if (!step || !event.target.classList.contains('num')) return;
    const all = [...table.querySelectorAll('.num')].filter((x) => x.offsetParent !== null);
    let next = all[all.indexOf(event.target) + step];
    if (event.key === 'ArrowUp' || event.key === 'ArrowDown') {
      const box = event.target.getBoundingClientRect();
      const away = (x) => (x.getBoundingClientRect().top - box.top) * step;
      const rows = all.filter((x) => away(x) > 4);
      const near = Math.min(...rows.map(away));
      const side = (x) => Math.abs(x.getBoundingClientRect().left - box.left);
      next = rows.filter((x) => away(x) < near + 4).sort((a, b) => side(a) - side(b))[0];
    }
    if (next) next.focus();
    event.preventDefault();
  }

  figure.addEventListener('click', (event) => {
    const button = event.target.closest('button');
    if (!button || button.getAttribute('aria-disabled') === 'true') return;
    if (button.id === 'next') go(qkv.about.stage + 1);
    else if (button.id === 'back') go(qkv.about.stage - 1);
    else if (button.dataset.stage) go(button.dataset.stage);
  });
  table.addEventListener('keydown', move);
  table.addEventListener('focusin', (event) => {
    const code = event.target.dataset.f;
    if (!code || code === qkv.about.focus) return;
    qkv.set({ f: code }, 'focus');
    qkv.say(qkv.id('worked').textContent);
  });
  qkv.goStage = go;
  qkv.figure('calc', draw, figure);
  qkv.figure(null, drawStop);
})(window.qkv);
