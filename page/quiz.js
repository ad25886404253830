// SPDX-License-Identifier: MIT
// quiz.js - the eight generated questions, one at a time. The seed and the place are in the state;
// which option was chosen is kept with the history entry.
(function (qkv) {
  const FIRST = 2, LAST = 9;
  let shown = '';

  function draw() {
    const { quiz_seed: seed, quiz_question: at } = qkv.about;
    const number = Math.max(FIRST, at), name = 'quiz-' + seed + '-' + number;
    qkv.put(qkv.id('quiz-place'), qkv.word('QUIZ_NUMBER', number - FIRST + 1, LAST - FIRST + 1));
    qkv.show(qkv.id('quiz-next'), number < LAST);
    qkv.show(qkv.id('quiz-again'), number === LAST);
    if (shown === name) return;
    shown = name;
    const model = qkv.model('question', number + '\n' + seed);
    const fieldset = qkv.makeQuestion(model, name);
    const restore = qkv.question(fieldset, model, (n) => qkv.keep(name, n));
    qkv.id('quiz-question').replaceChildren(fieldset);
    if (qkv.kept(name) !== undefined) restore(qkv.kept(name));
  }

  function go(items) {
    qkv.set(items, 'quiz');
    qkv.say(qkv.id('quiz-place').textContent);
  }
  qkv.id('quiz-next').addEventListener('click', () =>
    go({ qq: Math.max(FIRST, qkv.about.quiz_question) + 1 }));
  qkv.id('quiz-again').addEventListener('click', () =>
    go({ qq: FIRST, qs: (qkv.about.quiz_seed + 1) % 4294967296 }));
  qkv.figure(null, draw);
})(window.qkv);
