// SPDX-License-Identifier: MIT
// state.js - what the reader chose: one text, read, changed and written by the C alone. Figures are
// functions that draw it; they run again after every act.
(function (qkv) {
  const figures = [], listeners = [], starts = [];
  let written = 0, waiting = 0;

  qkv.text = '';  // the whole state
  qkv.link = '';  // the part that a link holds
  qkv.about = {}; // stage, token, section, changed, detached ... as the C answered

  // draw(model): called after an act; model: a call that gives what it draws, null: none, then always.
  // node: what it draws in, so that what the reader sees comes first.
  qkv.figure = (model, draw, node) => figures.push({ model, draw, node, drawn: null });
  // f({before, after, what}): after every act, for undo.
  qkv.listen = (f) => listeners.push(f);

  // f(): once, when the core is there and what the script draws is not drawn yet.
  qkv.begin = (f) => starts.push(f);
  qkv.start = () => {
    for (const f of starts.splice(0)) f();
  };

  function seen(node) {
    if (!node) return true;
    const box = node.getBoundingClientRect();
    return box.bottom > -200 && box.top < innerHeight + 200;
  }

  // What did not change is not drawn again; what is off the screen is drawn in the next task.
  function drawAll(list, answers) {
    for (const figure of list) {
      const name = figure.model;
      if (!name) {
        figure.draw(null);
        continue;
      }
      if (!(name in answers)) answers[name] = qkv.call(name, qkv.text);
      if (figure.drawn === answers[name]) continue;
      figure.drawn = answers[name];
      figure.draw(JSON.parse(answers[name]));
    }
  }

  let later = 0;
  qkv.refresh = (whole) => {
    if (whole) for (const figure of figures) figure.drawn = null;
    const now = figures.filter((x) => seen(x.node));
    drawAll(now, {});
    clearTimeout(later);
    later = setTimeout(() => drawAll(figures.filter((x) => x.model && !now.includes(x)), {}), 0);
  };

  function address() {
    waiting = 0;
    written = Date.now();
    history.replaceState(history.state, '', '#' + qkv.link);
  }

  // At most once in 300 ms: browsers refuse more.
  function writeAddress() {
    if (waiting) return;
    waiting = setTimeout(address, Math.max(0, 300 - (Date.now() - written)));
  }

  function take(answer, what, quiet) {
    if (answer.error) return answer.error;
    const before = qkv.text, link = qkv.link;
    qkv.text = answer.state;
    qkv.link = answer.link;
    qkv.about = answer;
    qkv.refresh();
    if (!quiet && link !== qkv.link) writeAddress();
    if (!quiet && before !== qkv.text) {
      for (const f of listeners) f({ before, after: qkv.text, what });
    }
    return null;
  }

  // Each returns null, or a sentence that says what is wrong; then nothing has changed.
  // connect: letters of Q, K, V that come from X and W again, in the same act.
  qkv.set = (items, what, connect) => {
    let request = connect ? qkv.model('reconnect', qkv.text + '\n' + connect).state : qkv.text;
    for (const key in items) request += '\n' + key + '\n' + items[key];
    return take(qkv.model('set', request), what || 'set');
  };
  qkv.edit = (letter, row, column, typed) =>
    take(qkv.model('edit', [qkv.text, letter, row, column, typed].join('\n')), 'edit');
  qkv.reconnect = (letters) =>
    take(qkv.model('reconnect', qkv.text + '\n' + letters), 'reconnect');
  qkv.numbers = () => take(qkv.model('numbers', qkv.text), 'numbers');
  // A state from elsewhere: a link, undo.
  qkv.restore = (text, what) => take(qkv.model('state', text), what || 'restore', what === 'open');

  // One message an act, read aloud when the reader is done with the key.
  qkv.say = (text) => qkv.put(qkv.id('live'), text);
})(window.qkv);
