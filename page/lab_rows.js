// SPDX-License-Identifier: MIT
// lab_rows.js - what stands beside and below a map: a row or a column as a list with bars, the
// arithmetic of the chosen cell, the same map as a table of numbers; and the table of one token.
(function (qkv) {
  const lab = qkv.lab, el = qkv.el, svg = qkv.svg;
  const AXIS = 120, TWIN = 16, TWIN_PART = 6;

  function bar(w) {
    const whole = Math.min(1, Math.abs(w || 0));
    return svg('svg', { class: 'lab-bar' + (w < 0 ? ' minus' : ''), width: AXIS + 1, height: 24, 'aria-hidden': 'true' },
      svg('path', { class: 'axis', d: 'M.5 0V24' }),
      svg('rect', { x: 0, y: 7, width: whole * AXIS, height: 10 }));
  }

  function item(name, text, w, current) {
    return el('tr', current ? { class: 'band' } : {}, el('th', { scope: 'row' }, el('bdi', {}, name)),
      el('td', {}, text), el('td', { class: 'bars', 'aria-hidden': 'true' }, w === null ? '' : bar(w)));
  }

  // The list of a row (or of a column, on one panel of a map).
  lab.makeList = (panel) => {
    const title = el('h3', { class: 'lab-list-title' });
    const table = el('table', { class: 'lab-list' });
    const note = el('p', { class: 'small' });
    const node = el('div', { class: 'lab-side' }, title, table, note);

    function draw(about) {
      const column = about.map && lab.side === 'column';
      const model = lab.ask(column ? 'column' : 'row', panel, lab.key, ...(column ? lab.strongest(panel) : []));
      if (model.error) {
        qkv.put(note, model.error);
        return;
      }
      const word = column ? qkv.word('LAB_COLUMN_OF', '\u2068' + model.who + '\u2069')
        : qkv.word('LAB_ROW_OF', '\u2068' + model.who + '\u2069');
      qkv.put(title, word);
      if (!column) lab.rowName = model.who;
      const rows = model.items.map((x) => item(x.name, x.hidden ? qkv.word('HIDDEN') : x.text,
        x.hidden ? null : x.w, !column && about.map && x.at === lab.key));
      if (model.rest) rows.push(item(model.rest.name, model.rest.text || '', null));
      const body = el('tbody', {}, ...rows);
      const foot = model.sum === undefined ? null
        : el('tfoot', {}, el('tr', {}, el('th', { scope: 'row' }, qkv.word('SUM')), el('td', {}, model.sum), el('td', {})));
      table.setAttribute('aria-label', word);
      table.replaceChildren(body);
      if (foot) table.append(foot);
      const choice = panel ? about.b : about.a;
      qkv.put(note, column ? (model.sum === undefined ? '' : qkv.word('LAB_COLUMN_NOTE'))
        : model.blind ? qkv.word('LAB_BLIND')
          : choice.wrong && choice.mask !== 'none' && model.sum !== undefined && model.sum !== '1.00'
            ? qkv.word('LAB_SUM_WRONG') : '');
    }
    return { node, draw };
  };

  lab.makeWork = (panel) => {
    const node = el('p', { class: 'worked lab-work' });
    return {
      node,
      draw() {
        const model = lab.ask('work', panel, lab.key);
        qkv.pieces(node, model.work || []);
      },
    };
  };

  // The canvas's twin: the same numbers in a table, of a large map those around the chosen cell.
  lab.makeTwin = (panel) => {
    const table = el('table', { class: 'lab-numbers' });
    const caption = el('p', { class: 'small' });
    const node = el('details', { class: 'lab-twin' }, el('summary', {}, qkv.word('LAB_TWIN')), caption,
      el('div', { class: 'scroll-x', tabindex: 0, role: 'region', 'aria-label': qkv.word('LAB_TWIN') }, table));
    let about = null, names = [], rowNames = [];

    function range(at, n) {
      if (n <= TWIN) return [0, n];
      const from = Math.max(0, Math.min(n - 2 * TWIN_PART, at - TWIN_PART));
      return [from, from + 2 * TWIN_PART];
    }

    function fill() {
      if (!node.open || !about) return;
      const [r0, r1] = range(lab.row, about.rows), [c0, c1] = range(lab.key, about.keys);
      const texts = lab.ask('cells', panel, r0, r1, c0, c1, 0).cells || [];
      const part = r1 - r0 < about.rows || c1 - c0 < about.keys;
      qkv.put(caption, part ? qkv.word('LAB_TWIN_PART', r0, r1 - 1, c0).replace('{3}', c1 - 1) : about.caption);
      const head = el('tr', {}, el('td', {}));
      for (let c = c0; c < c1; c++) head.append(el('th', { scope: 'col' }, el('bdi', {}, names[c])));
      table.replaceChildren(el('thead', {}, head), el('tbody', {}, ...texts.map((cells, i) =>
        el('tr', {}, el('th', { scope: 'row' }, el('bdi', {}, rowNames[r0 + i])),
          ...cells.map((text) => el('td', {}, text === '' ? qkv.word('HIDDEN') : text))))));
    }
    node.addEventListener('toggle', fill);
    return {
      node,
      draw(now, keyNames, queryNames) {
        about = now;
        names = keyNames;
        rowNames = queryNames;
        fill();
      },
    };
  };

  // The token's table: every stage up to the present one, whole vectors.
  lab.makeTable = (panel) => {
    const MOST = 64;
    const caption = el('p', { class: 'caption' });
    const table = el('table', { class: 'lab-table' });
    const node = el('div', {}, caption,
      el('div', { class: 'scroll-x', tabindex: 0, role: 'region', 'aria-label': qkv.word('LAB_SHOW_TABLE') }, table));

    const head = (text, mark = '', stage = -1, now = 0) => el('th', { scope: 'col', class: `c${stage} ${mark}${stage === now ? ' now' : ''}` },
      mark ? el('span', { class: 'mark', 'aria-hidden': 'true' }) : null, text);

    function draw(about) {
      const from = Math.max(0, Math.min(about.keys - MOST, lab.row - MOST / 2));
      const model = lab.ask('table', panel, from, Math.min(about.keys, from + MOST));
      if (model.error) {
        lab.trouble(model.error);
        return;
      }
      const s = model.stage;
      lab.rowName = model.who;
      caption.replaceChildren(el('b', {}, qkv.word('STAGE', s)), ' ' + model.caption);
      table.dataset.stage = s;
      // c0 ... c4: the stage that a cell belongs to; narrow tables show the last two
      const cell = (stage, text, more = '') => el('td', { class: `c${stage} ${more}` }, text || '');
      const row = (r) => el('tr', { class: (r.hidden ? 'hidden-key' : '') + (r.at === lab.key ? ' band' : ''), 'data-key': r.at },
        el('th', { scope: 'row' }, el('bdi', {}, r.name)), cell(0, r.key, 'k'), cell(0, r.value, 'v'), cell(1, r.score),
        cell(2, r.scaled), cell(3, r.hidden && r.weight ? qkv.word('HIDDEN') : r.weight),
        el('td', { class: 'c3 bars', 'aria-hidden': 'true' }, r.weight === undefined || r.hidden ? '' : bar(r.w)),
        cell(4, r.share, 'v'));
      table.replaceChildren(
        el('thead', {}, el('tr', {}, head(qkv.word('HEAD_TOKEN')), head(qkv.word('COLUMN_KEY'), 'k', 0, s),
          head(qkv.word('COLUMN_VALUE'), 'v', 0, s), head(qkv.word('COLUMN_SCORE'), '', 1, s),
          head(el('span', {}, ...lab.math(model.scale_head)), '', 2, s), head(qkv.word('COLUMN_WEIGHT'), '', 3, s),
          el('td', { class: 'c3 bars' }), head(qkv.word('COLUMN_SHARE'), '', 4, s))),
        el('tbody', {}, el('tr', { class: 'ask' }, el('th', { scope: 'row', class: 'q' },
          el('span', { class: 'mark', 'aria-hidden': 'true' }), qkv.word('QUERY_FOR', model.who),
          el('span', { class: 'compact' }, ' ' + model.query)),
        cell(0, model.query, 'q'), cell(0), cell(1), cell(2), cell(3), cell(3, '', 'bars'), cell(4)),
        ...model.rows.map(row)),
        el('tfoot', {}, el('tr', {}, el('th', { scope: 'row' }, qkv.word('SUM')), cell(0), cell(0), cell(1), cell(2),
          cell(3, model.sum), cell(3, '', 'bars'), cell(4, model.output, 'out'))));
    }
    table.addEventListener('click', (event) => {
      const tr = event.target.closest('tr[data-key]');
      if (!tr) return;
      lab.keyChosen = true;
      lab.key = tr.rowIndex - 2 + Math.max(0, Math.min(lab.about.keys - MOST, lab.row - MOST / 2));
      lab.draw();
    });
    return { node, draw };
  };
})(window.qkv);
