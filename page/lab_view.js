// SPDX-License-Identifier: MIT
// lab_view.js - puts the lab together: controls, one or two panels with a map or a token's table, the
// list beside them, and the parts below. Panel B stands only while A and B are compared.
(function (qkv) {
  const lab = qkv.lab, el = qkv.el;
  const about_ = el('p', { class: 'lab-about' });
  const trouble = el('p', { class: 'trouble', id: 'lab-trouble', role: 'alert', hidden: true });
  lab.controls.prepend(about_, trouble);

  function legend() {
    const steps = el('span', { class: 'steps', 'aria-hidden': 'true' });
    const ends = el('span', { class: 'ends' });
    const node = el('div', { class: 'legend-scale' }, steps, ends);
    return {
      node,
      draw(about) {
        const p = lab.colours().rgb;
        steps.replaceChildren(...Array.from({ length: 10 }, (x, i) => {
          const step = el('span', {});
          step.style.backgroundColor = `rgb(${lab.fillOf((i + 0.5) / 10, true, 1).join(',')})`;
          return step;
        }));
        const weights = about.stage >= 3;
        ends.replaceChildren(...(weights ? ['0', '0.5', '1'] : [qkv.word('LAB_LEGEND_LEAST'), '', qkv.word('LAB_LEGEND_MOST')])
          .map((text) => el('span', {}, text)));
      },
    };
  }

  function axes() {
    return el('p', { class: 'axes' },
      el('span', { class: 'q' }, el('span', { class: 'mark', 'aria-hidden': 'true' }), qkv.word('MAP_FROM') + ' ↓'),
      el('span', { class: 'k' }, el('span', { class: 'mark', 'aria-hidden': 'true' }), qkv.word('MAP_TO') + ' →'));
  }

  lab.maps = [];
  // "B: ÷ dₖ": the panel, and in what it differs from the other.
  lab.panelTitle = (n) => [qkv.word(n ? 'LAB_PANEL_B' : 'LAB_PANEL_A'), lab.about.parts[n]].filter((x) => x).join(': ');
  function panel(n) {
    const m = lab.makeMap(n), grid = lab.makeGrid(m, n), scale = legend();
    const list = lab.makeList(n), work = lab.makeWork(n), twin = lab.makeTwin(n), table = lab.makeTable(n);
    const title = el('h3', { class: 'panel-title' });
    const less = el('button', { type: 'button', 'aria-label': qkv.word('LAB_LESS', qkv.word('LAB_ZOOM')) }, '−');
    const more = el('button', { type: 'button', 'aria-label': qkv.word('LAB_MORE', qkv.word('LAB_ZOOM')) }, '+');
    less.addEventListener('click', () => m.zoomBy(-1));
    more.addEventListener('click', () => m.zoomBy(1));
    const zoom = el('span', { class: 'zoom', role: 'group', 'aria-label': qkv.word('LAB_ZOOM') }, less, more);
    const below = el('div', { class: 'map-below' }, axes(), zoom, scale.node);
    const caption = el('p', { class: 'small map-caption' });
    const mapBox = el('div', { class: 'map-box' }, m.box, below, caption);
    const node = el('div', { class: 'lab-panel' }, title, mapBox, table.node, work.node, twin.node);

    function draw(about, names) {
      qkv.show(title, about.compare);
      title.replaceChildren(...lab.math(lab.panelTitle(n)));
      qkv.show(mapBox, about.map);
      qkv.show(table.node, !about.map);
      qkv.show(twin.node, about.map);
      if (about.map) {
        m.draw(names.names, names.rows || names.names);
        grid.draw(about, names.names, names.rows || names.names);
        scale.draw(about);
        qkv.show(zoom, about.keys > 24 || about.rows > 24);
        qkv.put(caption, [about.caption, n ? '' : about.mask].filter((x) => x).join(' '));
        twin.draw(about, names.names, names.rows || names.names);
      } else table.draw(about);
      work.draw(about);
    }
    lab.maps[n] = m;
    return { node, draw, list };
  }

  const side = el('div', { class: 'lab-sides' });
  const listFor = lab.radios(qkv.word('LAB_LIST'), [['row', qkv.word('LAB_LIST_ROW')], ['column', qkv.word('LAB_LIST_COLUMN')]],
    () => lab.side, (value) => {
      lab.side = value;
      lab.draw();
    });
  const panels = [panel(0)];
  const main = el('div', { class: 'lab-main' }, panels[0].node);
  side.append(listFor.node, panels[0].list.node);
  const same = el('p', { class: 'small' }, qkv.word('LAB_SAME_YET'));
  main.prepend(same);
  const frame = el('div', { class: 'lab-frame' }, lab.controls, main, side);
  lab.body.append(frame);

  function titleOf(about) {
    return about.data === 'model' ? qkv.word('LAB_TITLE_MODEL')
      : about.data === 'file' ? qkv.word('LAB_TITLE_FILE') : qkv.word('LAB_TITLE_TOKENS');
  }

  let named = '', names = null;
  function namesOf(about) {
    const key = about.data === 'tokens' ? qkv.text : about.data + lab.version;
    if (named !== key || !names) {
      names = lab.ask('names', 0);
      named = key;
    }
    return names;
  }

  lab.part(null, (about) => {
    qkv.put(qkv.id('lab-title'), titleOf(about));
    about_.replaceChildren(...lab.math(about.about));
    if (about.compare && !panels[1]) {
      panels[1] = panel(1);
      main.append(panels[1].node);
      side.append(panels[1].list.node);
    }
    const known = namesOf(about);
    frame.classList.toggle('two', about.compare);
    frame.classList.toggle('one', !about.map && !about.compare);
    qkv.show(same, about.compare && about.changed === 0);
    qkv.show(side, about.map);
    qkv.show(listFor.node, about.map);
    listFor.draw(about);
    panels.forEach((p, n) => {
      const on = n === 0 || about.compare;
      qkv.show(p.node, on);
      qkv.show(p.list.node, on && about.map);
      if (!on) return;
      if (about.map) p.list.draw(about);
      p.draw(about, known);
    });
    lab.drawControls(about);
  });
  for (const part of [lab.heads, lab.numbers, lab.weights, lab.causal, lab.own]) lab.part(part.node, part.draw);

  let width = 0;
  window.addEventListener('resize', () => {
    if (width !== innerWidth) lab.draw();
    width = innerWidth;
  });
})(window.qkv);
