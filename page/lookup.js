// SPDX-License-Identifier: MIT
// lookup.js - the first figure: keys and query in the plane, what an exact and a soft lookup answer,
// and the slider from pick to blend. The query's arrow can be dragged, typed and stepped.
(function (qkv) {
  const slider = qkv.id('sharpness'), UNIT = 92;
  const complain = qkv.complainAt(qkv.id('lookup-trouble'));
  let fields = [], picture = null, now = null;

  function drawPlane(model) {
    const node = qkv.id('lookup-plane');
    const keys = model.rows.filter((r) => r.x !== null && r.y !== null), points = keys.map((r) => [r.x, r.y]);
    const box = qkv.boxOf([...points, [model.qx, model.qy], [2.5, 2.4]]);
    const flat = 'qx' in model && model.qx !== null && model.qy !== null && qkv.drawable(box);
    qkv.show(node, flat);
    picture = null;
    if (!flat) return;
    const unit = Math.min(UNIT, 230 / (box.x1 - box.x0), 222 / (box.y1 - box.y0));
    const p = qkv.plane(box, unit, { left: 36, right: 24, top: 4, bottom: 30 });
    p.axes();
    for (const n of unit >= 24 ? [1, 2] : []) {
      p.text(n, 0, n, { dx: 0, dy: 20, anchor: 'middle' }, 'soft');
      p.text(0, n, n, { dx: -16, dy: 4, anchor: 'middle' }, 'soft');
    }
    for (const r of keys) p.line('k', p.x(0), p.y(0), p.x(r.x), p.y(r.y));
    p.line('q', p.x(0), p.y(0), p.x(model.qx), p.y(model.qy));
    for (const r of keys) p.mark('k', r.x, r.y);
    for (const [a, b, text] of qkv.together(points, keys.map((r) => qkv.short(r.name)), unit))
      p.label(a, b, text, b > 0 ? { dx: 12, dy: a > 0 ? 4 : -8 } : { dx: 0, dy: -11, anchor: 'middle' });
    p.mark('q', model.qx, model.qy);
    const at = { dx: 12, dy: model.qy < .3 ? -26 : -4 }; // near the axis stand names
    p.label(model.qx, model.qy, qkv.word('QUERY_AT', model.query.join(', ')), at, 'q')
      || p.label(model.qx, model.qy, qkv.word('EDIT_QUERY'), at, 'q');
    node.replaceChildren(p.svg);
    picture = p;
  }

  function drawShares(model) {
    const body = document.querySelector('#lookup-figure .shares tbody');
    while (body.rows.length > model.rows.length) body.deleteRow(-1);
    while (body.rows.length < model.rows.length)
      body.append(qkv.el('tr', {}, qkv.el('th', { scope: 'row' }), qkv.el('td', {}),
        qkv.el('td', { class: 'barcell' }, qkv.svg('svg', { width: 145, height: 28, 'aria-hidden': 'true', class: 'bar2' },
          qkv.svg('path', { class: 'axis', d: 'M.5 0V28' }), qkv.svg('path', { class: 'one', d: 'M143.5 0V28' }),
          qkv.svg('rect', { y: 9, height: 10, width: 0 })))));
    model.rows.forEach((r, n) => {
      qkv.put(body.rows[n].cells[0], r.name);
      qkv.put(body.rows[n].cells[1], r.weight);
      body.rows[n].querySelector('rect').setAttribute('width', 143 * Math.max(0, r.w || 0));
    });
  }

  function drawFields(model) {
    const node = qkv.id('lookup-fields');
    while (fields.length > model.query.length) fields.pop().remove();
    while (fields.length < Math.min(model.query.length, 2)) {
      const c = fields.length;
      const field = qkv.field(qkv.word('QUERY_FIELD', c),
        (text) => qkv.edit('Q', now.token, c, text), complain);
      fields.push(field);
      node.append(field);
    }
    fields.forEach((field, c) => field.put(model.query[c]));
  }

  function draw(model) {
    now = model;
    drawPlane(model);
    drawShares(model);
    drawFields(model);
    qkv.pieces(qkv.id('lookup-exact'), model.exact);
    qkv.pieces(qkv.id('lookup-soft'), model.soft);
    qkv.pieces(qkv.id('lookup-answer'), model.answer);
    slider.value = model.stop;
    slider.setAttribute('aria-valuetext', model.sharpness);
  }

  slider.addEventListener('input', () => {
    qkv.set({ T: now.stops[slider.value] }, 'sharpness');
    qkv.say(qkv.id('lookup-soft').textContent);
  });

  // Dragging moves in steps of a tenth, sent as whole tenths: "13e-1".
  function drag(event) {
    const box = picture.svg.getBoundingClientRect(), p = picture;
    const a = Math.round((event.clientX - box.left - p.x(0)) / p.unit * 10);
    const b = Math.round((p.y(0) - (event.clientY - box.top)) / p.unit * 10);
    qkv.edit('Q', now.token, 0, a + 'e-1');
    qkv.edit('Q', now.token, 1, b + 'e-1');
  }
  qkv.id('lookup-plane').addEventListener('pointerdown', (event) => {
    if (!picture || event.button !== 0) return;
    const box = picture.svg.getBoundingClientRect();
    const away = Math.hypot(event.clientX - box.left - picture.x(now.qx),
      event.clientY - box.top - picture.y(now.qy));
    if (away > 28) return;
    event.preventDefault();
    const node = event.currentTarget;
    const stop = () => {
      node.removeEventListener('pointermove', drag);
      qkv.say(qkv.id('lookup-soft').textContent);
    };
    node.setPointerCapture(event.pointerId);
    node.addEventListener('pointermove', drag);
    node.addEventListener('pointerup', stop, { once: true });
    node.addEventListener('pointercancel', stop, { once: true });
  });
  qkv.figure('lookup', draw, qkv.id('lookup-figure'));
})(window.qkv);
