# SPDX-License-Identifier: MIT
"""compare.py RESULT.json [--quick] [--only WORD] [--bench FILE] [--profile FILE] - measures libqkv beside the other
libraries of this environment and writes what came out; peer_report.py makes docs/performance.md of it.

Rounds are interleaved: in each, every library computes the same row once more, one after another,
each in its own waiting process. A round in which the machine's own peak moved by more than 3 %, or
other programs took its CPUs, is repeated while there is time. QKV_LIBRARY names libqkv.so, QKV_GGML the folder of ggml's libraries;
bench FILE is the output of `qkv bench --json`, profile FILE that of bench/profile, of the same minute, kept beside the rest.
"""
import argparse
import datetime
import json
import os
import pathlib
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

import numpy as np

import peer_data
import peer_machine
import peer_shapes

PEERS = ['torch', 'onnx', 'jax', 'numpy', 'ggml']
HERE = pathlib.Path(__file__).resolve().parent
LEAST_ROUNDS, MOST_ROUNDS = 3, 9  # a library far behind the best takes part in the least only


class Process:
    """A worker; ask() sends, answer() waits."""

    def __init__(self, name, threads):
        env = dict(os.environ, OMP_NUM_THREADS=str(threads), OPENBLAS_NUM_THREADS=str(threads),
                   MKL_NUM_THREADS=str(threads), NPROC=str(threads), PYTHONDONTWRITEBYTECODE='1',
                   JAX_PLATFORMS='cpu')
        for word in ('OPENBLAS_CORETYPE', 'OPENBLAS_L2_SIZE'):
            env.pop(word, None)  # they choose older kernels
        self.name = name
        self.log = tempfile.TemporaryFile()
        self.process = subprocess.Popen([sys.executable, HERE / 'peer_worker.py', name, str(threads)],
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self.log,
                                        env=env, encoding='utf-8')

    def ask(self, what, **more):
        try:
            self.process.stdin.write(json.dumps({'do': what, **more}) + '\n')
            self.process.stdin.flush()
        except BrokenPipeError:
            pass  # answer() says so

    def answer(self):
        line = self.process.stdout.readline()
        return json.loads(line) if line else {'failed': f'ended with status {self.process.wait()}'}

    def call(self, what, **more):
        self.ask(what, **more)
        return self.answer()

    def end(self):
        try:
            self.process.stdin.close()
        except BrokenPipeError:
            pass
        self.process.wait()


def say(text):
    print(text, file=sys.stderr, flush=True)


def check_ours(row, folder):
    """Sentence when libqkv is not what float64 says, on a few rows; None when all is well."""
    data, out = peer_data.load(row, folder), np.load(folder / 'out.npy')
    random = np.random.default_rng(1)
    for _ in range(6):
        head, i = int(random.integers(row['h'])), int(random.integers(row['rows']))
        want = peer_data.exact(row, data, head, i)
        far = np.max(np.abs(out[head, i] - want)) / max(np.max(np.abs(want)), 1e-30)
        if not far <= {'f64': 1e-12, 'f32': 1e-4, 'f16': 2e-3, 'bf16': 2e-2}[row['dtype']]:
            return f'libqkv differs from float64 by {far:.1e} in head {head}, row {i}'
    return None


def prepare(row, folder, processes):
    """Who takes part, as {name: process}, and notes on those who do not; None: libqkv lacks the row."""
    peer_data.make(row, folder)
    ours = processes['qkv'].call('prepare', row=row, folder=str(folder))
    if ours.get('failed'):
        sys.exit(f'compare: libqkv, {peer_shapes.name(row)}: {ours["failed"]}')
    if not ours['variants']:
        return None, {}
    wrong = check_ours(row, folder)
    if wrong:
        sys.exit(f'compare: {peer_shapes.name(row)}: {wrong}')
    others = {name: p for name, p in processes.items() if name != 'qkv'}
    for process in others.values():
        process.ask('prepare', row=row, folder=str(folder))
    here, notes = {'qkv': processes['qkv']}, {}
    for name, process in others.items():
        answer = process.answer()
        if answer.get('failed'):
            notes[name] = {'failed': answer['failed']}
            continue
        notes[name] = {'difference': answer['variants'], 'wrong': answer['wrong']}
        if answer['variants']:
            here[name] = process
    return here, notes


def measure_rounds(here, row, seconds):
    """Which variant each library chose, and the rounds: times, the peak before and after, reads."""
    chosen = {name: process.call('choose') for name, process in here.items()}
    lasts = {name: min(x['seconds'].values()) for name, x in chosen.items() if 'seconds' in x}
    rivals = [t for name, t in lasts.items() if name != 'qkv']
    slow = {name for name, t in lasts.items() if name != 'qkv' and t > max(0.3, 5 * min(rivals))}
    slot = sum(max(0.03, t) for name, t in lasts.items() if name not in slow) + 0.02
    wanted = max(LEAST_ROUNDS, min(MOST_ROUNDS, int(seconds / slot)))
    rounds, start = [], time.monotonic()
    pids = [os.getpid()] + [process.process.pid for process in here.values()]
    while len(rounds) < 3 * wanted:
        began, (machine, ours) = time.monotonic(), peer_machine.cpu_seconds(pids)
        before = here['qkv'].call('peak')['value']
        times = {name: process.call('measure', seconds=0.03) for name, process in here.items()
                 if name not in slow or len(rounds) < LEAST_ROUNDS}
        after = here['qkv'].call('peak')['value']
        later = peer_machine.cpu_seconds(pids)
        others = later[0] - machine - (later[1] - ours)
        # of the CPUs' time; the clock of the system counts in steps of 10 ms
        quiet = min(before, after) >= 0.97 * max(before, after) and \
            others <= 0.03 + 0.03 * (time.monotonic() - began)
        read = here['qkv'].call('read')['value'] if row['rows'] == 1 else None
        rounds.append({'times': times, 'peak': [before, after], 'read': read, 'quiet': quiet})
        enough = sum(r['quiet'] for r in rounds) >= wanted
        if len(rounds) >= wanted and (enough or time.monotonic() - start > 2 * seconds):
            break
    return chosen, rounds


def times_of(name, rounds):
    """The fastest call of each round that the library took part in."""
    return [min(r['times'][name]['times']) for r in rounds if 'times' in r['times'].get(name, {})]


def measure(row, folder, processes, threads, seconds):
    here, notes = prepare(row, folder, processes)
    if here is None:
        return None
    chosen, rounds = measure_rounds(here, row, seconds)
    quiet = [r for r in rounds if r['quiet']]
    used = quiet if len(quiet) >= LEAST_ROUNDS else rounds
    result = {'row': row, 'name': peer_shapes.name(row), 'threads': threads, 'rounds': len(used),
              'noisy': used is rounds and len(quiet) < len(rounds),
              'flops': peer_shapes.flops(row), 'kv_bytes': peer_shapes.kv_bytes(row),
              'peak_gflops': max(max(r['peak']) for r in rounds), 'read_gbs': max((r['read'] or 0 for r in rounds)) or None,
              'libraries': {}, 'absent': {}}
    for name, process in processes.items():
        note = notes.get(name, {})
        times = times_of(name, used) or times_of(name, rounds)
        if times:
            result['libraries'][name] = {
                'seconds': statistics.median(times), 'best': min(times), 'worst': max(times),
                'variant': chosen[name]['variant'], 'tried': chosen[name]['seconds'],
                'difference': note.get('difference', {}).get(chosen[name]['variant'], 0)}
        else:
            wrong = note.get('wrong') or {}
            result['absent'][name] = note.get('failed') or (
                'differs by ' + ' and '.join(x if isinstance(x, str) else f'{x:.0e}' for x in wrong.values())
                if wrong else 'not offered')
    return result


def left_out():
    """{library: why} of what tools/peers_env could not install."""
    path = pathlib.Path(os.environ.get('QKV_LEFT_OUT') or os.devnull)
    lines = path.read_text(encoding='utf-8').splitlines()
    return {name: why.strip() for name, _, why in (line.partition(':') for line in lines)}


def start_level(names, threads, versions, missing):
    """The processes of one number of threads; those that cannot start are named in missing."""
    processes = {name: Process(name, threads) for name in ['qkv'] + names if name not in missing}
    for process in processes.values():
        process.ask('versions')
    for name, process in list(processes.items()):
        answer = process.answer()
        if 'failed' in answer:
            missing[name] = answer['failed']
            process.end()
            del processes[name]
        else:
            versions.update(answer)
    if 'qkv' not in processes:
        sys.exit(f'compare: libqkv: {missing["qkv"]}')
    return processes


def run(args):
    cpus = len(os.sched_getaffinity(0))
    rows = [r for r in peer_shapes.read_all() if (r['quick'] or not args.quick) and
            args.only in peer_shapes.name(r) + ' ' + r['group']]
    result = {'format': 1, 'date': datetime.datetime.now(datetime.timezone.utc).strftime('%Y-%m-%d'),
              'quick': args.quick, 'machine': peer_machine.describe(), 'versions': {}, 'missing': left_out(),
              'rows': []}
    if args.bench:
        result['bench'] = json.loads(pathlib.Path(args.bench).read_text(encoding='utf-8'))
    if args.profile:
        result['profile'] = pathlib.Path(args.profile).read_text(encoding='utf-8')
    shm = '/dev/shm'  # in memory, where it is large enough for the largest row
    shared = shm if os.access(shm, os.W_OK) and shutil.disk_usage(shm).free > 1 << 30 else None
    for threads in [1] if cpus == 1 else [1, cpus]:
        mine = [r for r in rows if r['threads'] == 'both' or (r['threads'] == '1') == (threads == 1)]
        if not mine:
            continue
        processes = start_level(args.peers, threads, result['versions'], result['missing'])
        for number, row in enumerate(mine, 1):
            folder = pathlib.Path(tempfile.mkdtemp(prefix='qkv-peers-', dir=shared))
            try:
                start = time.monotonic()
                done = measure(row, folder, processes, threads, args.seconds)
            finally:
                shutil.rmtree(folder)
            if done:
                result['rows'].append(done)
                say(f'{number}/{len(mine)}, {threads} thread{"s" * (threads > 1)}: {done["name"]}: ' + ', '.join(
                    f'{name} {1e3 * x["seconds"]:.3g} ms' for name, x in done['libraries'].items()) +
                    (', noisy' if done['noisy'] else '') + f' ({time.monotonic() - start:.0f} s)')
        for process in processes.values():
            process.end()
    return result


def main():
    parser = argparse.ArgumentParser(prog='compare', allow_abbrev=False)
    parser.add_argument('result')
    parser.add_argument('--quick', action='store_true')
    parser.add_argument('--only', default='')
    parser.add_argument('--bench')
    parser.add_argument('--profile')
    parser.add_argument('--seconds', type=float, default=None)
    parser.add_argument('--peers', default=','.join(PEERS))
    args = parser.parse_args()
    args.peers = [x for x in args.peers.split(',') if x]
    args.seconds = args.seconds or (1.2 if args.quick else 4.0)
    result = run(args)
    pathlib.Path(args.result).write_text(json.dumps(result, indent=1) + '\n', encoding='utf-8')


if __name__ == '__main__':
    main()
