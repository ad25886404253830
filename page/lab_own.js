// SPDX-License-Identifier: MIT
// lab_own.js - tables of the reader's own: pasted, or opened from a file. The bytes go to the C, which
// reads them in slices; a sentence says what was read or which row and column cannot be. The last
// good tables stay until new ones are whole.
(function (qkv) {
  const lab = qkv.lab, el = qkv.el;
  const FIELDS = 2000, SLICE = 6;
  const text = el('textarea', { id: 'lab-text', rows: 6, spellcheck: 'false', autocomplete: 'off',
    'aria-describedby': 'lab-own-trouble' });
  const file = el('input', { type: 'file', id: 'lab-file', accept: '.csv,.tsv,.txt,.json,.npy' });
  const read = el('button', { type: 'button' }, qkv.word('LAB_OWN_READ'));
  const drop = el('button', { type: 'button', class: 'link' }, qkv.word('LAB_OWN_DROP'));
  const trouble = el('p', { class: 'trouble', id: 'lab-own-trouble', role: 'alert', hidden: true });
  const state = el('p', { class: 'small' });
  let target = 'a', running = 0;

  const target_ = lab.radios(qkv.word('LAB_OWN_FOR'), [['a', qkv.word('LAB_OWN_ALL')], ['q', qkv.word('LAB_OWN_Q')],
    ['k', qkv.word('LAB_OWN_K')], ['v', qkv.word('LAB_OWN_V')]], () => target, (value) => { target = value; });
  const node = el('details', { class: 'lab-part', id: 'lab-own' }, el('summary', {}, qkv.word('LAB_OWN_TITLE')),
    el('p', { class: 'prose-note' }, qkv.word('LAB_OWN_INTRO')), target_.node,
    el('label', { for: 'lab-text', class: 'legend' }, qkv.word('LAB_OWN_TEXT')), text, trouble,
    el('div', { class: 'lab-row' }, read, el('label', { for: 'lab-file', class: 'file' }, qkv.word('LAB_OWN_FILE')), file, drop),
    state);

  lab.version = 0;
  lab.files = () => qkv.history.files;

  function refuse(sentence) {
    qkv.put(trouble, sentence || '');
    qkv.show(trouble, !!sentence);
    if (sentence) text.setAttribute('aria-invalid', 'true');
    else text.removeAttribute('aria-invalid');
  }

  const parts = ['q', 'k', 'v'];
  const label = (i) => [qkv.word('LAB_OWN_Q'), qkv.word('LAB_OWN_K'), qkv.word('LAB_OWN_V')][i];

  function have(taken) {
    const one = (i) => qkv.word(!taken.rows[i] ? 'LAB_OWN_MISSING' : taken.rows[i] === 1 ? 'LAB_OWN_HAVE_ONE'
      : 'LAB_OWN_HAVE', label(i), taken.rows_text[i], taken.columns_text[i]);
    const lines = parts.map((p, i) => one(i));
    return [taken.header ? qkv.word('LAB_OWN_HEADER') : '', ...lines].join(' ').trim();
  }

  // One table, in one go: undo loads what was read once before.
  function again(one) {
    let answer = qkv.model('lab_read', '', one.bytes);
    while (!answer.error && !answer.done) answer = qkv.model('lab_more', '1000000');
    return answer.error ? answer : qkv.model('lab_take', one.target);
  }
  qkv.history.load = (files) => {
    if (files === qkv.history.files) return;
    qkv.call('lab_drop', '');
    files.forEach(again);
    qkv.history.files = files;
    lab.version++;
  };

  qkv.history.show = () => lab.draw();

  function take(bytes, into) {
    const before = qkv.history.files;
    const taken = qkv.model('lab_take', into);
    if (taken.error) {
      refuse(taken.error);
      qkv.put(state, '');
      return;
    }
    qkv.history.note(before, 'file');
    const kept = into === 'a' && taken.rows.every((n) => n > 0) ? [] : before;
    qkv.history.files = [...kept, { target: into, bytes }];
    lab.version++;
    lab.head = 0;
    lab.row = lab.key = 0;
    qkv.put(state, have(taken) + ' ' + qkv.word('STATE_NOT_IN_LINK'));
    qkv.say(state.textContent);
    if (taken.rows.every((n) => n > 0)) {
      const same = qkv.about && lab.about && lab.about.data === 'file';
      lab.set({ data: 'file', view: 'map', st: 3 }, 'open');
      if (same) {
        qkv.restore(qkv.text, 'file'); // the link says how large the table is
        lab.draw();
      }
    }
  }

  // Reads in slices, so that a large table never holds the page up.
  function start(bytes, into) {
    const mine = ++running;
    refuse('');
    let answer = qkv.model('lab_read', '', bytes);
    function on() {
      if (mine !== running) return;
      const until = performance.now() + SLICE;
      while (!answer.error && !answer.done && performance.now() < until)
        answer = qkv.model('lab_more', String(FIELDS));
      if (answer.error) {
        refuse(answer.error);
        qkv.put(state, '');
      } else if (answer.done) take(bytes, into);
      else {
        qkv.put(state, qkv.word('LAB_OWN_PERCENT', answer.percent));
        setTimeout(on, 0);
      }
    }
    on();
  }
  // From elsewhere: the page may be made with tables of its own.
  lab.openBytes = (bytes, into) => start(bytes, into || 'a');

  read.addEventListener('click', () => start(new TextEncoder().encode(text.value), target));
  file.addEventListener('change', async () => {
    const one = file.files[0];
    if (!one) return;
    try {
      start(new Uint8Array(await one.arrayBuffer()), target);
    } catch (e) {
      refuse(qkv.word('LAB_OWN_UNREADABLE'));
    }
    file.value = '';
  });
  drop.addEventListener('click', () => {
    const before = qkv.history.files;
    if (!before.length) return;
    qkv.history.note(before, 'drop');
    qkv.call('lab_drop', '');
    qkv.history.files = [];
    lab.version++;
    qkv.put(state, '');
    lab.set({ data: 'tokens' }, 'open');
    lab.draw();
  });

  lab.openOwn = () => {
    node.open = true;
    node.scrollIntoView({ block: 'nearest' });
    text.focus();
  };
  lab.own = { node, draw: (about) => target_.draw(about) };
})(window.qkv);
