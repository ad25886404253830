// SPDX-License-Identifier: MIT
// lab_causal.js - every number of one token grows by 1: under the causal mask the outputs above it
// keep every bit, without a mask none does. The C compares the bits.
(function (qkv) {
  const lab = qkv.lab, el = qkv.el;
  const table = el('table', { class: 'lab-numbers' });
  const sum = el('p', {});
  let token = -1, rows = 0, about = null, name = '', model = null;

  const changed = lab.stepper(qkv.word('LAB_CAUSAL_TOKEN'), () => name, (by) => {
    token = Math.max(0, Math.min(about.rows - 1, token + by));
    fill();
  }, () => [token <= 0, token >= about.rows - 1]);
  const node = el('details', { class: 'lab-part' }, el('summary', {}, qkv.word('LAB_CAUSAL_TITLE')),
    el('p', { class: 'prose-note' }, qkv.word('LAB_CAUSAL_INTRO')), changed.node,
    el('div', { class: 'scroll-x', tabindex: 0, role: 'region', 'aria-label': qkv.word('LAB_CAUSAL_TITLE') }, table), sum);

  // One number a column, with every digit that it has.
  function numbers() {
    const word = (key) => table.tHead.rows[0].cells[key].textContent, rows = model.causal.rows;
    const heads = (key) => rows[0].x.map((x, c) => word(key) + ' ' + c);
    return [[word(0), ...heads(1), ...heads(2), word(3), word(4)], ...rows.map((row, i) => [row.name,
      ...[...row.x, ...row.y].map((x) => (x === null ? '' : String(x))), ...[row, model.open.rows[i]].map(kept)])];
  }

  function written(kind) {
    if (kind === 'svg') return qkv.pictureOf(table, qkv.word('LAB_CAUSAL_TITLE'));
    if (kind === 'json') return qkv.call('lab_causal', lab.request(0, token));
    return model.error ? { error: model.error } : qkv.csvOf(numbers());
  }
  node.append(...qkv.saveRow(() => 'qkv-later-token', written, () => qkv.files.drawn(written('svg'))));

  const head = (text) => el('th', { scope: 'col' }, text);
  const kept = (row) => qkv.word(row.same ? 'LAB_CAUSAL_SAME' : 'LAB_CAUSAL_CHANGED');
  const bits = (row) => el('td', { class: row.same ? 'kept' : '' }, kept(row));

  function fill() {
    if (!node.open || !about) return;
    model = lab.ask('causal', 0, token);
    if (model.error) {
      table.replaceChildren();
      qkv.put(sum, model.error);
      qkv.show(changed.node, false);
      return;
    }
    qkv.show(changed.node, true);
    const rows = model.causal.rows, open = model.open.rows;
    name = rows[token].name;
    changed.draw(about);
    table.replaceChildren(
      el('thead', {}, el('tr', {}, head(qkv.word('HEAD_TOKEN')), head(qkv.word('LAB_CAUSAL_BEFORE')),
        head(qkv.word('LAB_CAUSAL_AFTER')), head(qkv.word('LAB_CAUSAL_BITS')), head(qkv.word('LAB_CAUSAL_OPEN')))),
      el('tbody', {}, ...rows.map((r, i) => el('tr', i === token ? { class: 'band' } : {},
        el('th', { scope: 'row' }, el('bdi', {}, r.name)), el('td', {}, r.before), el('td', {}, r.after),
        bits(r), bits(open[i])))));
    qkv.put(sum, qkv.word('LAB_CAUSAL_SUM', model.causal.same, rows.length, model.open.same));
  }
  node.addEventListener('toggle', fill);

  lab.causal = {
    node,
    draw(now) {
      about = now;
      if (rows !== about.rows) token = about.rows - 1;
      rows = about.rows;
      fill();
    },
  };
})(window.qkv);
