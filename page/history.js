// SPDX-License-Identifier: MIT
// history.js - undo and redo of fifty edits: numbers, names, choices and the tables that were opened.
// Walking through the lesson (stage, token, section, what is focused) is no edit. A slider that is
// dragged is one edit.
(function (qkv) {
  const MOST = 50, TOGETHER = 700; // ms between acts of one drag
  const DRAGS = new Set(['T', 'sharpness', 'blend', 'channels']);
  const WALK = new Set(['sec', 'st', 't', 'f', 'mrow', 'view', 'prow', 'pcol', 'proj', 'code', 'qq', 'z']);
  const past = [], future = [], listeners = [];
  let lastWhat = '', lastTime = 0;

  const part = (text, walk) =>
    text.split('&').filter((item) => item && WALK.has(item.split('=')[0]) === walk);
  const edits = (text) => part(text, false).join('&');

  // The numbers of that time, read where the reader stands now; all as it was where that is no state.
  function back(text) {
    const items = part(text, false), version = qkv.text.split('&')[0];
    const here = part(qkv.text, true).filter((item) => item !== 'z');
    if (!items.length && here.length) items.push(version);
    const trouble = qkv.restore([...items, ...here, 'z'].join('&'), 'undo');
    return trouble ? qkv.restore(text, 'undo') : null;
  }
  const tell = () => listeners.forEach((f) => f());

  function note(before, what) {
    const now = Date.now();
    const together = DRAGS.has(what) && what === lastWhat && now - lastTime < TOGETHER;
    lastWhat = what;
    lastTime = now;
    if (together && past.length) return;
    past.push(before);
    if (past.length > MOST) past.shift();
    future.length = 0;
    tell();
  }

  function step(from, to, word) {
    if (!from.length) return null;
    const now = { text: qkv.text, files: qkv.history.files }, goal = from.pop();
    to.push(now);
    lastWhat = '';
    qkv.history.load(goal.files);
    const trouble = back(goal.text);
    if (goal.files !== now.files) qkv.history.show();
    tell();
    if (!trouble) qkv.say(word(from.length));
    return trouble;
  }

  qkv.history = {
    files: [], // the opened tables, as they were read; the lab sets them and can load them again
    load() {},
    show() {},
    // For edits that are no part of the state: a table was opened.
    note: (files, what) => note({ text: qkv.text, files }, what),
    undo: () => step(past, future, (n) => qkv.word('LAB_UNDONE', n)),
    redo: () => step(future, past, (n) => qkv.word('LAB_REDONE', n)),
    can: () => ({ undo: past.length, redo: future.length }),
    listen: (f) => listeners.push(f),
  };

  // The usual keys, where no text field has an undo of its own.
  document.addEventListener('keydown', (event) => {
    const key = event.key.toLowerCase(), far = event.ctrlKey || event.metaKey;
    if (!far || event.altKey || (key !== 'z' && key !== 'y')) return;
    if (event.target.closest && event.target.closest('input[type=text], textarea')) return;
    event.preventDefault();
    if (key === 'z' && !event.shiftKey) qkv.history.undo();
    else qkv.history.redo();
  });

  qkv.listen(({ before, after, what }) => {
    if (what === 'undo' || what === 'open' || edits(before) === edits(after)) return;
    note({ text: before, files: qkv.history.files }, what);
  });
})(window.qkv);
