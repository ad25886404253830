# SPDX-License-Identifier: MIT
"""peer_numpy.py - NumPy with the lesson's own program, a head at a time; the second variant keeps its
scale in the type of the input, where the lesson's turns float32 into float64.

OPENBLAS_NUM_THREADS is set by the driver before NumPy is loaded.
"""
import numpy as np


# the lines that the lesson writes, lesson/program.c; a test compares them
def attention(Q, K, V):
    d_k = K.shape[-1]
    scores = Q @ K.T
    scaled = scores / np.sqrt(d_k)
    top = scaled.max(axis=-1, keepdims=True)
    e = np.exp(scaled - top)
    weights = e / e.sum(axis=-1, keepdims=True)
    return weights, weights @ V


def attention_causal(Q, K, V):
    d_k = K.shape[-1]
    scores = Q @ K.T
    scaled = scores / np.sqrt(d_k)
    i, j = np.indices(scores.shape)
    seen = j <= i + 0
    top = np.where(seen, scaled, -np.inf).max(axis=-1, keepdims=True)
    top = np.where(np.isfinite(top), top, 0)
    e = np.where(seen, np.exp(np.where(seen, scaled - top, 0)), 0)
    total = e.sum(axis=-1, keepdims=True)
    weights = e / np.where(total > 0, total, 1)
    return weights, weights @ V


def attention_narrow(Q, K, V):
    scaled = Q @ K.T * K.dtype.type(1 / np.sqrt(K.shape[-1]))
    top = scaled.max(axis=-1, keepdims=True)
    e = np.exp(scaled - top)
    weights = e / e.sum(axis=-1, keepdims=True)
    return weights, weights @ V


class Peer:
    def __init__(self, threads):
        pass

    @staticmethod
    def versions():
        return {'numpy': np.__version__}

    @staticmethod
    def variants(row, data):
        if row['dtype'] not in ('f32', 'f64') or row['mask'] not in ('full', 'causal'):
            return {}
        q, k, v = data['q'], data['k'], data['v']
        group = row['h'] // row['h_kv']
        if row['rows'] == 1:  # the heads of a group as rows: they share their K and V
            q = q.reshape(row['h_kv'], group, row['d'])

        def heads(one):
            return lambda: np.stack([one(q[h], k[h], v[h])[1] for h in range(len(k))])
        if row['mask'] == 'causal':
            return {"the lesson's": heads(attention_causal)}
        return {"the lesson's": heads(attention), "the lesson's, float32 kept": heads(attention_narrow)}

    @staticmethod
    def result(row, out):
        return out.reshape(row['h'], row['rows'], row['d'])

    def close(self):
        pass
