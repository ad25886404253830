# SPDX-License-Identifier: MIT
"""lab_measures.py - what the lab's large maps cost, for measure_page.py: rows of (what, ms, bound).

Tables are made in the page and read by the core like a reader's own; a bound is for a page alone on
its machine.
"""
TABLE = '''async ([n, d]) => { const lab = window.qkv.lab; lab.open(); let seed = 1;
  const next = () => (seed = (seed * 1103515245 + 12345) % 2147483648) / 2147483648 - 0.5;
  const text = Array.from({ length: n }, () => Array.from({ length: d }, () => next().toFixed(3)).join(',')).join('\\n');
  lab.openBytes(new TextEncoder().encode(text));
  while (lab.about.rows !== n) await new Promise((done) => setTimeout(done, 20)); }'''
WAIT = '''async () => { const lab = window.qkv.lab;
  while (lab.mapOf(0).left > 0) await new Promise((done) => setTimeout(done, 20)); }'''
MEDIAN = 'const middle = (all) => all.sort((a, b) => a - b)[all.length >> 1];'
ATTEND = MEDIAN + '''
  const times = []; for (let i = 0; i < 9; i++) { const start = performance.now();
    lab.values(0, 0, lab.about.rows); times.push(performance.now() - start); } return middle(times);'''
REPAINT = MEDIAN + '''
  const times = []; for (let i = 0; i < 15; i++) { const start = performance.now();
    lab.maps[0].repaint(); times.push(performance.now() - start); } return middle(times);'''
SLICES = '''let worst = 0, last = performance.now(), on = true; const map = lab.mapOf(0);
  lab.forget(); lab.draw();
  const tick = () => { const now = performance.now(); worst = Math.max(worst, now - last); last = now; };
  while (lab.mapOf(0).left > 0) { tick(); await new Promise((done) => setTimeout(done, 0)); } return worst;'''
SCROLL = '''const box = document.querySelector('#lab .map-scroll'), all = []; let last = performance.now();
  const end = last + 3000; await new Promise((done) => { const step = () => { const now = performance.now();
    all.push(now - last); last = now; box.scrollTop += 37; box.scrollLeft += 23;
    if (now < end) requestAnimationFrame(step); else done(); }; requestAnimationFrame(step); });
  all.sort((a, b) => a - b); return all[Math.floor(all.length * 0.95)];'''
FOCUS = MEDIAN + '''
  const times = []; for (let i = 0; i < 9; i++) { lab.key = 100 + i; lab.keyChosen = true;
    const start = performance.now(); lab.draw(); times.push(performance.now() - start); } return middle(times);'''


def run(page, body):
    return page.evaluate('async () => { const lab = window.qkv.lab; ' + body + ' }')


def rows(page):
    page.evaluate(TABLE, [256, 64])
    page.evaluate(WAIT)
    yield 'weights of 256 tokens, 64 channels', run(page, ATTEND), 8
    page.evaluate(TABLE, [1024, 64])
    page.evaluate(WAIT)
    yield 'repaint of a map of 1,024', run(page, REPAINT), 8
    yield 'longest pause while 1,024 are computed', run(page, SLICES), 16
    page.evaluate(TABLE, [2048, 64])
    page.evaluate("document.getElementById('lab').scrollIntoView()")
    yield 'scrolling 2,048: 95 of 100 frames', run(page, SCROLL), 20
    page.evaluate(WAIT)
    yield 'another cell of 2,048', run(page, FOCUS), 16
