// SPDX-License-Identifier: MIT
// probes.js - measurements that the page's tests take inside of the page: boxes of text, what is cut
// off or overlaps, families, sizes, colours, lines. Not part of the page: a test evaluates this text,
// an object of functions, and calls one. Every answer is plain data; an empty list is what is hoped.
({
  // is it drawn at all, and not only there for a screen reader?
  seen(element) {
    if (!element.checkVisibility({ checkOpacity: true, checkVisibilityCSS: true })) return false;
    for (let at = element; at && at.nodeType === 1; at = at.parentElement) {
      const style = getComputedStyle(at);
      const box = at.getBoundingClientRect();
      const small = box.width <= 1.5 && box.height <= 1.5;
      if (small && style.overflow !== 'visible') return false;
      if (style.clipPath !== 'none' && small) return false;
    }
    return true;
  },

  name(element) {
    const told = element.id ? `#${element.id}` : element.className?.baseVal ?? element.className;
    return `${element.localName}${told ? ` ${told}` : ''}`;
  },

  // boxes of drawn text, one a line; a formula, a field, a piece of a drawing is one box
  texts(root = document.body) {
    const found = [];
    const walker = document.createTreeWalker(root, NodeFilter.SHOW_TEXT);
    const whole = new Set();
    for (let node = walker.nextNode(); node; node = walker.nextNode()) {
      const parent = node.parentElement;
      if (!node.data.trim() || !this.seen(parent)) continue;
      if (parent.closest('script, style, option, textarea, title, desc')) continue;
      const one = parent.closest('math') ?? parent.closest('text');
      if (one && whole.has(one)) continue;
      if (one) whole.add(one);
      const range = document.createRange();
      if (!one) range.selectNodeContents(node);
      const boxes = one ? [one.getBoundingClientRect()] : [...range.getClientRects()];
      for (const box of boxes) {
        if (box.width < 1 || box.height < 1) continue;
        found.push({
          element: one ?? parent, text: (one ?? node).textContent.trim().replace(/\s+/g, ' '),
          left: box.left, right: box.right, top: box.top, bottom: box.bottom,
        });
      }
    }
    return found;
  },

  // where a box that cuts its text with an ellipsis ends
  shownTo(element) {
    let right = Infinity;
    for (let at = element; at && at !== document.body; at = at.parentElement) {
      const style = getComputedStyle(at);
      if (style.textOverflow === 'ellipsis' && style.overflowX !== 'visible')
        right = Math.min(right, at.getBoundingClientRect().right);
    }
    return right;
  },

  // pieces of text that cover one another by more than `slack` px both ways
  overlaps(slack = 2) {
    const list = this.texts().sort((a, b) => a.top - b.top);
    for (const one of list) one.right = Math.min(one.right, this.shownTo(one.element));
    const faults = [];
    for (let i = 0; i < list.length; i++) {
      const a = list[i];
      for (let j = i + 1; j < list.length && list[j].top < a.bottom; j++) {
        const b = list[j];
        if (a.element === b.element || a.element.contains(b.element)
          || b.element.contains(a.element)) continue;
        // the line box of text is higher than its letters by about a fifth above and below
        const high = Math.min(a.bottom - 0.18 * (a.bottom - a.top), b.bottom - 0.18 * (b.bottom - b.top))
          - Math.max(a.top + 0.18 * (a.bottom - a.top), b.top + 0.18 * (b.bottom - b.top));
        const wide = Math.min(a.right, b.right) - Math.max(a.left, b.left);
        if (high > slack && wide > slack) {
          faults.push(`"${a.text.slice(0, 40)}" and "${b.text.slice(0, 40)}" overlap by `
            + `${wide.toFixed(1)} x ${high.toFixed(1)} px at ${Math.round(a.left)},`
            + `${Math.round(a.top + scrollY)} (${this.name(a.element)}, ${this.name(b.element)})`);
        }
      }
    }
    return faults;
  },

  // text that an ancestor which does not scroll cuts off, or that leaves the page to the right
  clipped(slack = 1) {
    const faults = [];
    const page = document.documentElement.clientWidth;
    for (const item of this.texts()) {
      let scrolls = false;
      for (let at = item.element; at && at !== document.body; at = at.parentElement) {
        const style = getComputedStyle(at);
        const box = at.getBoundingClientRect();
        const cut = [];
        if (/auto|scroll/.test(style.overflowX)) scrolls = true;
        if (/hidden|clip/.test(style.overflowX) && !scrolls && style.textOverflow !== 'ellipsis'
          && (item.right > box.right + slack || item.left < box.left - slack)) cut.push('width');
        if (/hidden|clip/.test(style.overflowY) && !/auto|scroll/.test(style.overflowY)
          && (item.bottom > box.bottom + slack + 3 || item.top < box.top - slack - 3)) cut.push('height');
        if (cut.length) {
          faults.push(`"${item.text.slice(0, 40)}" is cut in ${cut} by ${this.name(at)}`);
          break;
        }
      }
      if (!scrolls && item.right > page + slack) {
        faults.push(`"${item.text.slice(0, 40)}" ends ${Math.round(item.right - page)} px right of the page`);
      }
    }
    for (const field of document.querySelectorAll('input[type=text], input:not([type])')) {
      if (this.seen(field) && field.scrollWidth > field.clientWidth + slack) {
        faults.push(`the field ${this.name(field)} cuts its text "${field.value.slice(0, 20)}"`);
      }
    }
    return faults;
  },

  // {families, sizes, colours} -> where each was first met
  looks() {
    const families = {}, sizes = {}, colours = {};
    const put = (map, key, element) => { map[key] ??= this.name(element); };
    for (const { element } of this.texts()) {
      const style = getComputedStyle(element);
      put(families, style.fontFamily, element);
      if (!element.closest('sub, sup, math')) put(sizes, style.fontSize, element);
    }
    for (const element of document.querySelectorAll('body, body *')) {
      if (!this.seen(element) || element.closest('script, style')) continue;
      const style = getComputedStyle(element);
      const use = (value) => {
        const part = value.match(/rgba?\((\d+), (\d+), (\d+)(?:, ([\d.]+))?\)/);
        if (part && part[4] !== '0') put(colours, `${part[1]} ${part[2]} ${part[3]}`, element);
      };
      use(style.backgroundColor);
      for (const side of ['Top', 'Right', 'Bottom', 'Left']) {
        if (parseFloat(style[`border${side}Width`]) > 0 && style[`border${side}Style`] !== 'none') {
          use(style[`border${side}Color`]);
        }
      }
      if (element.ownerSVGElement) {
        if (style.fill !== 'none') use(style.fill);
        if (style.stroke !== 'none') use(style.stroke);
      } else if ([...element.childNodes].some((x) => x.nodeType === 3 && x.data.trim())) {
        use(style.color);
      }
    }
    return { families, sizes, colours };
  },

  // characters a line of paragraphs of at least three lines
  lines(selector) {
    const found = [];
    for (const element of document.querySelectorAll(selector)) {
      if (!this.seen(element)) continue;
      const tops = new Set();
      const range = document.createRange();
      range.selectNodeContents(element);
      for (const box of range.getClientRects()) {
        if (box.width > 20) tops.add(Math.round(box.bottom / 12));
      }
      const height = parseFloat(getComputedStyle(element).lineHeight);
      const lines = Math.round(element.getBoundingClientRect().height / height);
      const text = element.textContent.trim().replace(/\s+/g, ' ');
      if (lines >= 3) found.push({ text: text.slice(0, 40), lines, most: text.length / (lines - 1),
        least: text.length / lines });
    }
    return found;
  },

  // boxes of every target that is drawn: [name, width, height]
  targets() {
    const found = [];
    const all = 'a[href], button, input, select, summary, textarea, [role=button], [role=radio], '
      + '[role=slider], [role=gridcell][tabindex]';
    for (const element of document.querySelectorAll(all)) {
      if (!this.seen(element) && !(element.labels?.length && this.seen(element.labels[0]))) continue;
      let box = element.getBoundingClientRect();
      const label = element.labels?.[0];
      if (label && ['radio', 'checkbox'].includes(element.type)) {
        const more = label.getBoundingClientRect();
        box = { width: Math.max(more.right, box.right) - Math.min(more.left, box.left),
          height: Math.max(more.bottom, box.bottom) - Math.min(more.top, box.top) };
      }
      const inline = element.localName === 'a' && getComputedStyle(element).display === 'inline'
        && element.parentElement.textContent.trim().length > element.textContent.trim().length + 20;
      found.push({ name: `${this.name(element)} "${(element.textContent || element.value || '')
        .trim().slice(0, 30)}"`, width: box.width, height: box.height, inline,
      number: element.classList.contains('num'),
      vector: element.matches('.num') && element.parentElement.querySelectorAll('.num').length > 1 });
    }
    return found;
  },

  // contrast of an element's own colour with the nearest opaque ground behind it
  contrast(selector) {
    const light = (text) => {
      const [r, g, b] = text.match(/[\d.]+/g).map((x) => {
        const c = x / 255;
        return c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4;
      });
      return 0.2126 * r + 0.7152 * g + 0.0722 * b;
    };
    const element = document.querySelector(selector);
    let ground = 'rgb(255, 255, 255)';
    for (let at = element; at; at = at.parentElement) {
      const colour = getComputedStyle(at).backgroundColor;
      if (!/, 0\)$/.test(colour)) {
        ground = colour;
        break;
      }
    }
    const own = getComputedStyle(element);
    const [a, b] = [light(element.ownerSVGElement ? own.fill : own.color), light(ground)].sort((x, y) => y - x);
    return (a + 0.05) / (b + 0.05);
  },

  ids() {
    const seen = {};
    for (const element of document.querySelectorAll('[id]')) {
      seen[element.id] = (seen[element.id] ?? 0) + 1;
    }
    return Object.keys(seen).filter((x) => seen[x] > 1);
  },
})
