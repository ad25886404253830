# SPDX-License-Identifier: MIT
"""peer_worker.py NAME THREADS - one library in a process of its own, so that no two of them share a
thread pool or a runtime. compare.py asks, a line of JSON each way, and waits for the answer: only one
process computes at a time.

A variant whose numbers are not those of libqkv is left out, with the largest difference named.
"""
import importlib
import json
import os
import pathlib
import re
import sys
import time

THREADS = int(sys.argv[2])
# before any library counts the CPUs
if THREADS == 1:
    os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[-1:])

import numpy as np  # noqa: E402

import peer_data  # noqa: E402

# largest difference, as a part of the largest number of the result
TOLERANCE = {'f32': 5e-3, 'f64': 1e-9, 'f16': 0.1, 'bf16': 0.1}


class Worker:
    def __init__(self, name):
        self.name = name
        self.peer = importlib.import_module('peer_' + name).Peer(THREADS)
        self.row, self.data, self.calls, self.call = None, None, {}, None
        self.last = 0

    def prepare(self, row, folder):
        """Makes every variant, runs it once and compares it; says how far each was from libqkv."""
        folder = pathlib.Path(folder)
        self.row, self.calls, self.call, self.data = row, {}, None, None
        self.data = peer_data.load(row, folder)
        self.calls = self.peer.variants(row, self.data)
        ours = folder / 'out.npy'
        if self.name == 'qkv':
            for call in self.calls.values():
                np.save(ours, self.peer.result(row, call()))
            return {'variants': {name: 0 for name in self.calls}, 'wrong': {}}
        want = np.load(ours)
        near, wrong = {}, {}
        for name, call in list(self.calls.items()):
            got = self.peer.result(row, call())
            far = float(np.max(np.abs(got - want)) / np.max(np.abs(want)))
            good = far <= TOLERANCE[row['dtype']]  # NaN is not
            (near if good else wrong)[name] = far if np.isfinite(far) else 'NaN'
            if not good:
                del self.calls[name]
        return {'variants': near, 'wrong': wrong}

    def once(self, call, count=1):
        start = time.perf_counter()
        for _ in range(count):
            call()
        return (time.perf_counter() - start) / count

    def choose(self):
        """The fastest variant stays."""
        times = {}
        for name, call in self.calls.items():
            first = self.once(call)
            times[name] = first
            if len(self.calls) > 1 and first < 0.2:
                times[name] = min(self.once(call) for _ in range(3))
        best = min(times, key=times.get)
        self.call, self.last = self.calls[best], times[best]
        self.calls = {best: self.call}
        return {'variant': best, 'seconds': times}

    def measure(self, seconds):
        """Seconds of each of some calls that together last about `seconds`, at least one; a short call
        is first made once more, unmeasured, and very short ones are timed together."""
        if self.last < 0.1:
            self.last = self.once(self.call)
        together = max(1, int(1e-3 / max(self.last, 1e-7)))
        times, end = [], time.perf_counter() + seconds
        while not times or (time.perf_counter() < end and len(times) < 16):
            times.append(self.once(self.call, together))
        self.last = min(times)
        return {'times': times}

    def answer(self, ask):
        what = ask['do']
        if what == 'versions':
            return self.peer.versions()
        if what == 'prepare':
            return self.prepare(ask['row'], ask['folder'])
        if what == 'choose':
            return self.choose()
        if what == 'measure':
            return self.measure(ask['seconds'])
        return {'value': self.peer.answer(what, self.row, self.data)}


def main():
    answers = os.fdopen(os.dup(1), 'w', encoding='utf-8')
    os.dup2(2, 1)  # what libraries print is no answer
    worker = None
    for line in sys.stdin:
        try:
            worker = worker or Worker(sys.argv[1])
            answer = worker.answer(json.loads(line))
        except Exception as error:  # one library's failure is a fact of the report
            why = f'{type(error).__name__}: {error}'.splitlines()[0]
            answer = {'failed': re.sub(r'/\S*/', '', why)[:200]}  # no paths of this machine
        answers.write(json.dumps(answer) + '\n')
        answers.flush()


if __name__ == '__main__':
    main()
