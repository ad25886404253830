// SPDX-License-Identifier: MIT
// export.js - files out of the page: text and pictures that the C wrote, or a canvas, offered to the
// browser as a download. What the browser refuses is shown as text to copy, and said in words.
(function (qkv) {
  const TYPES = {
    svg: 'image/svg+xml', png: 'image/png', csv: 'text/csv', json: 'application/json', txt: 'text/plain',
  };

  function download(name, blob) {
    const address = URL.createObjectURL(blob);
    const link = qkv.el('a', { href: address, download: name, hidden: true });
    document.body.append(link);
    link.click();
    link.remove();
    setTimeout(() => URL.revokeObjectURL(address), 60000);
  }

  // A visible text box that the reader can copy from, below `place`.
  function asText(place, text) {
    let box = place.parentNode.querySelector('.file-text');
    if (!box) {
      box = qkv.el('textarea', { class: 'file-text', readonly: true, rows: 8,
        'aria-label': qkv.word('LAB_SAVE_TEXT') });
      place.after(box);
    }
    box.value = text;
    box.focus();
    box.select();
  }

  // An SVG as a canvas, twice as fine; the promise fails where the browser cannot draw it.
  function drawn(svg) {
    return new Promise((done, failed) => {
      const image = new Image();
      image.onload = () => {
        const canvas = qkv.el('canvas', {});
        canvas.width = image.width * 2;
        canvas.height = image.height * 2;
        const pen = canvas.getContext('2d');
        pen.scale(2, 2);
        pen.drawImage(image, 0, 0, image.width, image.height);
        done(canvas);
      };
      image.onerror = failed;
      image.src = 'data:image/svg+xml;charset=utf-8,' + encodeURIComponent(svg);
    });
  }

  function png(canvas) {
    return new Promise((done, failed) =>
      canvas.toBlob((blob) => (blob ? done(blob) : failed()), TYPES.png));
  }

  // ---- what is drawn in the page, as an SVG: texts, bars, rules and maps where they stand ----

  const SVG = 'http://www.w3.org/2000/svg';

  function texts(node, put) {
    const walk = document.createTreeWalker(node, NodeFilter.SHOW_TEXT), range = document.createRange();
    for (let at = walk.nextNode(); at; at = walk.nextNode()) {
      const style = getComputedStyle(at.parentElement);
      if (!at.data.trim() || style.visibility !== 'visible' || at.parentElement.closest('.unseen')) continue;
      // a text that is broken gives one element a line
      let from = 0, top = null;
      for (let n = 0; n <= at.length; n++) {
        range.setStart(at, Math.min(n, at.length - 1));
        range.setEnd(at, Math.min(n + 1, at.length));
        const place = range.getBoundingClientRect(), here = n < at.length ? place.top : null;
        if (top !== null && here !== top && n > from) {
          range.setStart(at, from);
          range.setEnd(at, n);
          const line = range.getBoundingClientRect(), size = line.height * 0.8;
          if (line.width > 0) put(line, at.data.slice(from, n).trim(), style, line.top + (line.height + size * 0.7) / 2);
          from = n;
        }
        top = here;
      }
    }
  }

  // An SVG of a part of the page in the colours that it has now. Text is escaped by the serializer.
  qkv.pictureOf = (node, title) => {
    const box = node.getBoundingClientRect(), edge = 16;
    const width = Math.ceil(box.width) + 2 * edge, height = Math.ceil(box.height) + 2 * edge;
    const out = document.createElementNS(SVG, 'svg');
    const make = (tag, attributes, text) => {
      const one = document.createElementNS(SVG, tag);
      for (const name in attributes) one.setAttribute(name, attributes[name]);
      if (text !== undefined) one.textContent = text;
      out.append(one);
    };
    const x = (left) => Math.round((left - box.left + edge) * 100) / 100;
    const y = (top) => Math.round((top - box.top + edge) * 100) / 100;
    for (const [name, value] of [['width', width], ['height', height], ['viewBox', `0 0 ${width} ${height}`]])
      out.setAttribute(name, value);
    make('title', {}, title);
    make('rect', { width, height, fill: getComputedStyle(document.body).backgroundColor });
    for (const cell of node.querySelectorAll('th, td')) {
      const style = getComputedStyle(cell), place = cell.getBoundingClientRect();
      if (style.borderBottomStyle === 'solid' && place.width > 0)
        make('rect', { x: x(place.left), y: y(place.bottom - 1), width: place.width, height: 1, fill: style.borderBottomColor });
    }
    for (const canvas of node.querySelectorAll('canvas')) {
      const place = canvas.getBoundingClientRect();
      make('image', { x: x(place.left), y: y(place.top), width: place.width, height: place.height,
        href: canvas.toDataURL('image/png') });
    }
    texts(node, (place, text, style, base) => make('text', { x: x(place.left), y: y(base), fill: style.color,
      'font-size': style.fontSize, 'font-weight': style.fontWeight, 'font-family': style.fontFamily,
      'font-style': style.fontStyle, textLength: place.width, lengthAdjust: 'spacingAndGlyphs' }, text));
    return new XMLSerializer().serializeToString(out);
  };

  // Rows of texts by RFC 4180; what a spreadsheet would take for a formula gets an apostrophe. A
  // number keeps its digits and is never one; its minus becomes that of a keyboard.
  qkv.csvOf = (rows) => rows.map((row) => row.map((cell) => {
    const number = /^[\u2212-]?[0-9]+(\.[0-9]+)?(e[+-]?[0-9]+)?$/.test(cell);
    const text = number ? cell.replace('\u2212', '-') : /^[=+\-@\t\r]/.test(cell) ? "'" + cell : cell;
    return /[",\r\n ]/.test(text) || text === '' ? '"' + text.replace(/"/g, '""') + '"' : text;
  }).join(',')).join('\r\n') + '\r\n';

  // Four buttons that save one view: written(kind) gives the text of a file, or {error}.
  qkv.saveRow = (name, written, pick) => {
    const said = qkv.el('p', { class: 'small' });
    const buttons = qkv.el('div', { class: 'options save' });
    const row = qkv.el('div', { class: 'lab-group save-row', role: 'group', 'aria-label': qkv.word('LAB_SAVE') },
      qkv.el('span', { class: 'legend', 'aria-hidden': 'true' }, qkv.word('LAB_SAVE')), buttons);
    async function save(kind) {
      let what;
      try {
        what = kind === 'png' ? await pick() : written(kind);
      } catch (e) {
        what = { error: qkv.word('LAB_PICTURE_FAILED') };
      }
      const sentence = what.error ? what.error : await qkv.save(name(), kind, what, row);
      qkv.put(said, sentence);
      qkv.say(sentence);
    }
    for (const kind of ['PNG', 'SVG', 'CSV', 'JSON']) {
      const button = qkv.el('button', { type: 'button', class: 'link' }, kind);
      button.addEventListener('click', () => save(kind.toLowerCase()));
      buttons.append(button);
    }
    return [row, said];
  };

  qkv.files = { drawn, png };

  // Saves text or a canvas as name.kind; resolves to a sentence about what happened.
  qkv.save = async (name, kind, what, place) => {
    const file = name + '.' + kind;
    try {
      const blob = kind === 'png' ? await png(what) : new Blob([what], { type: TYPES[kind] });
      download(file, blob);
      return qkv.word('LAB_SAVED', file);
    } catch (e) {
      if (kind === 'png') return qkv.word('LAB_PICTURE_FAILED');
      asText(place, what);
      return qkv.word('LAB_SAVE_FAILED');
    }
  };
})(window.qkv);
