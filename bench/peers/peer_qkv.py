# SPDX-License-Identifier: MIT
"""peer_qkv.py - libqkv through ctypes, as a Python program would use it: a plan made once, a run a call.

The structs are those of include/qkv/; the library checks their sizes. Also its measuring loops: what
this machine's multiply-adds and reads can do.
"""
import ctypes
import os

import numpy as np

import peer_data
import peer_shapes

DTYPE = {'f32': 1, 'f16': 2, 'bf16': 3, 'f64': 4, 'bool': 5}
USE = {'causal': 1 << 1, 'window': 1 << 2, 'bool': 1 << 9, 'bias': 1 << 10}
UNSUPPORTED = -3
POINTER, I64, I32, U64, U32 = (ctypes.c_void_p, ctypes.c_int64, ctypes.c_int32, ctypes.c_uint64,
                               ctypes.c_uint32)
DOUBLE = ctypes.c_double


class Struct(ctypes.Structure):
    """Starts with its own size."""

    def __init__(self, **members):
        super().__init__(**members)
        self.size = ctypes.sizeof(self)


class Shape(ctypes.Structure):
    _fields_ = [('dtype', I32), ('reserved', I32), ('dim', I64 * 4), ('stride', I64 * 4)]


class Params(Struct):
    _fields_ = [('size', U32), ('isa', I32), ('use', U64), ('q', Shape), ('k', Shape), ('v', Shape),
                ('out', Shape), ('scale', DOUBLE), ('q_offset', I64), ('max_threads', I32),
                ('reserved', I32), ('window_left', I64), ('window_right', I64), ('prefix', I64),
                ('sequences', I64), ('align', I32), ('reserved2', I32), ('mask', Shape),
                ('bias', Shape), ('mask_drops', I32), ('slopes_by_batch', I32),
                ('alibi_max_bias', DOUBLE), ('softcap', DOUBLE), ('dropout', DOUBLE)]


class RunArgs(Struct):
    _fields_ = [('size', U32), ('reserved', U32), ('q', POINTER), ('k', POINTER), ('v', POINTER),
                ('out', POINTER), ('lse', POINTER), ('workspace', POINTER),
                ('workspace_size', ctypes.c_size_t), ('threads', POINTER), ('cancel', POINTER),
                ('tap', POINTER), ('kv_len', POINTER), ('q_len', POINTER), ('kv_start', POINTER),
                ('q_offset', POINTER), ('cu_q', POINTER), ('cu_k', POINTER), ('mask', POINTER),
                ('bias', POINTER)]


class Error(Struct):
    _fields_ = [('size', U32), ('status', I32), ('arg', ctypes.c_char * 48), ('got', I64),
                ('want', I64), ('text', ctypes.c_char * 184)]


class ProbeArgs(Struct):
    _fields_ = [('size', U32), ('isa', I32), ('kind', I32), ('variant', I32), ('repeat', I64),
                ('buffer', POINTER), ('buffer_size', ctypes.c_size_t), ('threads', POINTER)]


def dense(dtype, heads, rows, channels):
    shape = Shape(DTYPE[dtype])
    shape.dim[:] = [1, heads, rows, channels]
    shape.stride[:] = [heads * rows * channels, rows * channels, channels, 1]
    return shape


class Library:
    """One for a process: the shared library and a pool of its threads."""

    def __init__(self, threads):
        self.lib = lib = ctypes.CDLL(os.environ['QKV_LIBRARY'])
        for name in ('qkv_isa_name', 'qkv_status_name'):
            getattr(lib, name).restype = ctypes.c_char_p
        lib.qkv_plan_workspace.restype = ctypes.c_size_t
        lib.qkv_plan_workspace.argtypes = [POINTER]
        lib.qkv_plan_destroy.argtypes = [POINTER]
        lib.qkv_pool_threads.restype = POINTER
        lib.qkv_pool_threads.argtypes = [POINTER]
        self.threads, self.executor = threads, None
        if threads > 1:
            pool = POINTER()
            error = Error()
            self.check(lib.qkv_pool_create(ctypes.byref(pool), threads, None, ctypes.byref(error)), error)
            self.executor = lib.qkv_pool_threads(pool)
        self.probes = {}

    @staticmethod
    def check(status, error):
        if status:
            raise RuntimeError(error.text.decode())

    def isa(self):
        names = [self.lib.qkv_isa_id(i) for i in range(self.lib.qkv_isa_count())]
        best = [i for i in names if self.lib.qkv_isa_usable(i)][-1]
        return self.lib.qkv_isa_name(best).decode()

    def version(self):
        number = self.lib.qkv_version()
        return f'{number >> 16}.{number >> 8 & 255}.{number & 255}'

    def probe(self, kind, isa, variant, repeat, buffer=None, size=0):
        """Amount of work of one run of a measuring loop, and seconds; None past the last variant."""
        import time
        args = ProbeArgs(isa=isa, kind=kind, variant=variant, repeat=repeat, buffer=buffer,
                         buffer_size=size, threads=self.executor)
        amount = DOUBLE()
        start = time.perf_counter()
        if self.lib.qkv_probe(ctypes.byref(args), ctypes.byref(amount), None):
            return None
        return amount.value, time.perf_counter() - start

    def peak(self, dtype):
        """GF/s of the fastest loop, about 3 ms; the first call looks for it."""
        kind = 2 if dtype == 'f64' else 1
        if kind not in self.probes:
            found = (0, 0, 0)
            for i in range(self.lib.qkv_isa_count()):
                isa = self.lib.qkv_isa_id(i)
                variant = 0
                while self.lib.qkv_isa_usable(isa) and (once := self.probe(kind, isa, variant, 1)):
                    repeat = max(1, int(2e-3 / max(self.probe(kind, isa, variant, 1)[1], 1e-7)))
                    speed = max(once[0] * repeat / self.probe(kind, isa, variant, repeat)[1]
                                for _ in range(3))
                    found = max(found, (speed, isa, variant))
                    variant += 1
            once = self.probe(kind, found[1], found[2], 1)[0]
            self.probes[kind] = found[1], found[2], int(found[0] * 1e-3 / once) + 1
        return max(amount / seconds for amount, seconds in (
            self.probe(kind, *self.probes[kind]) for _ in range(3))) * 1e-9

    def read(self, array):
        """GB/s of plain reads of an array, the best of all loops."""
        best = 0
        for i in range(self.lib.qkv_isa_count()):
            isa = self.lib.qkv_isa_id(i)
            variant = 0
            while self.lib.qkv_isa_usable(isa) and (
                    done := self.probe(3, isa, variant, 1, array.ctypes.data, array.nbytes)):
                best = max(best, done[0] / done[1] * 1e-9)
                variant += 1
        return best


class Peer:
    """What peer_worker.py asks of every library."""

    def __init__(self, threads):
        self.library = Library(threads)
        self.plan = None

    def versions(self):
        return {'qkv': self.library.version(), 'kernels': self.library.isa()}

    def params(self, row):
        params = Params(max_threads=self.library.threads, use=USE.get(row['mask'].partition('-')[0], 0),
                        window_left=peer_shapes.WINDOW_LEFT)
        params.q = params.out = dense(row['dtype'], row['h'], row['rows'], row['d'])
        params.k = params.v = dense(row['dtype'], row['h_kv'], row['keys'], row['d'])
        heads = row['h'] if row['mask'].endswith('-h') else 1
        params.mask = dense('bool', heads, row['rows'], row['keys'])
        params.bias = dense('f32', heads, row['rows'], row['keys'])
        return params

    def variants(self, row, data):
        """Names and functions; each call computes once and returns what result() understands."""
        self.close()
        lib, error, plan, params = self.library.lib, Error(), POINTER(), self.params(row)
        status = lib.qkv_plan_create(ctypes.byref(plan), ctypes.byref(params), None, ctypes.byref(error))
        if status == UNSUPPORTED:
            return {}
        self.library.check(status, error)
        self.plan = plan
        size = lib.qkv_plan_workspace(plan)
        workspace = peer_data.huge(size + 64, np.uint8)
        out = peer_data.huge(data['q'].shape, data['q'].dtype)
        args = RunArgs(out=out.ctypes.data, workspace=workspace.ctypes.data, workspace_size=size,
                       threads=self.library.executor)
        for name in 'qkv':
            setattr(args, name, data[name].ctypes.data)
        if 'mask' in data:
            kind = 'mask' if row['mask'].startswith('bool') else 'bias'
            setattr(args, kind, data['mask'].ctypes.data)
        run, where, why = lib.qkv_run, ctypes.byref(args), ctypes.byref(error)
        kept = (args, error, workspace, out, data)  # alive as long as the function is

        def call(_kept=kept):
            if run(plan, where, why):
                raise RuntimeError(error.text.decode())
            return out
        return {'plan reused': call}

    @staticmethod
    def result(row, out):
        """[heads, rows, channels], float32 or float64."""
        return peer_data.widen(out, row['dtype'])

    def close(self):
        if self.plan:
            self.library.lib.qkv_plan_destroy(self.plan)
        self.plan = None

    def answer(self, what, row, data):
        """Questions of the driver that only this peer answers."""
        if what == 'peak':
            return self.library.peak(row['dtype'])
        return self.library.read(data['k'])
