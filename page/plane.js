// SPDX-License-Identifier: MIT
// plane.js - pictures in the plane: one unit is so many pixels, y grows upwards, text stays 13 px. A
// picture is drawn at its true size; it never scales.
(function (qkv) {
  // Names in a picture have no room to be long; the table beside it has them.
  qkv.short = (name) => (name.length > 9 ? Array.from(name).slice(0, 8).join('') + '…' : name);

  const SLACK = 4; // px that a label may stand out of its picture
  let pen = null;
  function wideOf(text) {
    if (!pen) {
      pen = document.createElement('canvas').getContext('2d');
      pen.font = '13px ' + getComputedStyle(document.documentElement).getPropertyValue('--sans');
    }
    return pen.measureText(text).width + Array.from(text).length; // readers may set letters wider
  }
  const PLACES = [{ dx: 12, dy: 4 }, { dx: -12, dy: 4, anchor: 'end' }, { dx: 0, dy: -11, anchor: 'middle' },
    { dx: 0, dy: 22, anchor: 'middle' }, { dx: 8, dy: 20 }, { dx: -8, dy: 20, anchor: 'end' }, { dx: 8, dy: -11 },
    { dx: -8, dy: -11, anchor: 'end' }];

  // box: the corner points {x0, y0, x1, y1} that must fit; room for labels around them.
  qkv.plane = (box, unit, room) => {
    const wide = (box.x1 - box.x0) * unit, high = (box.y1 - box.y0) * unit;
    const x = (a) => Math.round((room.left + (a - box.x0) * unit) * 2) / 2;
    const y = (b) => Math.round((room.top + (box.y1 - b) * unit) * 2) / 2;
    const width = room.left + wide + room.right, height = room.top + high + room.bottom;
    const svg = qkv.svg('svg', { width, height, 'aria-hidden': 'true', class: 'picture' }), placed = [];
    const boxAt = (a, b, text, at) => {
      const wide = wideOf(text), top = y(b) + at.dy - 12;
      const left = x(a) + at.dx - (at.anchor === 'end' ? wide : at.anchor ? wide / 2 : 0);
      return [left, top, left + wide, top + 16];
    };
    const line = (name, x1, y1, x2, y2) =>
      svg.append(qkv.svg('path', { class: name, d: `M${x1} ${y1}L${x2} ${y2}` }));
    return {
      svg, x, y, unit, line, width,
      axes() {
        line('axis', x(0), y(box.y0), x(0), y(box.y1) - 16);
        line('axis', x(box.x0), y(0), x(box.x1) + 16, y(0));
      },
      text(a, b, text, at, name) {
        placed.push(boxAt(a, b, text, at));
        svg.append(qkv.svg('text', { x: x(a) + at.dx, y: y(b) + at.dy,
          'text-anchor': at.anchor || 'start', class: name || '' }, text));
      },
      // Text beside a point, at the first of the places where it stays in the picture and off other
      // labels; left out, false, where there is none: what it says stands in the table, too.
      label(a, b, text, first, name) {
        for (const at of [first, ...PLACES]) {
          const box = boxAt(a, b, text, at);
          const out = box[0] < -SLACK || box[1] < -SLACK || box[2] > width + SLACK || box[3] > height + SLACK;
          if (out || placed.some((p) => p[0] < box[2] && box[0] < p[2] && p[1] < box[3] && box[1] < p[3]))
            continue;
          this.text(a, b, text, at, name);
          return true;
        }
        return false;
      },
      // ring, square or diamond of a role; dot
      mark(kind, a, b) {
        const at = { cx: x(a), cy: y(b) };
        if (kind === 'q') svg.append(qkv.svg('circle', { ...at, r: 5.5, class: 'mark-q' }));
        else if (kind === 'dot') svg.append(qkv.svg('circle', { ...at, r: 4, class: 'dot' }));
        else if (kind === 'k')
          svg.append(qkv.svg('rect', { x: at.cx - 4.5, y: at.cy - 4.5, width: 9, height: 9, class: 'mark-k' }));
        else svg.append(qkv.svg('path', { class: 'mark-v',
          d: `M${at.cx - 6} ${at.cy}l6 -6l6 6l-6 6z` }));
      },
      // an arrow from one point to another; a tick where it would be shorter than 16 px
      arrow(name, a0, b0, a1, b1) {
        const dx = x(a1) - x(a0), dy = y(b1) - y(b0), long = Math.hypot(dx, dy);
        if (long < .5) return;
        const ux = dx / long, uy = dy / long, ex = x(a1), ey = y(b1);
        if (long < 16) {
          line(name, x(a0), y(b0), ex, ey);
          line(name, ex - uy * 4, ey + ux * 4, ex + uy * 4, ey - ux * 4);
          return;
        }
        line(name, x(a0), y(b0), ex - ux * 6, ey - uy * 6);
        svg.append(qkv.svg('path', { class: name + ' head', d: `M${ex} ${ey}L${ex - ux * 9 - uy * 4.5} ` +
          `${ey - uy * 9 + ux * 4.5}L${ex - ux * 9 + uy * 4.5} ${ey - uy * 9 - ux * 4.5}z` }));
      },
    };
  };

  // Names of points that lie on one another become one label: [[a, b, names]].
  qkv.together = (points, names, unit) => {
    const out = [];
    points.forEach(([a, b], n) => {
      const same = out.find((p) => Math.hypot(p[0] - a, p[1] - b) * unit < 8);
      if (same) same[2].push(names[n]);
      else out.push([a, b, [names[n]]]);
    });
    return out.map(([a, b, list]) => [a, b, list.length > 3
      ? list.slice(0, 2).join(', ') + ', …' : list.join(', ')]);
  };

  // The corners of a set of points and of the origin.
  qkv.boxOf = (points) => {
    const box = { x0: 0, y0: 0, x1: 0, y1: 0 };
    for (const [a, b] of points) {
      box.x0 = Math.min(box.x0, a); box.x1 = Math.max(box.x1, a);
      box.y0 = Math.min(box.y0, b); box.y1 = Math.max(box.y1, b);
    }
    return box;
  };

  qkv.drawable = (box) => box.x1 - box.x0 < Infinity && box.y1 - box.y0 < Infinity;

  // The outline of points, in order (Andrew's monotone chain).
  qkv.hull = (points) => {
    const sorted = [...points].sort((p, q) => p[0] - q[0] || p[1] - q[1]);
    const half = (list) => {
      const out = [];
      for (const p of list) {
        for (; out.length > 1; out.pop()) {
          const [a, b] = [out[out.length - 2], out[out.length - 1]];
          if ((b[0] - a[0]) * (p[1] - a[1]) > (b[1] - a[1]) * (p[0] - a[0])) break;
        }
        out.push(p);
      }
      out.pop();
      return out;
    };
    return [...half(sorted), ...half(sorted.reverse())];
  };
})(window.qkv);
