// SPDX-License-Identifier: MIT
// start.js - last: loads the core, opens the state that the address holds, and says when all is there.
(function (qkv) {
  function isPlace(fragment) {
    return /^[a-z][a-z0-9-]*$/.test(fragment) && document.getElementById(fragment) !== null;
  }

  // A fragment that is an element's id scrolls and leaves the state alone.
  function open() {
    const fragment = location.hash.slice(1);
    if (isPlace(fragment)) return;
    qkv.notice('');
    const trouble = qkv.restore(fragment, 'open');
    if (trouble) {
      if (!qkv.text) qkv.restore('', 'open');
      qkv.notice(trouble);
    }
  }

  Promise.all([qkv.load(), qkv.loadLab()]).then(() => {
    qkv.start();
    if (isPlace(location.hash.slice(1))) qkv.restore('', 'open');
    else open();
    window.addEventListener('hashchange', open);
    document.documentElement.dataset.ready = '';
  });
})(window.qkv);
