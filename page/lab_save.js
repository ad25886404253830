// SPDX-License-Identifier: MIT
// lab_save.js - the view that is shown as SVG, PNG, CSV or JSON. The C writes the text; the picture is
// the SVG drawn on a canvas, or the map's own canvas where a map is too large for an SVG.
(function (qkv) {
  const lab = qkv.lab;

  function name() {
    const a = lab.about;
    const from = a.data === 'model' ? `model-layer${a.layer}-head${a.head}` : a.data;
    return ['qkv', from, a.map ? 'map' : 'token', a.compare ? 'A-B' : ''].filter((x) => x).join('-');
  }

  // ---- A and B in one file ----

  // Two pictures side by side, each under its letter and what it differs in.
  function besides(svgs) {
    const GAP = 32, HEAD = 32;
    const sizes = svgs.map((svg) => / width="([0-9.]+)" height="([0-9.]+)"/.exec(svg).slice(1).map((x) => +x));
    const lefts = [0, sizes[0][0] + GAP], width = lefts[1] + sizes[1][0];
    const height = HEAD + Math.max(sizes[0][1], sizes[1][1]);
    const [, font, ground] = / font-family="([^"]+)"[^]*?<rect[^>]* fill="([^"]+)"/.exec(svgs[0]);
    const title = (n) => new XMLSerializer().serializeToString(qkv.svg('text', { x: lefts[n] + 16, y: 24,
      'font-family': font, 'font-size': 15, 'font-weight': 600 }, lab.panelTitle(n)));
    return `<svg xmlns="http://www.w3.org/2000/svg" role="img" width="${width}" height="${height}" `
      + `viewBox="0 0 ${width} ${height}">\n<rect width="${width}" height="${height}" fill="${ground}"/>\n`
      + svgs.map((svg, n) => title(n) + '\n' + svg.replace('<svg ', `<svg x="${lefts[n]}" y="${HEAD}" `)).join('')
      + '</svg>\n';
  }

  // Rows of A, then of B; the first column says whose. No cell holds a line's end.
  function below(tables) {
    return tables.map((text, n) => text.split('\r\n').slice(n, -1).map((row, r) =>
      (n + r ? 'AB'[n] : 'panel') + ',' + row + '\r\n').join('')).join('');
  }

  const together = { svg: besides, csv: below, json: ([a, b]) => `{"A":${a.trim()},"B":${b.trim()}}\n` };

  // The text of a file, or {error}.
  function written(kind) {
    const one = (panel) => qkv.call('lab_export', lab.request(panel, (lab.about.map ? 'map.' : 'table.') + kind));
    const texts = lab.about.compare ? [one(0), one(1)] : [one(0)];
    const bad = texts.find((text) => text.startsWith('{"error"'));
    if (bad) return JSON.parse(bad);
    return texts[1] ? together[kind](texts) : texts[0];
  }

  function besidesMaps(maps) {
    const GAP = 32, canvas = qkv.el('canvas', {}), pen = canvas.getContext('2d');
    canvas.width = maps[0].width + GAP + maps[1].width;
    canvas.height = Math.max(maps[0].height, maps[1].height);
    pen.fillStyle = getComputedStyle(document.body).backgroundColor;
    pen.fillRect(0, 0, canvas.width, canvas.height);
    pen.drawImage(maps[0], 0, 0);
    pen.drawImage(maps[1], maps[0].width + GAP, 0);
    return canvas;
  }

  async function picture() {
    const svg = written('svg');
    if (!svg.error) return qkv.files.drawn(svg);
    if (!lab.about.map) return svg;
    const maps = lab.about.compare ? [lab.wholeMap(0), lab.wholeMap(1)] : [lab.wholeMap(0)];
    const bad = maps.find((map) => map.error);
    return bad || (maps[1] ? besidesMaps(maps) : maps[0]);
  }

  lab.controls.append(...qkv.saveRow(name, written, picture));

  // Every cell of a large map, a pixel or more each.
  lab.wholeMap = (panel) => {
    const map = lab.mapOf(panel);
    if (map.left > 0) return { error: qkv.word('LAB_WORKING', map.rows - map.left, map.rows) };
    return lab.drawWhole(map, Math.max(1, Math.floor(2048 / Math.max(map.rows, map.keys))));
  };
})(window.qkv);
