// SPDX-License-Identifier: MIT
// recall.js - write it down from memory, hints, point-by-point check; cards that come back. The text
// lives in the history entry. Dates are kept in the browser only after the reader asked for it.
(function (qkv) {
  const STORE = 'qkv-recall', text = qkv.id('recall-text'), points = qkv.id('points');
  const HINTS = ['HINT_1', 'HINT_2', 'HINT_3', 'HINT_4', 'HINT_5'];
  let plan = '', cards = [], due = [], asked = [];

  const today = () => Math.floor((Date.now() - new Date().getTimezoneOffset() * 60000) / 86400000);

  function stored(value) {
    try {
      if (value === undefined) return localStorage.getItem(STORE);
      if (value === null) localStorage.removeItem(STORE);
      else localStorage.setItem(STORE, value);
    } catch (error) { /* a browser may refuse: then nothing is kept */ }
    return null;
  }

  function hint(n) {
    for (const list = qkv.id('hints'); list.children.length < n;)
      list.append(qkv.el('li', {}, qkv.word(HINTS[list.children.length])));
    qkv.id('hint').disabled = n === HINTS.length;
  }

  function score() {
    const boxes = [...points.querySelectorAll('input')];
    const said = qkv.word('RECALL_SCORE', boxes.filter((x) => x.checked).length, boxes.length);
    qkv.put(qkv.id('points-score'), said);
    return said;
  }

  function compare(open) {
    qkv.show(points, open);
    qkv.id('compare').setAttribute('aria-expanded', String(open));
    if (open) score();
  }

  // ---- cards
  function drawCard(turned) {
    const left = due.filter((x) => !asked.includes(x)), card = left.length ? left[0] : due[0];
    const none = card === undefined;
    qkv.put(qkv.id('cards-due'), none ? qkv.word('RECALL_NONE_DUE')
      : due.length === 1 ? qkv.word('RECALL_DUE_ONE') : qkv.word('RECALL_DUE', due.length));
    qkv.put(qkv.id('card-front'), none ? '' : cards[card][0]);
    qkv.put(qkv.id('card-back'), none ? '' : cards[card][1]);
    qkv.show(qkv.id('card-back'), turned && !none);
    qkv.show(qkv.id('card-show'), !turned && !none);
    qkv.show(qkv.id('card-knew'), turned && !none);
    qkv.show(qkv.id('card-forgot'), turned && !none);
    return card;
  }

  function take(answer) {
    plan = answer.plan;
    due = answer.due;
    if (qkv.id('opt-in').checked) stored(plan);
  }

  function answer(knew) {
    const card = drawCard(true);
    const back = qkv.model('recall_answer', [plan, today(), card, knew].join('\n'));
    asked = asked.filter((x) => x !== card).concat(card);
    take(back);
    if (due.every((x) => asked.includes(x))) asked = [];
    qkv.put(qkv.id('card-says'), back.says);
    qkv.show(qkv.id('card-says'), true);
    drawCard(false);
    qkv.id(due.length ? 'card-show' : 'opt-in').focus();
    qkv.say(back.says);
  }

  // asking the browser for what is kept takes longer than all the rest
  qkv.whole.then(() => {
    text.value = qkv.kept('recall') || text.value;
    hint(qkv.kept('hints') || 0);
    const ticked = qkv.kept('points') || [];
    for (const box of points.querySelectorAll('input')) box.checked = ticked.includes(box.value);
    compare(ticked.length > 0);
    const old = stored();
    qkv.id('opt-in').checked = old !== null;
    const opened = qkv.model('recall', (old || '').replace(/\n/g, '') + '\n' + today());
    cards = opened.cards;
    take(opened);
    drawCard(false);
  });

  text.addEventListener('input', () => qkv.keep('recall', text.value));
  qkv.id('hint').addEventListener('click', () => {
    const n = qkv.id('hints').children.length + 1;
    hint(n);
    qkv.keep('hints', n);
    qkv.say(qkv.word(HINTS[n - 1]));
  });
  qkv.id('compare').addEventListener('click', () => compare(points.hidden));
  points.addEventListener('change', () => {
    qkv.keep('points', [...points.querySelectorAll(':checked')].map((x) => x.value));
    qkv.say(score());
  });
  qkv.id('card-show').addEventListener('click', () => {
    drawCard(true);
    qkv.id('card-knew').focus();
    qkv.say(qkv.id('card-back').textContent);
  });
  qkv.id('card-knew').addEventListener('click', () => answer(1));
  qkv.id('card-forgot').addEventListener('click', () => answer(0));
  qkv.id('opt-in').addEventListener('change', (event) => stored(event.target.checked ? plan : null));
  qkv.id('anki').addEventListener('click', () =>
    qkv.whole.then(() => qkv.save('qkv-cards', 'txt', qkv.call('anki', ''), qkv.id('anki')))
      .then((said) => said && qkv.say(said)));
})(window.qkv);
