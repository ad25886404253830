// SPDX-License-Identifier: MIT
// lab_map.js - a map of all queries by all keys, drawn on a canvas: only the part in sight, whatever
// its size. A weight is ink of that opacity on the ground, 0 to 1; a score is ink or plum by its
// share of the largest. Above the canvas lies what scrolls and takes clicks (lab_grid.js).
(function (qkv) {
  const lab = qkv.lab, el = qkv.el;
  const ZOOMS = [1, 2, 4, 8, 17, 38], CELL = 38, NUMBERS = 30, GAPS = 8, NAMES = 12;
  const FONT = '-apple-system, "Segoe UI", Roboto, Inter, "Noto Sans", "Liberation Sans", Arial, sans-serif';

  // ---- colours: the page's own, whatever the theme ----
  let palette = null;
  const forget = () => { palette = null; };
  for (const query of ['(prefers-color-scheme: dark)', '(forced-colors: active)'])
    matchMedia(query).addEventListener('change', () => { forget(); lab.draw(); });

  function rgb(text) {
    const pen = el('canvas', {}).getContext('2d', { willReadFrequently: true });
    pen.fillStyle = text;
    pen.fillRect(0, 0, 1, 1);
    return [...pen.getImageData(0, 0, 1, 1).data].slice(0, 3);
  }

  function colours() {
    if (palette) return palette;
    const style = getComputedStyle(document.documentElement), of = (name) => style.getPropertyValue(name).trim();
    palette = {};
    const system = { ground: 'Canvas', ink: 'CanvasText', soft: 'CanvasText', rule: 'CanvasText', hair: 'CanvasText', minus: 'Highlight' };
    const forced = matchMedia('(forced-colors: active)').matches;
    for (const name in system) palette[name] = forced ? system[name] : of('--' + name);
    palette.rgb = { ground: rgb(palette.ground), ink: rgb(palette.ink), minus: rgb(palette.minus) };
    return palette;
  }

  const mix = (a, b, part) => a.map((x, i) => Math.round(x + (b[i] - x) * part));

  function luminance([r, g, b]) {
    const line = (x) => (x /= 255) <= 0.04045 ? x / 12.92 : ((x + 0.055) / 1.055) ** 2.4;
    return 0.2126 * line(r) + 0.7152 * line(g) + 0.0722 * line(b);
  }
  // Black or white, whichever is further from the cell.
  lab.labelOn = (fill) => (luminance(fill) > 0.179 ? '#000000' : '#FFFFFF');

  lab.fillOf = (x, weights, most) => {
    const p = colours().rgb, part = weights ? x : most > 0 ? Math.abs(x) / most : 0;
    return mix(p.ground, x < 0 ? p.minus : p.ink, Math.max(0, Math.min(1, part)));
  };

  // ---- one map ----
  lab.makeMap = (panel) => {
    const canvas = el('canvas', { 'aria-hidden': 'true' });
    const spacer = el('div', { class: 'map-spacer' });
    const scroll = el('div', { class: 'map-scroll' }, spacer);
    const box = el('div', { class: 'map' }, canvas, scroll);
    const pen = canvas.getContext('2d', { alpha: false });
    const m = { panel, box, scroll, spacer, canvas, zoom: 0, cell: 0, texts: null, map: null };
    const tile = el('canvas', {}), tilePen = tile.getContext('2d');
    let asked = false;

    // Sizes in CSS pixels: gutters for the names, cells as large as fits or as the reader zoomed.
    m.measure = () => {
      const map = m.map, width = box.clientWidth || 288, narrow = width < 400;
      pen.font = '13px ' + FONT;
      // of thousands of names only the longest are measured
      const longest = (names) => (names.length < 64 ? names : [...names].sort((a, b) => b.length - a.length).slice(0, 16))
        .reduce((w, n) => Math.max(w, pen.measureText(n).width), 0);
      m.left = Math.ceil(Math.min(narrow ? 56 : 96, longest(m.rowNames))) + 8;
      const fit = Math.floor((width - m.left - (narrow ? 0 : 8)) / map.keys);
      m.cell = m.zoom || Math.max(Math.min(fit, CELL), 4);
      m.upright = m.cell < 24;
      const length = Math.min(96, longest(m.names));
      m.top = Math.ceil(m.upright ? length : length * 0.75) + 12;
      m.right = m.upright ? 0 : Math.min(Math.ceil(length * 0.75), 64);
      m.wide = Math.min(map.keys * m.cell, width - m.left);
      m.high = Math.min(map.rows * m.cell, 580);
      const scale = window.devicePixelRatio || 1, w = width, h = m.top + m.high + 1;
      if (canvas.width !== Math.round(w * scale) || canvas.height !== Math.round(h * scale)) {
        canvas.width = Math.round(w * scale);
        canvas.height = Math.round(h * scale);
      }
      canvas.style.width = w + 'px';
      canvas.style.height = h + 'px';
      m.scale = scale;
      scroll.style.left = m.left + 'px';
      scroll.style.top = m.top + 'px';
      scroll.style.width = m.wide + 'px';
      scroll.style.height = m.high + 'px';
      spacer.style.width = map.keys * m.cell + 'px';
      spacer.style.height = map.rows * m.cell + 'px';
    };

    // What is in sight: rows [r0, r1), keys [c0, c1), and how far the first ones are cut.
    function sight() {
      const { map, cell } = m, x = scroll.scrollLeft, y = scroll.scrollTop;
      return {
        x, y, c0: Math.floor(x / cell), r0: Math.floor(y / cell),
        c1: Math.min(map.keys, Math.ceil((x + m.wide) / cell)),
        r1: Math.min(map.rows, Math.ceil((y + m.high) / cell)),
      };
    }

    // Cells as one picture, a pixel each, then stretched: the same for 16 cells and for 300,000.
    function paintCells(s) {
      const { map, cell } = m, w = s.c1 - s.c0, h = s.r1 - s.r0, p = colours().rgb;
      if (w <= 0 || h <= 0) return;
      if (tile.width < w || tile.height < h) {
        tile.width = Math.max(tile.width, w);
        tile.height = Math.max(tile.height, h);
      }
      const image = tilePen.createImageData(w, h), out = new Uint32Array(image.data.buffer);
      const weights = map.stage === 3, factor = 255 / (weights ? 1 : map.most || 1);
      const inks = shades(p.ink), plums = weights ? inks : shades(p.minus), blank = inks[0];
      for (let r = s.r0, at = 0; r < s.r1; r++) {
        if (!map.done[r]) {
          out.fill(blank, at, at + w);
          at += w;
          continue;
        }
        for (let i = r * map.keys + s.c0, end = i + w; i < end; i++) {
          const x = map.x[i], y = x * factor;
          // NaN is hidden, Infinity is no number: both stay blank here
          out[at++] = y >= 0 ? (y <= 255.5 ? inks[(y + 0.5) | 0] : blank)
            : y < 0 ? plums[Math.min(255, (0.5 - y) | 0)] : blank;
        }
      }
      tilePen.putImageData(image, 0, 0);
      pen.imageSmoothingEnabled = false;
      pen.drawImage(tile, 0, 0, w, h, s.c0 * cell - s.x + m.left, s.r0 * cell - s.y + m.top, w * cell, h * cell);
    }

    function paintGaps(s) {
      pen.fillStyle = colours().ground;
      for (let c = s.c0; c <= s.c1; c++) pen.fillRect(m.left + c * m.cell - s.x - 1, m.top, 1, m.high);
      for (let r = s.r0; r <= s.r1; r++) pen.fillRect(m.left, m.top + r * m.cell - s.y - 1, m.wide, 1);
    }

    // Dots where a key is hidden, a question mark where there is no number.
    function paintOdd(s) {
      const { map, cell } = m;
      pen.fillStyle = colours().rule;
      pen.font = '13px ' + FONT;
      pen.textAlign = 'center';
      for (let r = s.r0; r < s.r1; r++) {
        if (!map.done[r]) continue;
        for (let c = s.c0; c < s.c1; c++) {
          const x = map.x[r * map.keys + c], left = m.left + c * cell - s.x, top = m.top + r * cell - s.y;
          if (x !== x) pen.fillRect(left + cell / 2 - 1.5, top + cell / 2 - 1.5, 2, 2);
          else if (x === Infinity) pen.fillText('?', left + cell / 2, top + cell / 2 + 5);
        }
      }
    }

    function paintNumbers(s) {
      const { map, cell } = m;
      const t = m.texts;
      if (!t || cell < NUMBERS) return;
      pen.font = '13px ' + FONT;
      pen.textAlign = 'center';
      for (let r = Math.max(s.r0, t.r0); r < Math.min(s.r1, t.r1); r++)
        for (let c = Math.max(s.c0, t.c0); c < Math.min(s.c1, t.c1); c++) {
          const x = map.x[r * map.keys + c], text = t.cells[r - t.r0][c - t.c0];
          if (!map.done[r] || text === '' || x === Infinity || (map.stage === 3 && x < 0.095)) continue;
          pen.fillStyle = lab.labelOn(lab.fillOf(x, map.stage === 3, map.most));
          pen.fillText(text, m.left + (c + 0.5) * cell - s.x - 0.5, m.top + (r + 0.5) * cell - s.y + 4.5, cell - 4);
        }
    }

    function cut(text, room) {
      if (pen.measureText(text).width <= room) return text;
      let n = text.length;
      const points = [...text];
      for (n = points.length; n > 0 && pen.measureText(points.slice(0, n).join('') + '…').width > room;) n--;
      return points.slice(0, n).join('') + '…';
    }

    function paintNames(s) {
      const { cell } = m, step = Math.max(1, Math.ceil((NAMES + 3) / cell)), p = colours();
      pen.font = '13px ' + FONT;
      pen.textAlign = 'right';
      for (let r = Math.ceil(s.r0 / step) * step; r < s.r1; r += step) {
        const y = m.top + (r + 0.5) * cell - s.y + 4.5;
        if (y < m.top + 6 || y > m.top + m.high + 6) continue;
        pen.fillStyle = r === lab.row ? p.ink : p.soft;
        pen.fillText(cut(m.rowNames[r], m.left - 8), m.left - 8, y);
      }
      pen.textAlign = 'left';
      for (let c = Math.ceil(s.c0 / step) * step; c < s.c1; c += step) {
        const x = m.left + (c + 0.5) * cell - s.x;
        if (x < m.left || x > m.left + m.wide) continue;
        pen.save();
        pen.fillStyle = lab.side === 'column' && c === lab.key ? p.ink : p.soft;
        pen.translate(m.upright ? x + 4.5 : x, m.top - 8);
        pen.rotate(m.upright ? -Math.PI / 2 : -Math.PI / 4);
        pen.fillText(cut(m.names[c], m.upright ? m.top - 12 : (m.top - 12) / 0.75), 0, 0);
        pen.restore();
      }
    }

    function outline(x, y, w, h) {
      pen.save();
      pen.beginPath();
      pen.rect(m.left - 2, m.top - 2, m.wide + 3, m.high + 3);
      pen.clip();
      pen.strokeStyle = colours().ink;
      pen.lineWidth = 2;
      pen.strokeRect(x - 1, y - 1, w + 1, h + 1);
      pen.restore();
    }

    function paintFrame(s) {
      const p = colours(), { map, cell } = m;
      pen.strokeStyle = p.hair;
      pen.lineWidth = 1;
      pen.strokeRect(m.left - 0.5, m.top - 0.5, m.wide, m.high);
      if (lab.side === 'column') outline(m.left + lab.key * cell - s.x, m.top - s.y, cell, map.rows * cell);
      else outline(m.left - s.x, m.top + lab.row * cell - s.y, map.keys * cell, cell);
    }

    function paint() {
      asked = false;
      if (!m.map || !m.wide) return;
      const s = sight();
      pen.setTransform(m.scale, 0, 0, m.scale, 0, 0);
      pen.fillStyle = colours().ground;
      pen.fillRect(0, 0, canvas.width, canvas.height);
      pen.save();
      pen.beginPath();
      pen.rect(m.left - 1, m.top - 1, m.wide + 1, m.high + 1);
      pen.clip();
      paintCells(s);
      if (m.cell >= GAPS) {
        paintGaps(s);
        paintOdd(s);
      }
      paintNumbers(s);
      pen.restore();
      paintNames(s);
      paintFrame(s);
      lab.need(m.map, s.r0, s.r1);
    }

    // Texts of the cells in sight come from the C, once the scrolling rests.
    let resting = 0;
    function readTexts() {
      resting = 0;
      const s = sight(), t = m.texts;
      if (m.cell < NUMBERS) return;
      if (t && t.key === m.map.key && t.r0 <= s.r0 && t.r1 >= s.r1 && t.c0 <= s.c0 && t.c1 >= s.c1) return;
      const cells = lab.ask('cells', panel, s.r0, s.r1, s.c0, s.c1, 1).cells;
      m.texts = cells ? { key: m.map.key, r0: s.r0, r1: s.r1, c0: s.c0, c1: s.c1, cells } : null;
      m.paint();
    }
    m.paint = () => {
      if (asked) return;
      asked = true;
      requestAnimationFrame(paint);
    };
    m.rest = () => {
      if (!resting) resting = setTimeout(readTexts, 120);
    };
    scroll.addEventListener('scroll', () => {
      m.paint();
      m.rest();
    }, { passive: true });

    m.repaint = paint; // at once: for measuring
    m.draw = (names, rowNames) => {
      m.map = lab.mapOf(panel);
      m.names = names;
      m.rowNames = rowNames;
      m.map.changed = m.paint;
      m.measure();
      if (m.texts && m.texts.key !== m.map.key) m.texts = null;
      lab.need(m.map, 0, Math.ceil(m.high / m.cell));
      if (m.map.left <= 0 || m.map.rows <= 64) readTexts();
      else m.rest();
      asked = false;
      paint();
    };
    m.zoomBy = (by) => {
      const now = ZOOMS.findIndex((z) => z >= m.cell), at = Math.max(0, Math.min(ZOOMS.length - 1, now + by));
      const cell = m.cell, x = (scroll.scrollLeft + m.wide / 2) / cell, y = (scroll.scrollTop + m.high / 2) / cell;
      m.zoom = ZOOMS[at];
      m.draw(m.names, m.rowNames);
      scroll.scrollLeft = x * m.cell - m.wide / 2;
      scroll.scrollTop = y * m.cell - m.high / 2;
    };
    m.show = (row, key) => {
      const x = key * m.cell, y = row * m.cell;
      if (x < scroll.scrollLeft) scroll.scrollLeft = x;
      if (x + m.cell > scroll.scrollLeft + m.wide) scroll.scrollLeft = x + m.cell - m.wide;
      if (y < scroll.scrollTop) scroll.scrollTop = y;
      if (y + m.cell > scroll.scrollTop + m.high) scroll.scrollTop = y + m.cell - m.high;
    };
    return m;
  };

  // 256 colours from the ground to an ink, as pixels.
  const tables = new Map();
  function shades(ink) {
    const p = colours().rgb, key = p.ground + '/' + ink;
    if (tables.has(key)) return tables.get(key);
    const table = new Uint32Array(256), bytes = new Uint8Array(table.buffer);
    for (let i = 0; i < 256; i++) bytes.set([...mix(p.ground, ink, i / 255), 255], i * 4);
    tables.set(key, table);
    return table;
  }

  // A small map without names: one of the heads.
  lab.drawSmall = (canvas, x, rows, keys, cell, weights) => {
    const scale = window.devicePixelRatio || 1, pen = canvas.getContext('2d', { alpha: false });
    let most = 0;
    for (const y of x) if (Math.abs(y) > most && Math.abs(y) !== Infinity) most = Math.abs(y);
    canvas.width = keys * cell * scale;
    canvas.height = rows * cell * scale;
    canvas.style.width = keys * cell + 'px';
    canvas.style.height = rows * cell + 'px';
    pen.setTransform(scale, 0, 0, scale, 0, 0);
    for (let r = 0; r < rows; r++)
      for (let c = 0; c < keys; c++) {
        const y = x[r * keys + c];
        pen.fillStyle = `rgb(${lab.fillOf(y - y === 0 ? y : 0, weights, most).join(',')})`;
        pen.fillRect(c * cell, r * cell, cell, cell);
      }
  };
  // Every cell of a map, `cell` pixels each.
  lab.drawWhole = (map, cell) => {
    const one = el('canvas', {}), pen = one.getContext('2d'), all = el('canvas', {});
    const p = colours().rgb, inks = shades(p.ink), plums = map.stage === 3 ? inks : shades(p.minus);
    const factor = 255 / (map.stage === 3 ? 1 : map.most || 1);
    one.width = map.keys;
    one.height = map.rows;
    const image = pen.createImageData(map.keys, map.rows), out = new Uint32Array(image.data.buffer);
    for (let i = 0; i < out.length; i++) {
      const y = map.x[i] * factor;
      out[i] = y >= 0 && y < 256 ? inks[Math.min(255, (y + 0.5) | 0)] : y < 0 ? plums[Math.min(255, (0.5 - y) | 0)] : inks[0];
    }
    pen.putImageData(image, 0, 0);
    all.width = map.keys * cell;
    all.height = map.rows * cell;
    const whole = all.getContext('2d');
    whole.imageSmoothingEnabled = false;
    whole.drawImage(one, 0, 0, all.width, all.height);
    return all;
  };
  lab.colours = colours;
})(window.qkv);
