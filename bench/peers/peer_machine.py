# SPDX-License-Identifier: MIT
"""peer_machine.py - what is worth knowing of the machine that was measured: its processor, caches,
memory and page sizes, the system's kernel and compiler. Not its name, nor where it stands.
"""
import os
import pathlib
import platform
import re
import subprocess


def read(path):
    try:
        return pathlib.Path(path).read_text(encoding='utf-8', errors='replace').strip()
    except OSError:
        return ''


def first(pattern, text):
    found = re.search(pattern, text, re.M)
    return found.group(1).strip() if found else ''


def caches():
    found = []
    for folder in sorted(pathlib.Path('/sys/devices/system/cpu/cpu0/cache').glob('index*')):
        kind = {'Data': 'd', 'Instruction': 'i', 'Unified': ''}.get(read(folder / 'type'), '')
        if kind != 'i':
            found.append(f'L{read(folder / "level")}{kind} {read(folder / "size")}')
    return ', '.join(found)


def cpu_seconds(pids):
    """(of everything on the machine, taken by the hypervisor too; of these processes), since they began;
    (0, 0) where the system does not say."""
    tick = os.sysconf('SC_CLK_TCK')
    words = read('/proc/stat').partition('\n')[0].split()[1:9]
    if len(words) < 8:
        return 0.0, 0.0
    everything = sum(int(x) for i, x in enumerate(words) if i not in (3, 4))  # not idle, not waiting
    mine = 0
    for pid in pids:
        after_name = read(f'/proc/{pid}/stat').rpartition(')')[2].split()
        mine += sum(int(x) for x in after_name[11:13])
    return everything / tick, mine / tick


def describe():
    cpu, memory = read('/proc/cpuinfo'), read('/proc/meminfo')
    flags = set(first(r'^flags\s*:(.*)$', cpu).split())
    total = first(r'^MemTotal:\s*(\d+) kB', memory)
    compiler = subprocess.run(['cc', '--version'], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                              encoding='utf-8', check=False).stdout if any(
        os.access(os.path.join(p, 'cc'), os.X_OK) for p in os.get_exec_path()) else ''
    return {
        'processor': first(r'^model name\s*:(.*)$', cpu) or platform.machine(),
        'family_model': 'family {} model {}'.format(first(r'^cpu family\s*:(.*)$', cpu),
                                            first(r'^model\s*:(.*)$', cpu)),
        'cpus': len(os.sched_getaffinity(0)),
        'virtual': 'hypervisor' in flags,
        'caches': caches(),
        'memory_gib': round(int(total) / 2**20) if total else 0,
        'huge_pages': first(r'\[(\w+)\]', read('/sys/kernel/mm/transparent_hugepage/enabled')),
        'system': f'{platform.system()} {platform.release().split("-")[0]}',
        'distribution': first(r'^PRETTY_NAME="?([^"\n]*)', read('/etc/os-release')),
        'compiler': compiler.splitlines()[0] if compiler else '',
        'python': platform.python_version(),
        # units that libqkv does not use; a library that does is reported, not a yardstick
        'units': sorted(flags & {'amx_bf16', 'amx_tile', 'avx512_bf16', 'avx512_fp16'}),
    }
