// SPDX-License-Identifier: MIT
// start.js - last: loads the core, opens the state that the address holds, and says when all is there.
(function (qkv) {
  function isPlace(fragment) {
    return /^[a-z][a-z0-9-]*$/.test(fragment) && document.getElementById(fragment) !== null;
  }

  // A fragment that is an element's id scrolls and leaves the state alone. Two sections lie in one grid
  // and have no box of their own: then their title is the place.
  function open() {
    const fragment = location.hash.slice(1);
    if (isPlace(fragment)) {
      const place = document.getElementById(fragment), title = place.querySelector('.place, h2');
      (place.getClientRects().length || !title ? place : title).scrollIntoView();
      return;
    }
    qkv.notice('');
    const trouble = qkv.restore(fragment, 'open');
    if (trouble) {
      if (!qkv.text) qkv.restore('', 'open');
      qkv.notice(trouble);
    }
  }

  function broken(error) {
    // No wasm, or no memory for it: the words and the lesson's numbers stand; nothing else would answer.
    for (const control of document.querySelectorAll('main :is(button, input, textarea)'))
      control.disabled = true;
    qkv.notice(qkv.word('NO_CORE'));
    document.documentElement.dataset.broken = String(error);
  }

  // The lab's scripts come when the lesson can be used and the browser rests; at once where a state
  // shows the lab.
  const rest = window.requestIdleCallback || ((f) => setTimeout(f, 1));
  let goOn;
  qkv.whole = new Promise((done) => { goOn = done; }).then(() => qkv.run('lab-script')).then(() => {
    qkv.start();
    qkv.refresh();
    document.documentElement.dataset.whole = '';
  });
  qkv.whole.catch(broken);

  const made = JSON.parse(qkv.id('data').textContent);
  Promise.all([qkv.load(), qkv.run('figures-script')]).then(() => {
    qkv.start();
    if (isPlace(location.hash.slice(1)) || (made.state && !location.hash))
      qkv.restore(made.state || '', 'open');
    if (location.hash || !made.state) open();
    window.addEventListener('hashchange', open);
    const lab = made.tables || qkv.about.section === 'lab' || location.hash === '#lab';
    if (lab) goOn();
    else rest(goOn, { timeout: 300 });
    return lab ? qkv.whole : null;
  }).then(() => {
    if (made.tables) {
      qkv.lab.openBytes(new TextEncoder().encode(JSON.stringify(made.tables)), 'a');
      qkv.id('lab-title').scrollIntoView();
    }
    document.documentElement.dataset.ready = '';
  }).catch(broken);
})(window.qkv);
