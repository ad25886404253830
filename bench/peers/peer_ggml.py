# SPDX-License-Identifier: MIT
"""peer_ggml.py - ggml's CPU code through ctypes, from the source of llama-cpp-python, built here:
ggml_flash_attn_ext, and the two products with softmax between them that llama.cpp uses without it.

Graph and work memory are made once; a call computes the graph. Masks are float16, as it wants them,
queries float32. The structs are those of the version that tools/peers_env builds.
"""
import ctypes
import os

import numpy as np

import peer_data

TYPES = {'f32': 0, 'f16': 1, 'bf16': 30}
POINTER, INT, I64, SIZE, FLOAT = (ctypes.c_void_p, ctypes.c_int, ctypes.c_int64, ctypes.c_size_t,
                                  ctypes.c_float)


class Init(ctypes.Structure):
    _fields_ = [('mem_size', SIZE), ('mem_buffer', POINTER), ('no_alloc', ctypes.c_bool)]


class Plan(ctypes.Structure):
    _fields_ = [('work_size', SIZE), ('work_data', POINTER), ('n_threads', INT),
                ('threadpool', POINTER), ('abort', POINTER), ('abort_data', POINTER),
                ('use_ref', ctypes.c_bool)]


def load():
    folder = os.environ['QKV_GGML']
    base = ctypes.CDLL(os.path.join(folder, 'libggml-base.so'), ctypes.RTLD_GLOBAL)
    cpu = ctypes.CDLL(os.path.join(folder, 'libggml-cpu.so'), ctypes.RTLD_GLOBAL)
    tensor = [POINTER] * 3
    for lib, name, result, arguments in (
            (base, 'ggml_init', POINTER, [Init]), (base, 'ggml_free', None, [POINTER]),
            (base, 'ggml_version', ctypes.c_char_p, []),
            (base, 'ggml_new_tensor_4d', POINTER, [POINTER, INT, I64, I64, I64, I64]),
            (base, 'ggml_get_data', POINTER, [POINTER]),
            (base, 'ggml_flash_attn_ext', POINTER, [POINTER] * 5 + [FLOAT] * 3),
            (base, 'ggml_mul_mat', POINTER, tensor),
            (base, 'ggml_soft_max_ext', POINTER, tensor + [FLOAT, FLOAT]),
            (base, 'ggml_new_graph', POINTER, [POINTER]),
            (base, 'ggml_build_forward_expand', None, [POINTER, POINTER]),
            (cpu, 'ggml_cpu_init', None, []),
            (cpu, 'ggml_graph_plan', Plan, [POINTER, INT, POINTER]),
            (cpu, 'ggml_graph_compute', INT, [POINTER, POINTER])):
        function = getattr(lib, name)
        function.restype, function.argtypes = result, arguments
    cpu.ggml_cpu_init()
    return base, cpu


class Peer:
    def __init__(self, threads):
        self.base, self.cpu = load()
        self.threads = threads
        self.contexts = []

    def versions(self):
        return {'ggml': self.base.ggml_version().decode()}

    def context(self, size):
        memory = peer_data.huge([size], np.uint8)
        context = self.base.ggml_init(Init(size, memory.ctypes.data, False))
        self.contexts.append((context, memory))
        return context

    def put(self, context, x, kind):
        """A tensor with the array's numbers: channels first, as ggml counts."""
        sizes = list(x.shape[::-1]) + [1] * (4 - x.ndim)
        tensor = self.base.ggml_new_tensor_4d(context, kind, *sizes)
        ctypes.memmove(self.base.ggml_get_data(tensor), x.ctypes.data, x.nbytes)
        return tensor

    def graph(self, context, result, shape, order=(0, 1, 2)):
        """A function that computes result: [heads, rows, channels] of float32 once in that order."""
        graph = self.base.ggml_new_graph(context)
        self.base.ggml_build_forward_expand(graph, result)
        plan = self.cpu.ggml_graph_plan(graph, self.threads, None)
        work = peer_data.huge([max(1, plan.work_size)], np.uint8)
        plan.work_data = work.ctypes.data
        compute, where = self.cpu.ggml_graph_compute, ctypes.byref(plan)
        address = self.base.ggml_get_data(result)
        floats = (FLOAT * int(np.prod(shape))).from_address(address)
        out = np.frombuffer(floats, np.float32).reshape(shape).transpose(order)

        def call(_kept=(plan, work)):
            if compute(graph, where):
                raise RuntimeError('ggml_graph_compute failed')
            return out
        return call

    def mask(self, context, row, data):
        if row['mask'] == 'full':
            return None
        mask = data['mask'] if 'mask' in data else peer_data.drawn(row)
        if mask.dtype == bool:
            mask = np.where(mask, np.float16(0), np.float16(-np.inf))
        return self.put(context, np.ascontiguousarray(mask.astype(np.float16)), TYPES['f16'])

    def variants(self, row, data):
        self.close()
        if row['dtype'] not in TYPES:
            return {}
        kind, scale = TYPES[row['dtype']], 1 / np.sqrt(row['d'])
        q = peer_data.widen(data['q'], row['dtype'])
        space = (1 << 26) + 3 * q.nbytes + 2 * (data['k'].nbytes + data['v'].nbytes)
        space += 12 * row['rows'] * row['keys'] * (row['h'] if row['mask'].endswith('-h') else 1)
        space += 4 * row['rows'] * row['keys'] * row['h'] * 2
        context = self.context(space)
        q, k, v = self.put(context, q, 0), self.put(context, data['k'], kind), self.put(
            context, data['v'], kind)
        mask = self.mask(context, row, data)
        fused = self.base.ggml_flash_attn_ext(context, q, k, v, mask, scale, 0, 0)
        heads, rows, d = row['h'], row['rows'], row['d']
        found = {'flash_attn_ext': self.graph(context, fused, (rows, heads, d), (1, 0, 2))}
        turned = np.ascontiguousarray(data['v'].transpose(0, 2, 1))
        scores = self.base.ggml_mul_mat(context, k, q)
        weights = self.base.ggml_soft_max_ext(context, scores, mask, scale, 0)
        out = self.base.ggml_mul_mat(context, self.put(context, turned, kind), weights)
        found['mul_mat, soft_max_ext, mul_mat'] = self.graph(context, out, (heads, rows, d))
        return found

    @staticmethod
    def result(row, out):
        return out.copy()

    def close(self):
        for context, _ in self.contexts:
            self.base.ggml_free(context)
        self.contexts.clear()
