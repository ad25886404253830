// SPDX-License-Identifier: MIT
// output.js - the last stage as pictures: the strip of weights, and the values laid head to tail in
// the plane. What they say stands in the table too, so both are hidden from a screen reader.
(function (qkv) {
  const LARGEST_UNIT = 74, LABEL = 60, NAME = 18;

  function strip(model) {
    const node = qkv.id('strip'), wide = node.clientWidth || 288;
    const svg = qkv.svg('svg', { width: wide, height: 44, class: 'picture', 'aria-hidden': 'true' });
    let at = 0;
    for (const row of model.rows) {
      const w = Math.max(0, row.w || 0), width = w * (wide - 1);
      svg.append(qkv.svg('rect', { x: at + .5, y: .5, width, height: 20, class: 'share',
        'fill-opacity': w }));
      const name = qkv.short(row.name), whole = name + ' ' + row.weight;
      const fits = (t, least) => width >= Math.max(least, t.length * 7);
      const text = fits(whole, LABEL) ? whole : fits(name, NAME) ? name : '';
      if (text) svg.append(qkv.svg('text', { x: at + width / 2, y: 38, 'text-anchor': 'middle' }, text));
      at += width;
    }
    node.replaceChildren(svg);
  }

  function points(list) {
    const out = [];
    for (let i = 0; i + 1 < list.length; i += 2) out.push([list[i], list[i + 1]]);
    return out;
  }

  function plane(model) {
    const node = qkv.id('plane'), all = points(model.plane), end = all.pop();
    const sums = [[0, 0]];
    model.rows.forEach((row, n) => {
      const [a, b] = sums[sums.length - 1];
      sums.push([a + (row.w || 0) * all[n][0], b + (row.w || 0) * all[n][1]]);
    });
    const box = qkv.boxOf([...all, ...sums]);
    const room = { left: 36, right: 40, top: 20, bottom: 30 };
    const unit = Math.min(LARGEST_UNIT, 222 / Math.max(box.x1 - box.x0, 1e-9),
      148 / Math.max(box.y1 - box.y0, 1e-9));
    const p = qkv.plane(box, unit, room);
    p.axes();
    const hull = qkv.hull(all);
    if (hull.length > 1) p.svg.append(qkv.svg('path', { class: 'hull',
      d: 'M' + hull.map(([a, b]) => p.x(a) + ' ' + p.y(b)).join('L') + 'z' }));
    for (let n = 0; n < all.length; n++) {
      const [a, b] = sums[n], [c, d] = sums[n + 1];
      p.arrow('v', a, b, c, d);
    }
    for (const [a, b] of all) p.mark('v', a, b);
    const names = model.rows.map((row) => qkv.short(row.name));
    for (const [a, b, text] of qkv.together(all, names, unit))
      p.label(a, b, text, a <= box.x0 ? { dx: -12, dy: 4, anchor: 'end' }
        : { dx: 0, dy: b > 0 ? -11 : 22, anchor: 'middle' });
    p.mark('dot', end[0], end[1]);
    p.label(end[0], end[1], qkv.word('STAGE_4'), { dx: -10, dy: 1, anchor: 'end' });
    for (let n = 0; n < all.length; n++) {
      const [a, b] = sums[n], [c, d] = sums[n + 1];
      if (Math.hypot(c - a, d - b) * unit < 16) continue;
      const up = Math.abs(d - b) > Math.abs(c - a);
      const part = up ? .5 : .78; // clear of the mark of a value that lies half-way
      p.label(a + (c - a) * part, b + (d - b) * part, names[n],
        up ? { dx: 9, dy: 4 } : { dx: 0, dy: -7, anchor: 'middle' }, 'v');
    }
    node.replaceChildren(p.svg);
  }

  qkv.drawOutput = (model) => {
    const last = model.stage === 4;
    qkv.show(qkv.id('after4'), last);
    if (!last) return;
    strip(model);
    const flat = !!model.plane && !model.plane.includes(null) && qkv.drawable(qkv.boxOf(points(model.plane)));
    qkv.show(qkv.id('plane'), flat);
    qkv.show(qkv.id('plane-note'), flat);
    if (flat) plane(model);
    qkv.put(qkv.id('plane-note'), qkv.word('PLANE_NOTE'));
  };
  window.addEventListener('resize', () => qkv.ready && qkv.text && qkv.refresh(true));
})(window.qkv);
