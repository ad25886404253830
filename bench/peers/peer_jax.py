# SPDX-License-Identifier: MIT
"""peer_jax.py - JAX: jax.nn.dot_product_attention, compiled, with its own words for causal, window,
mask, bias and grouped heads. It wants [batch, rows, heads, channels].

How many threads it uses is decided by the CPUs that the process may run on: the driver sets them.
"""
import jax
import jax.numpy as jnp
import ml_dtypes

import peer_data
import peer_shapes

jax.config.update('jax_enable_x64', True)


class Peer:
    def __init__(self, threads):
        pass

    @staticmethod
    def versions():
        return {'jax': jax.__version__}

    @staticmethod
    def tensor(row, x):
        x = peer_data.keep(x.transpose(1, 0, 2))[None]
        if row['dtype'] == 'bf16':
            return jax.device_put(x.view(ml_dtypes.bfloat16))
        return jnp.from_dlpack(x)  # in place

    def variants(self, row, data):
        q, k, v = (self.tensor(row, data[name]) for name in 'qkv')
        words = {}
        if row['mask'] == 'causal':
            words['is_causal'] = True
        if row['mask'] == 'window':
            words['local_window_size'] = (peer_shapes.WINDOW_LEFT, 0)
        tensors = {}
        if 'mask' in data:
            name = 'mask' if data['mask'].dtype == bool else 'bias'
            tensors[name] = jax.device_put(data['mask'][None])
        compiled = jax.jit(lambda q, k, v, **more: jax.nn.dot_product_attention(
            q, k, v, implementation='xla', **words, **more))
        return {'dot_product_attention': lambda: compiled(q, k, v, **tensors).block_until_ready()}

    @staticmethod
    def result(row, out):
        wide = out[0].astype(jnp.float64 if row['dtype'] == 'f64' else jnp.float32)
        return jax.device_get(wide).transpose(1, 0, 2)

    def close(self):
        jax.clear_caches()
