// SPDX-License-Identifier: MIT
// root.js - why divide: the histogram of scores with a bracket of their typical size, and the weights
// of one sampled row, not divided beside divided.
(function (qkv) {
  const slider = qkv.id('root-channels'), HIGH = 176, BASE = 148;
  let now = null;

  function histogram(model) {
    const node = qkv.id('root-graph'), wide = node.clientWidth || 288;
    const bin = Math.max(2, Math.floor((wide - 2) / model.bins.length * 2) / 2);
    const left = (wide - bin * model.bins.length) / 2, x = (s) => left + (s - model.low) * bin;
    const most = Math.max(...model.bins);
    const svg = qkv.svg('svg', { width: wide, height: HIGH, class: 'picture', 'aria-hidden': 'true' });
    model.bins.forEach((n, i) => {
      const high = n / most * 108;
      if (n) svg.append(qkv.svg('rect', { class: 'ink', x: left + i * bin, y: BASE - high,
        width: Math.max(1, bin - 1), height: high }));
    });
    svg.append(qkv.svg('path', { class: 'axis', d: `M${left} ${BASE + .5}H${wide - left}` }));
    const a = x(-model.root), b = x(model.root);
    svg.append(qkv.svg('path', { class: 'thick', d: `M${a} 36V28H${b}V36` }));
    svg.append(qkv.svg('text', { x: x(0), y: 18, 'text-anchor': 'middle' }, '±√' + model.channels));
    for (const s of [-32, -16, 0, 16, 32])
      svg.append(qkv.svg('text', { x: x(s), y: BASE + 20, 'text-anchor': 'middle', class: 'soft' },
        s < 0 ? '−' + -s : s));
    node.replaceChildren(svg);
  }

  function bars(node, row) {
    const wide = node.clientWidth || 260, step = wide / row.weight.length;
    const svg = qkv.svg('svg', { width: wide, height: 104, class: 'picture', 'aria-hidden': 'true' },
      qkv.svg('path', { class: 'hair', d: `M0 .5H${wide}` }), qkv.svg('path', { class: 'axis', d: `M0 96.5H${wide}` }));
    row.weight.forEach((w, i) => {
      const width = Math.max(2, Math.round(step) - 4);
      svg.append(qkv.svg('rect', { class: 'ink', x: i * step + 1, y: 96 - 95 * w, width, height: 95 * w }));
      svg.append(qkv.svg('path', { class: 'thick', d: `M${i * step} ${96 - 95 * row.nudged[i]}h${width + 2}` }));
    });
    node.replaceChildren(svg);
  }

  function draw(model) {
    now = model;
    slider.value = model.channels;
    qkv.put(qkv.id('root-now'), String(model.channels));
    histogram(model);
    bars(qkv.id('root-plain'), model.plain);
    bars(qkv.id('root-scaled'), model.scaled);
    qkv.pieces(qkv.id('root-spread'), model.spread);
    qkv.pieces(qkv.id('root-stuck'), model.stuck);
    qkv.pieces(qkv.id('root-moved'), model.moves);
    qkv.pieces(qkv.id('root-work'), model.work);
  }

  slider.addEventListener('input', () => qkv.set({ rd: slider.value }, 'channels'));
  slider.addEventListener('change', () => qkv.say(qkv.id('root-spread').textContent));
  qkv.id('root-again').addEventListener('click', () => {
    qkv.set({ rseed: (now.seed + 1) % 4294967296 }, 'sample');
    qkv.say(qkv.id('root-stuck').textContent);
  });
  qkv.id('root-nudge').addEventListener('click', () => {
    qkv.set({ rn: (now.times + 1) % 1001 }, 'nudge');
    qkv.say(qkv.id('root-moved').textContent);
  });
  qkv.figure('root', draw, qkv.id('root-figure'));
})(window.qkv);
