# SPDX-License-Identifier: MIT
"""lab_measures.py - what the lab's large maps cost, for measure_page.py: rows of (what, measure,
bound).

A measure gives milliseconds. Tables are made in the page and read by the core like a reader's own.
Rows of work count the time that the page's main thread computed (of its longest task), so other
programs do not show in them; the others are what a clock saw.
"""
TABLE = '''async ([n, d]) => { const lab = window.qkv.lab; lab.open(); let seed = 1;
  const next = () => (seed = (seed * 1103515245 + 12345) % 2147483648) / 2147483648 - 0.5;
  const row = () => Array.from({ length: d }, () => next().toFixed(3)).join(',');
  const text = Array.from({ length: n }, row).join('\\n');
  lab.openBytes(new TextEncoder().encode(text));
  while (lab.about.rows !== n) await new Promise((done) => setTimeout(done, 20)); }'''
WAIT = '''while (lab.mapOf(0).left > 0) await new Promise((done) => setTimeout(done, 20));'''
MEDIAN = 'const middle = (all) => all.sort((a, b) => a - b)[all.length >> 1];'
ATTEND = MEDIAN + '''
  const times = []; for (let i = 0; i < 9; i++) { const start = performance.now();
    lab.values(0, 0, lab.about.rows); times.push(performance.now() - start); }
  return middle(times);'''
REPAINT = MEDIAN + '''
  const times = []; for (let i = 0; i < 15; i++) { const start = performance.now();
    lab.maps[0].repaint(); times.push(performance.now() - start); } return middle(times);'''
BEGIN = "await new Promise((done) => setTimeout(done, 0)); performance.mark('measure');"
SLICES = '''lab.forget(); lab.draw();''' + BEGIN + '''
  let worst = 0, last = performance.now();
  while (lab.mapOf(0).left > 0) {
    const now = performance.now(); worst = Math.max(worst, now - last); last = now;
    await new Promise((done) => setTimeout(done, 0)); } return worst;'''
SCROLL = BEGIN + '''
  const box = document.querySelector('#lab .map-scroll'), all = []; let last = performance.now();
  const end = last + 2000; await new Promise((done) => { const step = () => {
    const now = performance.now(); all.push(now - last); last = now;
    box.scrollTop += 37; box.scrollLeft += 23;
    if (now < end) requestAnimationFrame(step); else done(); }; requestAnimationFrame(step); });
  all.sort((a, b) => a - b); return all[Math.floor(all.length * 0.95)];'''
FOCUS = MEDIAN + '''
  const times = []; for (let i = 0; i < 9; i++) { lab.key = 100 + i; lab.keyChosen = true;
    const start = performance.now(); lab.draw(); times.push(performance.now() - start); }
  return middle(times);'''


def run(page, body):
    return page.evaluate('async () => { const lab = window.qkv.lab; ' + body + ' }')


class Trace:
    """What the main thread of a page computed, around its mark "measure"."""

    def __init__(self, page):
        self.page, self.events, self.done = page, [], []
        self.client = page.context.new_cdp_session(page)
        self.client.on('Tracing.dataCollected', lambda part: self.events.extend(part['value']))
        self.client.on('Tracing.tracingComplete', lambda part: self.done.append(part))
        self.client.send('Tracing.start', {'transferMode': 'ReportEvents', 'traceConfig': {
            'excludedCategories': ['*'], 'includedCategories': ['toplevel', 'blink.user_timing']}})

    def tasks(self):
        """Ends it; (ms from the mark to the task's begin, ms of computing) of each task."""
        self.client.send('Tracing.end')
        while not self.done:
            self.page.wait_for_timeout(20)
        mark = [x for x in self.events if x['name'] == 'measure'][-1]
        return [((x['ts'] - mark['ts']) / 1000, x.get('tdur', x.get('dur', 0)) / 1000)
                for x in self.events if x['name'].endswith('RunTask')
                and (x['pid'], x['tid']) == (mark['pid'], mark['tid'])]


def work(page, body):
    """Of the longest task after the mark."""
    trace = Trace(page)
    run(page, body)
    return max((ms for begin, ms in trace.tasks() if begin > 0), default=0.0)


def rows(pages):
    """pages(n) gives a page with a table of n rows, all its weights computed."""
    yield 'weights of 256 tokens, 64 channels', lambda: run(pages(256), ATTEND), 8
    yield 'repaint of a map of 1,024', lambda: run(pages(1024), REPAINT), 8
    yield 'computing 1,024: work of the longest task', lambda: work(pages(1024), SLICES), 8
    yield 'computing 1,024: longest wait of a timer', lambda: run(pages(1024), SLICES), 16
    yield 'scrolling 2,048: work of the longest task', lambda: work(pages(2048), SCROLL), 16
    yield 'scrolling 2,048: 95 of 100 frames', lambda: run(pages(2048), SCROLL), 20
    yield 'another cell of 2,048', lambda: run(pages(2048), FOCUS), 16
