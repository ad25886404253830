// SPDX-License-Identifier: MIT
// lab_save.js - the view that is shown as SVG, PNG, CSV or JSON. The C writes the text; the picture is
// the SVG drawn on a canvas, or the map's own canvas where a map is too large for an SVG.
(function (qkv) {
  const lab = qkv.lab;

  function name() {
    const a = lab.about;
    const from = a.data === 'model' ? `model-layer${a.layer}-head${a.head}` : a.data;
    return ['qkv', from, a.map ? 'map' : 'token', a.compare ? (lab.panel ? 'B' : 'A') : ''].filter((x) => x).join('-');
  }

  // The text of a file, or {error}.
  function written(kind) {
    const text = qkv.call('lab_export', lab.request(lab.panel, (lab.about.map ? 'map.' : 'table.') + kind));
    return text.startsWith('{"error"') ? JSON.parse(text) : text;
  }

  async function picture() {
    const svg = written('svg');
    if (svg.error) return lab.about.map ? lab.wholeMap(lab.panel) : svg;
    return qkv.files.drawn(svg);
  }

  lab.controls.append(...qkv.saveRow(name, written, picture));

  // Every cell of a large map, a pixel or more each.
  lab.wholeMap = (panel) => {
    const map = lab.mapOf(panel);
    if (map.left > 0) return { error: qkv.word('LAB_WORKING', map.rows - map.left, map.rows) };
    return lab.drawWhole(map, Math.max(1, Math.floor(2048 / Math.max(map.rows, map.keys))));
  };
})(window.qkv);
