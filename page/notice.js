// SPDX-License-Identifier: MIT
// notice.js - what a reader should know about the state: numbers that differ from the lesson's,
// matrices that no longer are X W, data that a link does not hold. One button back each.
(function (qkv) {
  const node = qkv.id('changed');

  function line(text, label, act) {
    const button = label
      ? qkv.el('button', { type: 'button', class: 'plain', onclick: act }, label) : null;
    return qkv.el('p', {}, text, ' ', button);
  }

  function draw() {
    const { changed, detached, fits, note } = qkv.about;
    const lines = [];
    if (changed) lines.push(line(qkv.word('STATE_CHANGED'), qkv.word('STATE_BACK'), () => {
      qkv.numbers();
      qkv.id('edit').focus();
    }));
    // all three given: there is no X behind them
    for (const letter of detached.length < 3 ? detached : [])
      lines.push(line(qkv.word('STATE_DETACHED', letter), qkv.word('STATE_RECONNECT', letter), () => {
        qkv.reconnect(letter);
        qkv.id('edit').focus();
      }));
    if (!fits) lines.push(line(qkv.word('STATE_NOT_IN_LINK')));
    const now = JSON.stringify([changed, detached, fits]);
    if (node.dataset.now !== now) node.replaceChildren(...lines);
    node.dataset.now = now;
    qkv.show(node, lines.length > 0);
    if (note) qkv.notice(note);
  }

  // A sentence at the head of the page: a link that was cut, or is newer than this page.
  qkv.notice = (text) => {
    qkv.put(qkv.id('notice'), text || '');
    qkv.show(qkv.id('notice'), !!text);
  };
  qkv.figure(null, draw);
})(window.qkv);
