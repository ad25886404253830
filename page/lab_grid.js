// SPDX-License-Identifier: MIT
// lab_grid.js - the map for keyboard and screen reader: a grid of one tab stop that lies on the canvas.
// It holds only the cells around the active one, each named "from it to cat: 0.49". Arrows, Home,
// End, Page keys move; Shift+Space lists the row, Ctrl+Space the column.
(function (qkv) {
  const lab = qkv.lab, el = qkv.el;
  const WHOLE = 16, ROWS = 1, KEYS = 3;

  lab.makeGrid = (m, panel) => {
    const grid = el('div', { class: 'map-grid' });
    m.spacer.append(grid);
    let held = null, names = [], rowNames = [];

    // Which cells exist: all of a small map, else those around the active one.
    function around(about) {
      if (about.rows <= WHOLE && about.keys <= WHOLE) return [0, about.rows, 0, about.keys];
      return [Math.max(0, lab.row - ROWS), Math.min(about.rows, lab.row + ROWS + 1),
        Math.max(0, lab.key - KEYS), Math.min(about.keys, lab.key + KEYS + 1)];
    }

    function build([r0, r1, c0, c1]) {
      const had = grid.contains(document.activeElement);
      const head = el('div', { role: 'row', class: 'unseen', 'aria-rowindex': 1 },
        el('span', { role: 'columnheader', 'aria-colindex': 1 }, '\u00a0'));
      for (let c = c0; c < c1; c++)
        head.append(el('span', { role: 'columnheader', 'aria-colindex': c + 2 }));
      const rows = [head];
      for (let r = r0; r < r1; r++) {
        const row = el('div', { role: 'row', 'aria-rowindex': r + 2 },
          el('span', { role: 'rowheader', class: 'unseen', 'aria-colindex': 1 }));
        for (let c = c0; c < c1; c++) {
          const cell = el('span', { role: 'gridcell', 'aria-colindex': c + 2 });
          cell.style.left = c * m.cell + 'px';
          cell.style.top = r * m.cell + 'px';
          cell.style.width = cell.style.height = m.cell - (m.cell >= 8 ? 1 : 0) + 'px';
          row.append(cell);
        }
        rows.push(row);
      }
      grid.replaceChildren(...rows);
      grid.setAttribute('role', 'grid'); // not before it has rows
      grid.setAttribute('aria-label', qkv.word('LAB_GRID'));
      held = { r0, r1, c0, c1, cell: m.cell };
      return had;
    }

    const at = (r, c) => grid.children[r - held.r0 + 1].children[c - held.c0 + 1];

    function label(about) {
      const { r0, r1, c0, c1 } = held;
      const texts = lab.ask('cells', panel, r0, r1, c0, c1, 0).cells;
      if (!texts) return;
      for (let c = c0; c < c1; c++) qkv.put(grid.children[0].children[c - c0 + 1], names[c]);
      for (let r = r0; r < r1; r++) {
        qkv.put(grid.children[r - r0 + 1].children[0], rowNames[r]);
        for (let c = c0; c < c1; c++) {
          const text = texts[r - r0][c - c0], cell = at(r, c);
          cell.setAttribute('aria-label', text === '' ? qkv.word('LAB_CELL_HIDDEN', rowNames[r], names[c])
            : qkv.word('LAB_CELL', rowNames[r], names[c], text));
          const active = r === lab.row && c === lab.key;
          if (active) {
            cell.tabIndex = 0; // the one tab stop; a small cell is no target of its own
            cell.setAttribute('aria-selected', 'true');
          } else {
            cell.removeAttribute('tabindex');
            cell.removeAttribute('aria-selected');
          }
        }
      }
    }

    function draw(about, keyNames, queryNames) {
      names = keyNames;
      rowNames = queryNames;
      grid.setAttribute('aria-rowcount', about.rows + 1);
      grid.setAttribute('aria-colcount', about.keys + 1);
      const want = around(about);
      const same = held && held.cell === m.cell && want.every((x, i) => x === [held.r0, held.r1, held.c0, held.c1][i]);
      const had = same ? grid.contains(document.activeElement) : build(want);
      label(about);
      if (had && document.activeElement !== at(lab.row, lab.key)) at(lab.row, lab.key).focus({ preventScroll: true });
    }

    function go(row, key, side) {
      const about = lab.about;
      row = Math.max(0, Math.min(about.rows - 1, row));
      key = Math.max(0, Math.min(about.keys - 1, key));
      const moved = row !== lab.row;
      lab.key = key;
      lab.keyChosen = true;
      if (side) lab.side = side;
      m.show(row, key);
      if (moved) lab.setRow(row);
      else lab.draw();
    }

    grid.addEventListener('keydown', (event) => {
      const page = Math.max(1, Math.floor(m.high / m.cell) - 1), about = lab.about;
      const { row, key } = lab, far = event.ctrlKey || event.metaKey;
      if (event.altKey) return;
      const to = {
        ArrowUp: [row - 1, key], ArrowDown: [row + 1, key], ArrowLeft: [row, key - 1], ArrowRight: [row, key + 1],
        Home: [far ? 0 : row, 0], End: [far ? about.rows - 1 : row, about.keys - 1],
        PageUp: [row - page, key], PageDown: [row + page, key],
      }[event.key];
      if (to) {
        event.preventDefault();
        go(...to);
        at(lab.row, lab.key).focus({ preventScroll: true });
      } else if (event.key === ' ' || event.key === 'Enter') {
        event.preventDefault();
        go(row, key, event.ctrlKey ? 'column' : 'row');
      }
    });

    // A click chooses the cell under it; on a name beside or above the map, the row or the column.
    m.scroll.addEventListener('click', (event) => {
      const place = m.scroll.getBoundingClientRect();
      go(Math.floor((event.clientY - place.top + m.scroll.scrollTop) / m.cell),
        Math.floor((event.clientX - place.left + m.scroll.scrollLeft) / m.cell));
      at(lab.row, lab.key).focus({ preventScroll: true });
    });
    m.box.addEventListener('click', (event) => {
      if (m.scroll.contains(event.target)) return;
      const place = m.box.getBoundingClientRect(), x = event.clientX - place.left, y = event.clientY - place.top;
      if (x < m.left && y > m.top) go(Math.floor((y - m.top + m.scroll.scrollTop) / m.cell), lab.key, 'row');
      else if (y < m.top && x > m.left) go(lab.row, Math.floor((x - m.left + m.scroll.scrollLeft) / m.cell), 'column');
    });
    return { draw };
  };
})(window.qkv);
