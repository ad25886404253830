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

  Promise.all([qkv.load(), qkv.loadLab()]).then(() => {
    qkv.start();
    const made = JSON.parse(qkv.id('data').textContent);
    if (isPlace(location.hash.slice(1)) || (made.state && !location.hash))
      qkv.restore(made.state || '', 'open');
    if (location.hash || !made.state) open();
    if (made.tables) {
      qkv.lab.openBytes(new TextEncoder().encode(JSON.stringify(made.tables)), 'a');
      qkv.id('lab-title').scrollIntoView();
    }
    window.addEventListener('hashchange', open);
    document.documentElement.dataset.ready = '';
  }).catch((error) => {
    // No wasm, or no memory for it: the words and the lesson's numbers stand; nothing else would answer.
    for (const control of document.querySelectorAll('main :is(button, input, textarea)'))
      control.disabled = true;
    qkv.notice(qkv.word('NO_CORE'));
    document.documentElement.dataset.broken = String(error);
  });
})(window.qkv);
