# SPDX-License-Identifier: MIT
"""peer_data.py - the numbers that every library gets: the same for all, made once, handed on as files.

Tensors are N(0,1) in float32, rounded to the row's type; of a mask exactly half of the tiles are
dead. 16-bit bfloat travels as uint16. Each process keeps its inputs on huge pages where the system
gives them, so that no library is slower for the memory it was handed.
"""
import mmap

import numpy as np

import peer_shapes

STORED = {'f32': np.float32, 'f64': np.float64, 'f16': np.float16, 'bf16': np.uint16}


def huge(shape, dtype):
    """An array of zeros on 2 MiB pages, if there are any."""
    dtype = np.dtype(dtype)
    count = int(np.prod(shape))
    size = max(1, count * dtype.itemsize)
    page = 1 << 21
    memory = mmap.mmap(-1, size + page, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    if hasattr(mmap, 'MADV_HUGEPAGE'):
        try:
            memory.madvise(mmap.MADV_HUGEPAGE)
        except OSError:
            pass  # a kernel without them: all get small pages alike
    start = -np.frombuffer(memory, np.uint8).ctypes.data % page
    return np.frombuffer(memory, dtype, count, start).reshape(shape)


def keep(array, dtype=None):
    """A copy on huge pages."""
    copy = huge(array.shape, dtype or array.dtype)
    copy[...] = array
    return copy


def to_bfloat(x):
    """float32 to the bits of bfloat16, ties to even; no NaN."""
    bits = x.view(np.uint32)
    return ((bits + 0x7fff + (bits >> 16 & 1)) >> 16).astype(np.uint16)


def widen(x, dtype):
    """The same numbers in float32 (float64 where they are)."""
    if dtype == 'bf16':
        return (x.astype(np.uint32) << 16).view(np.float32)
    return x.astype(np.float64 if dtype == 'f64' else np.float32)


def narrow(x, dtype):
    return to_bfloat(x) if dtype == 'bf16' else x.astype(STORED[dtype])


def seen_tiles(row, random):
    """[heads of the mask, tiles, tiles] of bool, half of each head's true."""
    heads = row['h'] if row['mask'].endswith('-h') else 1
    across = row['keys'] // peer_shapes.TILE
    tiles = np.zeros((heads, across * across), bool)
    for head in tiles:
        head[random.permutation(across * across)[:across * across // 2]] = True
    return tiles.reshape(heads, across, across)


def make(row, folder):
    """Writes q, k, v and what the row's mask needs to folder; the same at every call."""
    random = np.random.default_rng(20240229)
    for name, heads, rows in (('q', row['h'], row['rows']), ('k', row['h_kv'], row['keys']),
                              ('v', row['h_kv'], row['keys'])):
        x = random.standard_normal((heads, rows, row['d']), np.float32)
        np.save(folder / f'{name}.npy', narrow(x, row['dtype']))
    if row['mask'].startswith(('bool', 'bias')):
        seen = seen_tiles(row, random).repeat(peer_shapes.TILE, 1).repeat(peer_shapes.TILE, 2)
        if row['mask'].startswith('bool'):
            np.save(folder / 'mask.npy', seen)
        else:
            bias = random.standard_normal(seen.shape, np.float32)
            bias[~seen] = -np.inf
            np.save(folder / 'mask.npy', bias)


def load(row, folder):
    """The tensors as a dict: q, k, v of [heads, rows, channels], mask of [heads or 1, rows, keys] of
    bool or float32 where the row's mask is a tensor."""
    names = ['q', 'k', 'v'] + ['mask'] * row['mask'].startswith(('bool', 'bias'))
    return {name: keep(np.load(folder / f'{name}.npy', mmap_mode='r')) for name in names}


def drawn(row):
    """The mask of a range as a tensor, for libraries that know no ranges: [1, rows, keys] of bool."""
    i, j = np.arange(row['rows'])[:, None], np.arange(row['keys'])[None, :]
    seen = j <= i
    if row['mask'] == 'window':
        seen &= j >= i - peer_shapes.WINDOW_LEFT
    return seen[None]


def exact(row, data, head, i):
    """One row of the result in float64, straight from the definition."""
    q, k, v = (widen(data[name][h], row['dtype']).astype(np.float64) for name, h in (
        ('q', head), ('k', head * row['h_kv'] // row['h']), ('v', head * row['h_kv'] // row['h'])))
    score = k @ q[i] / np.sqrt(row['d'])
    if 'mask' in data:
        mask = data['mask'][head % len(data['mask'])][i]
        score = np.where(mask, score, -np.inf) if mask.dtype == bool else score + mask
    elif row['mask'] != 'full':
        seen = np.arange(row['keys']) <= i
        if row['mask'] == 'window':
            seen &= np.arange(row['keys']) >= i - peer_shapes.WINDOW_LEFT
        score = np.where(seen, score, -np.inf)
    e = np.exp(score - score.max()) if np.isfinite(score.max()) else np.zeros_like(score)
    return e @ v / (e.sum() or 1)
