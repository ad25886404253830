// SPDX-License-Identifier: MIT
// lab_heads.js - all heads side by side: each a small map and a button that says, in words, which pair
// of words its strongest weight joins. A weight is not an explanation, and the caption says so.
(function (qkv) {
  const lab = qkv.lab, el = qkv.el;
  const list = el('ul', { class: 'lab-heads' });
  const node = el('div', { class: 'lab-part' }, el('h3', {}, qkv.word('LAB_HEADS_TITLE')),
    el('p', { class: 'prose-note' }, qkv.word('LAB_HEADS_NOTE')), list);
  let drawn = '', told = { heads: [] };

  // The heads as a file: the picture as it stands, the pairs as rows.
  function written(kind) {
    if (kind === 'svg') return qkv.pictureOf(list, qkv.word('LAB_HEADS_TITLE'));
    if (kind === 'json') return qkv.call('lab_heads', lab.request(0));
    return qkv.csvOf([['head', 'from', 'to', 'weight'], ...told.heads.map((h, n) => [String(n), ...(h.pair || [])])]);
  }
  node.append(...qkv.saveRow(() => 'qkv-heads', written, () => qkv.files.drawn(written('svg'))));

  function button(n, pair, values, about) {
    const canvas = el('canvas', { 'aria-hidden': 'true' });
    const cell = Math.max(1, Math.min(7, Math.floor(112 / about.keys)));
    if (values) lab.drawSmall(canvas, values, about.rows, about.keys, cell, about.stage >= 3);
    const text = pair ? qkv.word('LAB_PAIR', pair[0], pair[1], pair[2]) : '';
    const head = el('button', { type: 'button', class: 'lab-head', 'aria-pressed': n === about.head,
      'aria-label': qkv.word('LAB_HEAD_PAIR', n) + ' ' + text },
    canvas, el('span', { class: 'head-name' }, qkv.word('LAB_HEAD_PAIR', n)), ' ', el('bdi', { class: 'small' }, text));
    head.addEventListener('click', () => {
      lab.setHead(n);
      list.children[n].firstChild.focus();
    });
    return el('li', {}, head);
  }

  function draw(about) {
    const on = about.heads > 1 && about.rows <= 64 && about.keys <= 64;
    qkv.show(node, on);
    if (!on) return;
    const key = qkv.text.replace(/(^|&)(mrow|head|t|f|sec|view)=[^&]*/g, '') + lab.version + matchMedia('(prefers-color-scheme: dark)').matches;
    if (key !== drawn) {
      drawn = key;
      told = lab.ask('heads', 0);
      const heads = told.heads || [];
      list.replaceChildren(...heads.map((h, n) => button(n, h.pair, lab.valuesOf(n), about)));
    }
    [...list.children].forEach((li, n) => li.firstChild.setAttribute('aria-pressed', n === about.head));
  }

  // A head's values, whichever is looked at.
  lab.valuesOf = (head) => {
    const bytes = qkv.bytes('lab_values', [qkv.text, 0, head, 0, 0, lab.about.rows].join('\n'));
    return bytes.length === lab.about.rows * lab.about.keys * 4 ? new Float32Array(bytes.buffer) : null;
  };
  lab.heads = { node, draw };
})(window.qkv);
