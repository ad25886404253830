# SPDX-License-Identifier: MIT
"""peer_onnx.py - ONNX Runtime: its MultiHeadAttention (fused), the standard's Attention, and
GroupQueryAttention for grouped heads and windows, each as a model of one node.

Inputs and outputs are bound once: a run copies nothing. MultiHeadAttention and GroupQueryAttention
want [batch, rows, heads * channels].
"""
import math

import numpy as np
import onnxruntime as ort
from onnx import TensorProto, helper

import peer_data
import peer_shapes

TYPES = {'f32': (TensorProto.FLOAT, np.float32), 'f64': (TensorProto.DOUBLE, np.float64),
         'f16': (TensorProto.FLOAT16, np.float16)}
CONTRIB = 'com.microsoft'


def flat(x):
    """[heads, rows, channels] to [1, rows, heads * channels]."""
    return np.ascontiguousarray(x.transpose(1, 0, 2)).reshape(1, x.shape[1], -1)


class Peer:
    def __init__(self, threads):
        self.options = ort.SessionOptions()
        self.options.intra_op_num_threads = threads
        self.options.inter_op_num_threads = 1
        self.options.log_severity_level = 4

    @staticmethod
    def versions():
        return {'onnxruntime': ort.__version__}

    def node(self, row, op, domain, inputs, out_shape, **attributes):
        """A function that runs one node; inputs: name to array, in order, None: left out."""
        given = {name: x for name, x in inputs.items() if x is not None}
        kinds = {np.dtype(np.float32): TensorProto.FLOAT, np.dtype(np.float64): TensorProto.DOUBLE,
                 np.dtype(np.float16): TensorProto.FLOAT16, np.dtype(bool): TensorProto.BOOL,
                 np.dtype(np.int32): TensorProto.INT32}
        made = helper.make_node(op, [name if name in given else '' for name in inputs], ['out'],
                                domain=domain, **attributes)
        graph = helper.make_graph(
            [made], 'one', [helper.make_tensor_value_info(name, kinds[x.dtype], x.shape)
                            for name, x in given.items()],
            [helper.make_tensor_value_info('out', TYPES[row['dtype']][0], out_shape)])
        model = helper.make_model(graph, ir_version=10, opset_imports=[
            helper.make_opsetid('', 23), helper.make_opsetid(CONTRIB, 1)])
        session = ort.InferenceSession(model.SerializeToString(), self.options,
                                       providers=['CPUExecutionProvider'])
        binding = session.io_binding()
        kept = {name: ort.OrtValue.ortvalue_from_numpy(peer_data.keep(x)) for name, x in given.items()}
        for name, x in kept.items():
            binding.bind_ortvalue_input(name, x)
        out = ort.OrtValue.ortvalue_from_numpy(peer_data.huge(out_shape, TYPES[row['dtype']][1]))
        binding.bind_ortvalue_output('out', out)

        def call(_kept=kept):
            session.run_with_iobinding(binding)
            return out
        return call

    def variants(self, row, data):
        if row['dtype'] not in TYPES:
            return {}
        q, k, v = data['q'], data['k'], data['v']
        made = {}
        group, one = row['h'] // row['h_kv'], row['rows'] == 1
        if group > 1 and one:  # a group's heads as rows: they share their K and V
            q = q.reshape(row['h_kv'], group, row['d'])
        if row['dtype'] == 'f32' and row['mask'] != 'window':
            made['MultiHeadAttention'] = lambda: self.multi_head(row, q, k, v, data)
        made['Attention'] = lambda: self.standard(row, q, k, v, data)
        if row['mask'] in ('causal', 'window') or one:
            made['GroupQueryAttention'] = lambda: self.grouped(row, data)
        found = {}
        for name, make in made.items():
            try:
                found[name] = make()
                found[name]()
            except Exception:  # this type or mask is not in this operator
                found.pop(name, None)
        return found

    def multi_head(self, row, q, k, v, data):
        mask = data.get('mask')
        if mask is not None and mask.dtype == bool:
            mask = np.where(mask, np.float32(0), np.float32(-np.inf))
        inputs = {'query': flat(q), 'key': flat(k), 'value': flat(v), 'bias': None,
                  'key_padding_mask': None, 'attention_bias': None if mask is None else mask[None]}
        return self.node(row, 'MultiHeadAttention', CONTRIB, inputs, flat(q).shape,
                         num_heads=q.shape[0], unidirectional=int(row['mask'] == 'causal'))

    def standard(self, row, q, k, v, data):
        mask = peer_data.drawn(row) if row['mask'] == 'window' else data.get('mask')
        inputs = {'q': q[None], 'k': k[None], 'v': v[None],
                  'mask': None if mask is None else mask[None]}
        return self.node(row, 'Attention', '', inputs, q[None].shape,
                         is_causal=int(row['mask'] == 'causal'))

    def grouped(self, row, data):
        """Causal by nature. One row: all keys but the newest lie in its cache, as it wants them."""
        q, k, v = data['q'], data['k'], data['v']
        cached = row['keys'] - 1 if row['rows'] == 1 else 0
        past = {'past_k': None, 'past_v': None}
        if cached:
            past = {'past_k': k[None], 'past_v': v[None]}  # a buffer of full length, filled but for one
        inputs = {'query': flat(q), 'key': flat(k[:, cached:]), 'value': flat(v[:, cached:]), **past,
                  'seqlens_k': np.array([row['keys'] - 1], np.int32),
                  'total': np.array([row['keys']], np.int32)}
        window = peer_shapes.WINDOW_LEFT + 1 if row['mask'] == 'window' else -1
        return self.cache_node(row, inputs, window, math.sqrt(1 / row['d']))

    def cache_node(self, row, inputs, window, scale):
        """Like node(), with the cache as inputs and outputs of the same memory."""
        kind, stored = TYPES[row['dtype']]
        kinds = {'seqlens_k': TensorProto.INT32, 'total': TensorProto.INT32}
        given = {name: x for name, x in inputs.items() if x is not None}
        made = helper.make_node('GroupQueryAttention', [n if n in given else '' for n in inputs],
                                ['out', 'k', 'v'], domain=CONTRIB, num_heads=row['h'],
                                kv_num_heads=row['h_kv'], local_window_size=window, scale=scale)
        cache = [1, row['h_kv'], row['keys'], row['d']]
        shapes = {'out': [1, row['rows'], row['h'] * row['d']], 'k': cache, 'v': cache}
        graph = helper.make_graph(
            [made], 'one', [helper.make_tensor_value_info(n, kinds.get(n, kind), x.shape)
                            for n, x in given.items()],
            [helper.make_tensor_value_info(n, kind, s) for n, s in shapes.items()])
        model = helper.make_model(graph, ir_version=10, opset_imports=[
            helper.make_opsetid('', 23), helper.make_opsetid(CONTRIB, 1)])
        session = ort.InferenceSession(model.SerializeToString(), self.options,
                                       providers=['CPUExecutionProvider'])
        binding = session.io_binding()
        kept = {n: ort.OrtValue.ortvalue_from_numpy(peer_data.keep(x)) for n, x in given.items()}
        for n, x in kept.items():
            binding.bind_ortvalue_input(n, x)
        for n, s in shapes.items():
            kept['out ' + n] = kept.get('past_' + n) or ort.OrtValue.ortvalue_from_numpy(
                peer_data.huge(s, stored))
            binding.bind_ortvalue_output(n, kept['out ' + n])

        def call():
            session.run_with_iobinding(binding)
            return kept['out out']
        return call

    @staticmethod
    def result(row, out):
        x = out.numpy().astype(np.float64 if row['dtype'] == 'f64' else np.float32)
        if x.ndim == 3 and row['rows'] > 1:  # [1, rows, heads * channels]
            return x.reshape(row['rows'], row['h'], row['d']).transpose(1, 0, 2)
        if x.ndim == 3 and x.shape[1] > 1:  # a group's heads were rows
            x = x.reshape(x.shape[1], row['h_kv'], row['d']).transpose(1, 0, 2)
        return x.reshape(row['h'], row['rows'], row['d'])

    def close(self):
        pass
