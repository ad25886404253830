// SPDX-License-Identifier: MIT
// dom.js - making and changing elements. Text from outside becomes a text node, never markup.
(function (qkv) {
  const SVG = 'http://www.w3.org/2000/svg';

  function fill(node, attributes, children) {
    for (const name in attributes || {}) {
      const value = attributes[name];
      if (value === false || value === null || value === undefined) continue;
      if (name.startsWith('on')) node.addEventListener(name.slice(2), value);
      else node.setAttribute(name, value === true ? '' : value);
    }
    for (const child of children) if (child !== null && child !== undefined) node.append(child);
    return node;
  }

  qkv.el = (tag, attributes, ...children) =>
    fill(document.createElement(tag), attributes, children);
  qkv.svg = (tag, attributes, ...children) =>
    fill(document.createElementNS(SVG, tag), attributes, children);
  qkv.id = (id) => document.getElementById(id);
  // Changes text only where it differs, so that nothing is read aloud twice.
  qkv.put = (node, text) => {
    const now = text === undefined || text === null ? '' : text;
    if (node.textContent !== now) node.textContent = now;
  };
  qkv.show = (node, yes) => {
    node.hidden = !yes;
  };

  // Shows a read-only text and copies it; where the browser refuses, it is selected and that is said.
  qkv.copy = (box, note) => {
    qkv.show(box, true);
    const done = (word) => {
      qkv.put(note, qkv.word(word));
      qkv.show(note, true);
      qkv.say(qkv.word(word));
    };
    const byHand = () => {
      box.focus();
      box.select();
      done('COPY_BY_HAND');
    };
    if (!navigator.clipboard) byHand();
    else navigator.clipboard.writeText(box.value).then(() => done('COPIED'), byHand);
  };

  // A root over a radicand, as wide and as high as what it covers; the sign stays a letter for whoever
  // hears or copies it.
  qkv.root = (...radicand) => qkv.el('span', { class: 'root' },
    qkv.svg('svg', { viewBox: '0 0 9 20', preserveAspectRatio: 'none', 'aria-hidden': 'true' },
      qkv.svg('path', { d: 'M.5 12 2.5 11 5.5 19 8.6 .6' })),
    qkv.el('span', { class: 'unseen' }, '√'), qkv.el('span', { class: 'under' }, ...radicand));

  // Pieces {t, r}: a worked line with its operands in their roles; ^ and √ become what they are.
  qkv.pieces = (node, list, label) => {
    const parts = label ? [qkv.el('b', { class: 'label' }, label), ' '] : [];
    for (const piece of list) {
      const into = piece.r ? qkv.el('span', { class: piece.r }) : document.createDocumentFragment();
      for (const bit of piece.t.split(/(√(?:[0-9.]+|dₖ)|e\^\([^)]*\)\)?|e\^−?[0-9.]+(?:e−?[0-9]+)?)/)) {
        if (bit.startsWith('√')) into.append(qkv.root(bit.slice(1)));
        else if (bit.startsWith('e^')) {
          const power = bit[2] === '(' ? bit.slice(3, -1) : bit.slice(2);
          into.append('e', qkv.el('sup', {}, power));
        } else if (bit) into.append(bit);
      }
      parts.push(into);
    }
    node.replaceChildren(...parts);
  };
})(window.qkv);
