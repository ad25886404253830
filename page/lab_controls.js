// SPDX-License-Identifier: MIT
// lab_controls.js - the lab's controls: where the numbers come from, what is shown, and the choices of
// panel A or B. Each change goes through the state; what a control stands on is read back from it.
(function (qkv) {
  const lab = qkv.lab, el = qkv.el;
  const draws = [];

  const box = el('div', { class: 'lab-controls' });

  function add(control, when) {
    box.append(control.node);
    draws.push((about) => {
      const on = !when || when(about);
      qkv.show(control.node, on);
      if (on) control.draw(about);
    });
    return control;
  }

  const choice = (about) => (lab.panel ? about.b : about.a);
  const clamp = (x, least, most) => Math.max(least, Math.min(most, x));

  // ---- numbers ----
  add(lab.radios(qkv.word('LAB_DATA'), [['tokens', qkv.word('LAB_DATA_TOKENS')],
    ['model', qkv.word('LAB_DATA_MODEL')], ['file', qkv.word('LAB_DATA_FILE')]],
  (about) => about.data, (value) => {
    if (value === 'file' && !lab.files().length) {
      lab.draw();
      lab.openOwn();
      return;
    }
    lab.keyChosen = false;
    const items = { data: value };
    if (value !== 'tokens') Object.assign(items, { view: 'map', st: 3 });
    lab.set(items, 'data');
  }));
  add(lab.radios(qkv.word('LAB_LAYER'), [['0', '0'], ['3', '3']], (about) => String(about.layer),
    (layer) => lab.set({ layer }, 'layer')), (about) => about.data === 'model');
  add(lab.stepper(qkv.word('LAB_HEAD'), (about) => about.head_text, (by) => {
    const to = clamp(lab.about.head + by, 0, lab.about.heads - 1);
    lab.setHead(to);
  }, (about) => [about.head === 0, about.head === about.heads - 1]), (about) => about.heads > 1);
  add(lab.stepper(qkv.word('LAB_TOKENS'), (about) => about.rows_text, (by) => {
    const n = lab.about.rows + by;
    if (n >= 1 && n <= 16) lab.set({ n }, 'n');
  }, (about) => [about.rows <= 1, about.rows >= 16]), (about) => about.data === 'tokens');
  add(lab.stepper(qkv.word('LAB_CHANNELS'), (about) => about.dk_text, (by) => {
    const dk = lab.about.dk + by;
    if (dk >= 1 && dk <= 8) lab.set({ dk }, 'dk');
  }, (about) => [about.dk <= 1, about.dk >= 8]), (about) => about.data === 'tokens');

  lab.setHead = (to) => {
    if (to === lab.about.head) return;
    if (lab.about.data === 'model') lab.set({ head: to }, 'head');
    else {
      lab.head = to;
      lab.draw();
    }
  };

  // ---- what is shown ----
  add(lab.radios(qkv.word('LAB_SHOW'), [['table', qkv.word('LAB_SHOW_TABLE')], ['map', qkv.word('LAB_SHOW_MAP')]],
    (about) => (about.map ? 'map' : 'table'), (view) => lab.set({ view }, 'view')));
  const stages = [0, 1, 2, 3, 4].map((n) => [String(n),
    [qkv.word('STAGE_0'), qkv.word('STAGE_1'), qkv.word('STAGE_2'), qkv.word('STAGE_3'), qkv.word('STAGE_4')][n]]);
  const stage = add(lab.radios(qkv.word('LAB_STAGE'), stages,
    (about) => String(about.map ? clamp(about.stage, 1, 3) : about.stage), (st) => lab.set({ st }, 'stage')));
  draws.push((about) => [0, 4].forEach((n) => qkv.show(stage.labels[n], !about.map)));
  add(lab.stepper(qkv.word('LAB_FROM'), () => lab.rowName || '', (by) => {
    lab.keyChosen = false;
    lab.setRow(clamp(lab.row + by, 0, lab.about.rows - 1));
  }, (about) => [lab.row === 0, lab.row === about.rows - 1]));

  // ---- A and B ----
  add({
    node: el('fieldset', { class: 'lab-group' }, el('legend', {}, qkv.word('LAB_COMPARE'))),
    draw() {},
  });
  const compare = lab.check(qkv.word('LAB_COMPARE_ON'), (about) => about.compare, (on) => {
    lab.panel = on ? 1 : 0;
    const a = lab.about.a;
    // B begins as A: then the two differ only in what is changed
    const items = on ? { ab: 1, 'b.scale': a.scale === 'times' ? a.times : a.scale, 'b.T': a.T,
      'b.mask': maskText(a), 'b.wrong': a.wrong ? 1 : 0 } : { ab: 0 };
    lab.set(items, 'compare');
  });
  box.lastChild.append(el('div', { class: 'options' }, compare.node));
  draws.push(compare.draw);
  add(lab.radios(qkv.word('LAB_SET_FOR'), [['0', qkv.word('LAB_PANEL_A')], ['1', qkv.word('LAB_PANEL_B')]],
    () => String(lab.panel), (panel) => {
      lab.panel = panel === '1' ? 1 : 0;
      lab.draw();
    }), (about) => about.compare);

  function maskText(c) {
    if (c.mask === 'padding') return 'padding:' + c.padding;
    return c.mask === 'causal' && c.shift ? 'causal:' + c.shift : c.mask;
  }

  // ---- scale, mask, sharpness ----
  add(lab.radios(qkv.word('LAB_SCALE'), [['sqrt', qkv.word('LAB_SCALE_SQRT')], ['none', qkv.word('LAB_SCALE_NONE')],
    ['dk', qkv.word('LAB_SCALE_DK')], ['times', qkv.word('LAB_SCALE_TIMES')]],
  (about) => choice(about).scale, (value) => {
    lab.setChoice('scale', value === 'times' ? '1' : value);
    if (value === 'times') times.focus();
  }));
  const times = el('input', { type: 'text', id: 'lab-times', autocomplete: 'off', 'aria-describedby': 'lab-trouble' });
  times.addEventListener('change', () => {
    lab.setChoice('scale', times.value.trim() || '?');
    times.setAttribute('aria-invalid', !qkv.id('lab-trouble').hidden);
  });
  add({
    node: el('div', { class: 'lab-group lab-field' }, el('label', { for: 'lab-times' }, qkv.word('LAB_TIMES')), times),
    draw(about) {
      if (document.activeElement !== times) {
        times.value = choice(about).times;
        times.removeAttribute('aria-invalid');
      }
    },
  }, (about) => choice(about).scale === 'times');
  add(lab.radios(qkv.word('LAB_MASK'), [['none', qkv.word('LAB_MASK_NONE')], ['causal', qkv.word('LAB_MASK_CAUSAL')],
    ['padding', qkv.word('LAB_MASK_PADDING')]], (about) => choice(about).mask,
  (mask) => lab.setChoice('mask', mask === 'padding' ? 'padding:1' : mask)));
  add(lab.stepper(qkv.word('LAB_HIDDEN_LAST'), (about) => choice(about).padding_text, (by) => {
    const n = choice(lab.about).padding + by;
    if (n >= 0 && n <= lab.about.keys) lab.setChoice('mask', 'padding:' + n);
  }, (about) => [choice(about).padding === 0, choice(about).padding >= about.keys]),
  (about) => choice(about).mask === 'padding');
  const wrong = lab.check(qkv.word('LAB_WRONG'), (about) => choice(about).wrong,
    (on) => lab.setChoice('wrong', on ? 1 : 0));
  add({ node: el('div', { class: 'lab-group' }, wrong.node), draw: wrong.draw },
    (about) => choice(about).mask !== 'none');

  const slider = el('input', { type: 'range', id: 'lab-sharpness', min: 0, max: 9, step: 1 });
  const temperature = el('span', { class: 'value' });
  slider.addEventListener('input', () =>
    lab.setChoice('T', qkv.call('lab_stop', String(slider.value)), 'T'));
  add({
    node: el('div', { class: 'lab-group lab-slide' },
      el('label', { class: 'legend', for: 'lab-sharpness' }, qkv.word('SHARPNESS')),
      el('div', { class: 'options' }, el('span', { class: 'end' }, qkv.word('PICK')), slider,
        el('span', { class: 'end' }, qkv.word('BLEND')), temperature)),
    draw(about) {
      slider.value = choice(about).stop;
      slider.setAttribute('aria-valuetext', 'T = ' + choice(about).T);
      qkv.put(temperature, 'T = ' + choice(about).T);
    },
  });

  // ---- undo ----
  const undo = el('button', { type: 'button', class: 'link' }, qkv.word('LAB_UNDO'));
  const redo = el('button', { type: 'button', class: 'link' }, qkv.word('LAB_REDO'));
  undo.addEventListener('click', () => lab.trouble(qkv.history.undo()));
  redo.addEventListener('click', () => lab.trouble(qkv.history.redo()));
  const able = () => {
    const can = qkv.history.can();
    undo.setAttribute('aria-disabled', !can.undo);
    redo.setAttribute('aria-disabled', !can.redo);
  };
  qkv.history.listen(able);
  add({
    node: el('div', { class: 'lab-group', role: 'group', 'aria-label': qkv.word('LAB_EDITS') },
      el('span', { class: 'legend', 'aria-hidden': 'true' }, qkv.word('LAB_EDITS')),
      el('div', { class: 'options' }, undo, redo)),
    draw: able,
  });

  lab.controls = box;
  lab.drawControls = (about) => draws.forEach((draw) => draw(about));
})(window.qkv);
