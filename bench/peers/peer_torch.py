# SPDX-License-Identifier: MIT
"""peer_torch.py - PyTorch: scaled_dot_product_attention in both layouts, with the mask in the form that
costs it least; compiled flex_attention, which skips dead tiles, for the other masks; plain products
for one query row.

is_causal takes its fused path; masks that are tensors go in as numbers to be added, which it would
otherwise make of them at every call.
"""
import math

import torch
import torch.nn.functional as F
from torch.nn.attention.flex_attention import create_block_mask, flex_attention

import peer_data
import peer_shapes


class Peer:
    def __init__(self, threads):
        torch.set_num_threads(threads)
        torch.set_num_interop_threads(1)
        torch.set_grad_enabled(False)

    @staticmethod
    def versions():
        return {'torch': torch.__version__}

    @staticmethod
    def tensor(row, x):
        t = torch.from_numpy(x)[None]
        return t.view(torch.bfloat16) if row['dtype'] == 'bf16' else t

    def mask(self, row, data):
        """Added to the scores, or None: of the inputs' type, on huge pages."""
        if row['mask'] in ('full', 'causal'):
            return None
        mask = data['mask'] if 'mask' in data else peer_data.drawn(row)
        if mask.dtype == bool:
            added = peer_data.huge(mask.shape, 'float32')
            added[~mask] = -math.inf
            mask = added
        return torch.from_numpy(mask)[None].to(self.tensor(row, data['q']).dtype)

    def variants(self, row, data):
        q, k, v = (self.tensor(row, data[name]) for name in 'qkv')
        mask, causal = self.mask(row, data), row['mask'] == 'causal'
        if row['rows'] == 1:
            return self.one_row(row, q, k, v)
        turned = [self.tensor(row, peer_data.keep(data[name].transpose(1, 0, 2))).transpose(1, 2)
                  for name in 'qkv']
        found = {}
        for name, (a, b, c) in (('SDPA, heads outside', (q, k, v)), ('SDPA, heads inside', turned)):
            found[name] = lambda a=a, b=b, c=c: F.scaled_dot_product_attention(
                a, b, c, attn_mask=mask, is_causal=causal)
        if row['mask'] not in ('full', 'causal'):
            found['flex_attention, compiled'] = self.flexible(row, q, k, v, mask)
        return found

    @staticmethod
    def flexible(row, q, k, v, mask):
        """With its own picture of which 128 x 128 tiles are dead, made once."""
        tile, left, one = peer_shapes.TILE, peer_shapes.WINDOW_LEFT, row['mask'][-2:] != '-h'
        tiles = None if row['mask'] == 'window' else torch.isfinite(mask[0, :, ::tile, ::tile])

        def in_window(b, h, i, j):
            return (i >= j) & (i - j <= left)

        def in_tiles(b, h, i, j):
            return tiles[h * (not one), i // tile, j // tile]

        def added(score, b, h, i, j):
            return score + mask[0, h * (not one), i, j]
        blocks = create_block_mask(in_tiles if tiles is not None else in_window, None,
                                   None if one else row['h'], row['rows'], row['keys'], device='cpu',
                                   BLOCK_SIZE=tile)
        more = {'score_mod': added} if row['mask'].startswith('bias') else {}
        torch.compiler.reset()
        compiled = torch.compile(flex_attention)
        return lambda: compiled(q, k, v, block_mask=blocks, **more)

    @staticmethod
    def one_row(row, q, k, v):
        """The heads of a group may stand as rows: they share their K and V."""
        h_kv, group, d = row['h_kv'], row['h'] // row['h_kv'], row['d']
        rows = q.reshape(1, h_kv, group, d)
        found = {'SDPA, a group as rows': lambda: F.scaled_dot_product_attention(rows, k, v)}
        if group > 1:
            found['SDPA, enable_gqa'] = lambda: F.scaled_dot_product_attention(q, k, v, enable_gqa=True)
        scale, turned = 1 / math.sqrt(d), k[0].transpose(1, 2)
        found['bmm, softmax, bmm'] = lambda: torch.bmm(torch.softmax(
            torch.bmm(rows[0] * scale, turned), -1), v[0])
        return found

    @staticmethod
    def result(row, out):
        return out.reshape(row['h'], row['rows'], row['d']).to(
            torch.float64 if row['dtype'] == 'f64' else torch.float32).numpy()

    def close(self):
        pass
