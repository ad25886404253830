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
