// SPDX-License-Identifier: MIT
// blend.js - the output along a line of queries: the pick jumps, the blend glides. The slider below is
// the graph's own x axis.
(function (qkv) {
  const slider = qkv.id('blend-x'), HIGH = 216, TOP = 30, LEFT = 56, RIGHT = 16, STEP = 54;
  let now = null;

  function draw(model) {
    const node = qkv.id('blend-graph'), wide = node.clientWidth || 288;
    const left = wide < 480 ? 24 : LEFT, right = RIGHT, inner = wide - left - right;
    const x = (t) => left + inner * t / 2, y = (v) => TOP + (3 - v) * STEP;
    const svg = qkv.svg('svg', { width: wide, height: HIGH, class: 'picture', 'aria-hidden': 'true' });
    const path = (name, d) => svg.append(qkv.svg('path', { class: name, d }));
    const text = (a, b, value, anchor, name) =>
      svg.append(qkv.svg('text', { x: a, y: b, 'text-anchor': anchor, class: name || '' }, value));
    text(left, 11, qkv.word('BLEND_AXIS'), 'start', 'soft');
    for (let n = 0; n < 4; n++) {
      path('hair', `M${left} ${y(n) + .5}H${wide - right}`);
      text(left - 8, y(n) + 5, n, 'end', 'soft');
    }
    const flip = x(model.flip);
    path('dots', `M${flip} ${y(model.before)}V${y(model.after)}`);
    path('thick', `M${left} ${y(model.before)}H${flip - 5}M${flip + 5} ${y(model.after)}H${wide - right}`);
    path('thicker', 'M' + model.curve.map((v, n) => x(2 * n / (model.curve.length - 1)) + ' ' + y(v)).join('L'));
    for (const v of [model.before, model.after])
      svg.append(qkv.svg('circle', { cx: flip, cy: y(v), r: 4, class: 'ring' }));
    const here = x(model.x);
    path('q', `M${here} ${y(model.pick)}V${HIGH}`);
    for (const v of [model.pick, model.blend])
      svg.append(qkv.svg('circle', { cx: here, cy: y(v), r: 5, class: 'dot' }));
    text(wide - right - 48, y(model.after) - 7, qkv.word('PICK'), 'middle');
    text(wide - right - 48, y(model.curve[70]) + 24, qkv.word('BLEND'), 'middle');
    node.replaceChildren(svg);
    qkv.id('blend-figure').style.setProperty('--drawn', wide + 'px');
    labels(model);
    // under the thumb, inside of the axis
    const mark = qkv.id('blend-here'), half = mark.offsetWidth / 2;
    mark.style.marginLeft = Math.max(0, Math.min(inner - 2 * half, here - left - half)) + 'px';
    now = model;
  }

  function labels(model) {
    slider.value = Math.round(model.x * 100);
    const query = (id, pieces, word) => {
      const node = qkv.id(id), span = qkv.el('span', { class: 'q' });
      qkv.pieces(span, pieces);
      node.replaceChildren(span, ' ', qkv.el('span', { class: 'soft' }, word));
    };
    query('blend-from', model.from, qkv.word('BLEND_OWN_QUERY', 'cat'));
    query('blend-here', model.here, qkv.word('NOW'));
    query('blend-to', model.to, qkv.word('BLEND_OWN_QUERY', 'sat'));
    slider.setAttribute('aria-valuetext', qkv.id('blend-here').firstChild.textContent);
    const at = (id, pieces) => qkv.put(qkv.id(id), qkv.word('BLEND_AT', pieces.map((p) => p.t).join('')));
    at('blend-at', model.here);
    at('blend-then', model.there);
    const rows = document.querySelector('#blend-figure .changes tbody').rows;
    [model.picks, model.blends].forEach((list, r) =>
      list.forEach((pieces, c) => qkv.pieces(rows[r].cells[c + 1], pieces)));
    qkv.put(qkv.id('blend-said'), model.nudge);
    qkv.pieces(qkv.id('blend-work'), model.work);
  }

  slider.addEventListener('input', () => qkv.set({ b: slider.value + 'e-2' }, 'blend'));
  slider.addEventListener('change', () => qkv.say(now.nudge));
  qkv.id('nudge').addEventListener('click', () => {
    const said = now.nudge;
    if (qkv.set({ b: now.next }, 'nudge')) qkv.set({ b: '0' }, 'nudge');
    qkv.say(said);
  });
  qkv.figure('blend', draw, qkv.id('blend-figure'));
})(window.qkv);
