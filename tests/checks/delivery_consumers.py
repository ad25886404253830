# SPDX-License-Identifier: MIT
"""Programs of others find the installed library: pkg-config, CMake, and one static-pie file."""
import shlex

import tap

HERE = tap.ROOT / 'tests' / 'checks' / 'consumer'
EXPECT = '1.68 0.53\n'


def runs(name, program, libdir):
    made = tap.run([program], env=tap.environment(LD_LIBRARY_PATH=str(libdir)))
    tap.ok(made.returncode == 0 and made.stdout == EXPECT, f'{name}: right result',
           made.stdout + made.stderr)


def by_pkg_config(at, libdir):
    env = tap.environment(PKG_CONFIG_PATH=str(libdir / 'pkgconfig'))
    version = tap.run([at.tree / 'tools' / 'version']).stdout
    seen = tap.run(['pkg-config', '--modversion', 'qkv'], env=env)
    tap.ok(seen.stdout == version, 'pkg-config knows the version', seen.stdout + seen.stderr)
    for name, words in (('shared', []), ('static', ['--static'])):
        flags = tap.run(['pkg-config', '--cflags', '--libs', *words, 'qkv'], env=env).stdout
        flags = shlex.split(flags)
        if words:  # the archive in place of the shared library
            flags = [str(libdir / 'libqkv.a') if x == '-lqkv' else x for x in flags]
        program = at.scratch / f'pkg_{name}'
        made = tap.run(['cc', '-std=c17', HERE / 'consumer.c', '-o', program, *flags])
        if tap.ok(made.returncode == 0, f'pkg-config, {name}: links', made.stderr):
            runs(f'pkg-config, {name}', program, libdir)


def by_cmake(at):
    build = at.scratch / 'cmake'
    made = tap.run(['cmake', '-S', HERE, '-B', build, f'-DCMAKE_PREFIX_PATH={at.prefix}'])
    made2 = tap.run(['cmake', '--build', build])
    if tap.ok(made.returncode == 0 and made2.returncode == 0, 'CMake: finds and links',
              made.stderr + made2.stdout + made2.stderr):
        for name in ('consumer_shared', 'consumer_static'):
            runs(f'CMake, {name}', build / name, '')
    wrong = tap.run(['cmake', '-S', HERE, '-B', at.scratch / 'wrong', '-DWANT=99.0',
                     f'-DCMAKE_PREFIX_PATH={at.prefix}'])
    tap.ok(wrong.returncode != 0 and '99.0' in wrong.stderr, 'CMake: a newer version is not found',
           wrong.stderr)


def static_pie(at, libdir):
    program = at.scratch / 'static_pie'
    made = tap.run(['gcc', '-std=c17', '-static-pie', '-fPIE', '-I', at.prefix / 'include',
                    HERE / 'consumer.c', libdir / 'libqkv.a', '-pthread', '-lm', '-o', program])
    if tap.ok(made.returncode == 0, 'static-pie: links', made.stderr):
        runs('static-pie', program, '')
        kind = tap.run(['readelf', '-hd', program]).stdout
        tap.ok('DYN' in kind and 'NEEDED' not in kind, 'static-pie: one file, no library needed', kind)


def check(at):
    libdir = next(at.prefix.rglob('libqkv.a')).parent
    by_pkg_config(at, libdir)
    by_cmake(at)
    static_pie(at, libdir)
