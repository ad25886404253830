// SPDX-License-Identifier: MIT
// lab_values.js - the numbers behind a map, as float32 for shades alone: computed by the C row by row,
// in slices of a few milliseconds, those in sight first. A shown number never comes from here.
(function (qkv) {
  const lab = qkv.lab;
  const SLICE = 5; // ms; with the last batch and what is drawn the page may take 8
  const AT_ONCE = 1 << 14; // cells: small maps are there with the act
  const kept = [null, null]; // of panels A and B
  const waiting = new Set();
  let pumping = false;

  // What a map depends on: not on which row is looked at.
  function keyOf(about, panel) {
    const c = panel ? about.b : about.a, stage = Math.max(1, Math.min(3, about.stage));
    const from = about.data === 'tokens' ? qkv.text.replace(/(^|&)(t|f|sec|st|view|dig|mrow|b|rn)=[^&]*/g, '')
      : about.data === 'model' ? about.layer + '/' + about.head : lab.version + '/' + about.head;
    return [about.data, from, stage, c.scale, c.times, c.T, c.mask, c.padding, c.shift, c.wrong].join(' ');
  }

  lab.mapOf = (panel) => {
    const about = lab.about, key = keyOf(about, panel);
    if (kept[panel] && kept[panel].key === key) return kept[panel];
    waiting.delete(kept[panel]);
    return (kept[panel] = {
      key, panel, rows: about.rows, keys: about.keys, stage: Math.max(1, Math.min(3, about.stage)),
      x: new Float32Array(about.rows * about.keys), done: new Uint8Array(about.rows),
      left: about.rows, next: 0, most: 0, batch: 1, first: 0, last: about.rows, changed() {},
    });
  };

  // The next rows to compute: those in sight, then the others.
  function pick(map) {
    let row = map.first;
    while (row < map.last && map.done[row]) row++;
    if (row >= map.last) {
      while (map.next < map.rows && map.done[map.next]) map.next++;
      row = map.next;
    }
    let end = row;
    while (end < map.rows && end - row < map.batch && !map.done[end]) end++;
    return [row, end];
  }

  function compute(map) {
    const [row, end] = pick(map), begun = performance.now();
    const x = lab.values(map.panel, row, end);
    if (!x) {
      map.left = 0;
      return;
    }
    map.x.set(x, row * map.keys);
    map.done.fill(1, row, end);
    map.left -= end - row;
    for (let i = 0; i < x.length; i++) {
      const size = Math.abs(x[i]);
      if (size > map.most && size !== Infinity) map.most = size;
    }
    // batches of about 2 ms
    const each = (performance.now() - begun) / (end - row);
    map.batch = Math.max(1, Math.min(64, Math.floor(2 / Math.max(each, 0.02))));
  }

  // One slice; returns when the time is over or nothing is left.
  function slice(until) {
    for (const map of waiting) {
      while (map.left > 0 && performance.now() < until) compute(map);
      if (map.left <= 0) waiting.delete(map);
      map.changed();
    }
  }

  function pump() {
    slice(performance.now() + SLICE);
    pumping = waiting.size > 0;
    if (pumping) setTimeout(pump, 0);
  }

  // Rows [first, last) are in sight. Small maps are there at once, large ones begin in the next
  // task: the act that asked has its own work.
  lab.need = (map, first, last) => {
    map.first = first;
    map.last = last;
    if (map.left <= 0) return;
    waiting.add(map);
    if (pumping) return;
    if (map.rows * map.keys <= AT_ONCE) slice(performance.now() + SLICE);
    if (!waiting.size) return;
    pumping = true;
    setTimeout(pump, 0);
  };

  // Of a long column, the rows with the largest values so far; of a short one the C finds them.
  lab.strongest = (panel) => {
    const map = lab.mapOf(panel), MOST = 12, found = [];
    if (map.rows <= 128) return [];
    for (let row = 0; row < map.rows; row++) {
      const x = map.x[row * map.keys + lab.key];
      if (!map.done[row] || !(x - x === 0) || (found.length === MOST && !(x > found[MOST - 1][0]))) continue;
      found.push([x, row]);
      found.sort((a, b) => b[0] - a[0]);
      found.length = Math.min(found.length, MOST);
    }
    return found.length ? found.map((one) => one[1]) : [0];
  };

  lab.forget = () => {
    waiting.clear();
    kept[0] = kept[1] = null;
  };
})(window.qkv);
