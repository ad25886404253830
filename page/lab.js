// SPDX-License-Identifier: MIT
// lab.js - the lab's frame: what is looked at (head, row, key, panel), and the order in which its
// parts are drawn. All choices live in the state; what is no part of one (the row of an opened
// table) lives here. Parts are drawn only while the lab can be seen.
(function (qkv) {
  const body = qkv.id('lab-body');
  const parts = [];
  let seen = false, near = false, due = false, drawn = '', model = null;

  const lab = (qkv.lab = {
    about: null, // what lab_about said
    row: 0, head: 0, key: 0,
    keyChosen: false, // or the strongest key of the row
    side: 'row', // what the list beside the map shows: a row or a column
    panel: 0,    // whom the controls change: A or B
    body,
  });

  // draw(about): after every act. Parts stand in the order in which they were added.
  lab.part = (node, draw) => {
    parts.push(draw);
    if (node) body.append(node);
    return node;
  };

  const head = () => (lab.about && lab.about.data === 'model' ? lab.about.head : lab.head);
  lab.request = (panel, ...more) => [qkv.text, panel, head(), lab.row, ...more].join('\n');
  // A call of the C about a panel, the head and the row.
  lab.ask = (name, panel, ...more) => qkv.model('lab_' + name, lab.request(panel, ...more));
  lab.values = (panel, begin, end) => {
    const bytes = qkv.bytes('lab_values', lab.request(panel, begin, end));
    const right = bytes.length === (end - begin) * lab.about.keys * 4;
    return right ? new Float32Array(bytes.buffer) : null; // else it is a sentence
  };

  // The real model's tensors go to the C once, when they are first looked at.
  lab.needModel = () => {
    if (model) return;
    model = true;
    qkv.call('lab_model', '', qkv.bytesOf('model'));
  };

  lab.trouble = (sentence) => {
    const place = qkv.id('lab-trouble');
    qkv.put(place, sentence || '');
    qkv.show(place, !!sentence);
  };

  // An act of the lab: items of the state, for the panel that is being changed.
  lab.set = (items, what) => lab.trouble(qkv.set(items, what));
  lab.setChoice = (key, value, what) => lab.set({ [(lab.panel ? 'b.' : '') + key]: value }, what || key);

  lab.setRow = (row) => {
    if (row === lab.row) return;
    const data = lab.about.data;
    lab.row = row;
    if (data === 'tokens') lab.set({ t: '@' + row, f: '' }, 'token');
    else if (data === 'model') lab.set({ mrow: row }, 'token');
    else lab.draw();
  };

  function readAbout() {
    if (/(^|&)data=model(&|$)/.test(qkv.text)) lab.needModel();
    let about = lab.ask('about', 0);
    if (about.error) {
      lab.trouble(about.error);
      qkv.set({ data: 'tokens' }, 'open');
      about = lab.ask('about', 0);
    }
    if (about.data !== 'file') lab.row = about.row;
    lab.row = Math.min(lab.row, about.rows - 1);
    lab.key = Math.min(lab.key, about.keys - 1);
    lab.about = about;
    if (!lab.keyChosen) lab.key = Math.max(0, lab.ask('row', 0).best);
    if (!about.compare) lab.panel = 0;
  }

  lab.draw = () => {
    due = !near; // out of sight: when it comes back
    if (!seen || !near) return;
    readAbout();
    for (const draw of parts) draw(lab.about);
  };

  lab.open = () => {
    seen = near = true;
    qkv.show(qkv.id('lab'), true);
    qkv.show(body, true);
    lab.draw();
  };

  // Drawn only while someone is near: reading the lesson must not pay for it.
  function watch() {
    new IntersectionObserver((entries) => {
      near = entries[entries.length - 1].isIntersecting;
      if (near && !seen) lab.open();
      else if (near && due) lab.draw();
    }, { rootMargin: '400px' }).observe(qkv.id('lab'));
  }

  lab.start = () => {
    qkv.show(qkv.id('lab'), true);
    qkv.show(body, seen);
    watch();
  };

  document.addEventListener('click', (event) => {
    const link = event.target.closest && event.target.closest('a[href="#lab"]');
    if (!link || !qkv.ready) return;
    event.preventDefault();
    qkv.set({ sec: 'lab' }, 'lab');
    lab.open();
    const title = qkv.id('lab-title');
    title.scrollIntoView();
    title.focus({ preventScroll: true });
  });

  let started = false;
  qkv.figure(null, () => {
    if (!started) {
      started = true;
      lab.start();
      if (qkv.about.section === 'lab' || location.hash === '#lab') {
        lab.open();
        qkv.id('lab').scrollIntoView();
      }
    } else if (drawn !== qkv.text) lab.draw();
    drawn = qkv.text;
  });
})(window.qkv);
