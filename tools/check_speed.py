#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""check_speed.py [QKV] - the speed targets, judged on `qkv bench --json` of this machine.

Shares are of the FMA peak that the same run measured. A noisy row gives no verdict. Part of
`make nightly`, never of `make test`: a busy machine is no fault. Exit 1 when a target is missed.
"""
import json
import subprocess
import sys

# one thread, S = 2048: d, mask, dtype, least share of the peak
LEAST = [(64, 'full', 'f32', 0.83), (128, 'full', 'f32', 0.87), (64, 'causal', 'f32', 0.80),
         (128, 'causal', 'f32', 0.80), (64, 'full', 'f64', 0.60), (128, 'full', 'f64', 0.60)]
LEAST_STRIDED = 0.95


def find(rows, what, d, mask, dtype):
    for row in rows:
        if (row['what'], row['s'], row['d'], row['mask'], row['dtype'], row['threads']) == (
                what, 2048, d, mask, dtype, 1):
            return row
    sys.exit(f'check_speed: no row {what} S=2048 d={d} {mask} {dtype}, 1 thread')


def judge(rows):
    """Lines of text and whether each holds; None where the machine was noisy."""
    for d, mask, dtype, least in LEAST:
        row = find(rows, 'prefill', d, mask, dtype)
        text = f'{dtype} d={d} {mask}: {100 * row["share"]:.1f} % of the peak, at least {100 * least:.0f} %'
        # above the peak means that the peak is wrong
        yield text, None if row['noisy'] else least <= row['share'] <= 1
    for d in (64, 128):
        plain = find(rows, 'prefill', d, 'full', 'f32')
        strided = find(rows, 'prefill strided', d, 'full', 'f32')
        part = strided['gflops'] / plain['gflops']
        text = (f'f32 d={d} strided rows: {100 * part:.1f} % of contiguous, '
                f'at least {100 * LEAST_STRIDED:.0f} %')
        yield text, None if plain['noisy'] or strided['noisy'] else part >= LEAST_STRIDED


def main():
    command = sys.argv[1] if len(sys.argv) > 1 else 'build/qkv'
    out = subprocess.run([command, 'bench', '--json'], check=True, stdout=subprocess.PIPE,
                         universal_newlines=True).stdout
    status = 0
    for text, good in judge(json.loads(out)['rows']):
        print(f'{ {True: "yes  ", False: "NO   ", None: "noisy"}[good] } {text}')
        status |= good is False
    return status


if __name__ == '__main__':
    sys.exit(main())
