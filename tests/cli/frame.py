#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""frame.py QKV BUILD_FOLDER - what must hold for every subcommand, whatever its options are.

Help, man page and completions come from one table; here each is read back and they are compared
with each other. Streams, locales and the terminal are tried as a user's shell gives them. Prints
TAP; a tool that is missing (zsh, fish, mandoc, localedef) skips its line with a reason that
tests/skips.txt knows.
"""
import os
import pathlib
import pty
import re
import shutil
import subprocess
import sys

QKV = str(pathlib.Path(sys.argv[1]).resolve())
BUILD = pathlib.Path(sys.argv[2]).resolve()
RESULTS = []


def run(*words, env=None, **more):
    base = {'PATH': '/usr/bin:/bin', 'TERM': 'dumb'}
    base.update({k: v for k, v in os.environ.items() if k.endswith('SAN_OPTIONS')})
    base.update(env or {})
    more.setdefault('stdout', subprocess.PIPE)
    return subprocess.run([QKV, *words], env=base, stdin=subprocess.DEVNULL,
                          stderr=subprocess.PIPE, timeout=120, **more)


def case(name, good, why=''):
    RESULTS.append(bool(good))
    print(f'{"ok" if good else "not ok"} {len(RESULTS)} - {name}')
    if not good and why:
        print('\n'.join(f'# {line}' for line in str(why).splitlines()[:20]))


def skip(name, reason):
    RESULTS.append(True)
    print(f'ok {len(RESULTS)} - {name} # SKIP {reason}')


def text_of(*words):
    done = run(*words)
    if done.returncode != 0 or done.stderr:
        case(' '.join(('qkv',) + words), False, done.stderr.decode())
    return done.stdout.decode('utf-8')


def commands():
    listed = re.search(r'\nCommands:\n((?:  .*\n)+)', text_of('--help')).group(1)
    return [line.split()[0] for line in listed.splitlines() if line.split()[0] != 'help']


def fish_options(command):
    """Long options of a command, from the fish script: (name, short or None)."""
    found = []
    for line in text_of('--completion', 'fish').splitlines():
        if f"'__fish_seen_subcommand_from {command}'" in line and ' -l ' in line:
            words = line.split()
            short = words[words.index('-s') + 1] if '-s' in words else None
            found.append((words[words.index('-l') + 1], short))
    return found


def check_help(command):
    long_help = text_of(command, '--help')
    case(f'help {command} equals {command} --help and -h',
         text_of('help', command) == long_help == text_of(command, '-h'))
    wide = [line for line in long_help.splitlines() if len(line) > 80]
    case(f'{command} --help fits 80 columns', not wide, '\n'.join(wide))
    case(f'{command} --help has no space at a line end', ' \n' not in long_help)
    options = fish_options(command)
    listed = re.findall(r'^  (?:-(\w), |    )--([a-z0-9-]+)', long_help, re.M)
    case(f'{command} --help lists the table in order',
         [(n, s or None) for s, n in listed] == options + [('help', 'h')], (listed, options))
    synopsis = long_help.split('Usage:')[1].split('\n\n')[0]
    case(f'{command} synopsis lists the table',
         re.findall(r'--([a-z0-9-]+)', synopsis) == [n for n, _ in options], synopsis)
    man = text_of('--man')
    section = re.search(rf'^\.Ss qkv {command}\n(.*?)^\.S', man, re.S | re.M).group(1)
    case(f'the man page lists the table of {command}',
         re.findall(r'^\.It.* Fl \\-([a-z0-9-]+)', section, re.M) == [n for n, _ in options])
    bash = text_of('--completion', 'bash')
    words = re.search(rf"^        {command}\)\n            words='(.*?)'", bash, re.M).group(1)
    case(f'bash completes the table of {command}',
         [w.rstrip('=') for w in words.split()] == [f'--{n}' for n, _ in options] + ['--help'])
    zsh = text_of('--completion', 'zsh')
    block = re.search(rf'^        {command}\)\n(.*?);;', zsh, re.S | re.M).group(1)
    missing = [n for n, _ in options if f'--{n}' not in block]
    case(f'zsh completes the table of {command}', not missing, missing)
    for name, _ in options:
        for cut in range(len(name) - 1, 1, -1):
            if name[:cut] in dict(options):
                continue
            done = run(command, f'--{name[:cut]}')
            if done.returncode != 2 or not done.stderr.startswith(b'qkv ' + command.encode()):
                case(f'{command} --{name[:cut]} is refused', False, done.stderr)
    case(f'{command} refuses every abbreviation', True)


def check_shells():
    for shell, lint in (('bash', ['bash', '-n']), ('zsh', ['zsh', '-n']),
                        ('fish', ['fish', '--no-execute'])):
        script = text_of('--completion', shell)
        if not shutil.which(shell):
            skip(f'{shell} reads its completions', f'{shell} is not installed')
            continue
        path = BUILD / f'completion.{shell}'
        path.write_text(script, encoding='utf-8')
        done = subprocess.run(lint + [str(path)], stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                              timeout=60)
        case(f'{shell} reads its completions', done.returncode == 0 and not done.stdout,
             done.stdout.decode())
    check_bash_words()


def bash_completes(*words):
    """What bash offers for the last word; `=` stands alone, as readline splits it."""
    script = text_of('--completion', 'bash')
    ask = (f'{script}\nCOMP_WORDS=(qkv "$@"); COMP_CWORD={len(words)}; _qkv 2>/dev/null; '
           'printf "%s\\n" "${COMPREPLY[@]}"')
    done = subprocess.run(['bash', '-c', ask, 'bash', *words], stdout=subprocess.PIPE, timeout=60,
                          cwd=str(BUILD))
    return done.stdout.decode().split()


def check_bash_words():
    case('bash offers the commands', set(commands()) <= set(bash_completes('')))
    case('bash narrows a command', bash_completes('che') == ['check'], bash_completes('che'))
    case('bash narrows an option', bash_completes('bench', '--qu') == ['--quick'])
    case('bash offers choices', bash_completes('bench', '--format', '') == ['text', 'json'])
    case('bash offers choices after =', bash_completes('bench', '--format', '=') == ['text', 'json'])
    case('bash narrows choices after =', bash_completes('bench', '--format', '=', 'j') == ['json'])
    case('bash offers shells', bash_completes('--completion', 'z') == ['zsh'])
    case('bash offers commands to help', bash_completes('help', 'che') == ['check'])


def check_choices():
    """What help, the completions and the man page offer as --isa is what the command takes."""
    for command, word, taken in (('bench', 'reference', False), ('run', 'reference', True)):
        refusal = run(command, '--isa', word).stderr.decode()
        section = re.search(rf'^\.Ss qkv {command}\n(.*?)^\.S', text_of('--man'), re.S | re.M)[1]
        man = re.search(r'^\.It Fl \\-isa .*?^\.(?:It|El)', section, re.S | re.M)[0]
        offers = [word in text_of(command, '--help').split('--isa NAME')[-1].split('\n      --')[0],
                  word in bash_completes(command, '--isa', ''), word in man]
        offers += [any(f'_from {command}\'' in line and ' -l isa ' in line and word in line
                       for line in text_of('--completion', 'fish').splitlines())]
        block = re.search(rf'^        {command}\)\n(.*?);;', text_of('--completion', 'zsh'),
                          re.S | re.M)[1]
        offers += [word in next(line for line in block.splitlines() if '--isa' in line)]
        case(f'{command} --isa {word}: offered where it is taken',
             offers == [taken] * 5 and (f"not '{word}'" in refusal) != taken, (offers, refusal))


def check_man():
    page = text_of('--man')
    if not shutil.which('mandoc'):
        skip('mandoc finds nothing to say', 'mandoc is not installed')
        return
    done = subprocess.run(['mandoc', '-Tlint'], input=page.encode(), stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, timeout=60)
    case('mandoc finds nothing to say', done.returncode == 0 and not done.stdout,
         done.stdout.decode())
    done = subprocess.run(['mandoc', '-Tascii'], input=page.encode(), stdout=subprocess.PIPE,
                          timeout=60)
    plain = re.sub(r'.\x08', '', done.stdout.decode())
    case('the man page names each command', all(f'qkv {c}' in plain for c in commands()))


def check_version():
    pattern = (r'qkv \d+\.\d+\.\d+\ncontract \d+\nkernels compiled:( [a-z0-9]+)+\n'
               r'kernels usable:( [a-z0-9]+)+\n')
    got = text_of('--version')
    case('--version has its four lines', re.fullmatch(pattern, got), got)
    compiled, usable = (set(line.split(':')[1].split()) for line in got.splitlines()[2:])
    case('what is usable is compiled', usable <= compiled and 'scalar' in usable)


def check_streams():
    for words in (('--version',), ('--help',), ('help', 'bench'), ('--man',)):
        name = ' '.join(words)
        with open('/dev/full', 'wb') as full:
            done = run(*words, stdout=full)
        case(f'qkv {name} > /dev/full is exit 1',
             done.returncode == 1 and done.stderr == (
                 b'qkv: ' if words[0].startswith('-') else b'qkv help: ') +
             b'cannot write to standard output: No space left on device\n', done)
        done = run(*words, preexec_fn=lambda: os.close(1))
        case(f'qkv {name} with stdout closed is exit 1', done.returncode == 1 and done.stderr, done)
    done = run('--man', preexec_fn=lambda: os.close(2))
    case('stderr closed does no harm', done.returncode == 0 and done.stdout)
    reader, writer = os.pipe()
    os.close(reader)
    done = run('--man', stdout=writer)
    os.close(writer)
    case('a reader that leaves ends it quietly', done.returncode == -13 and not done.stderr, done)


def on_terminal(words, env):
    """What the command writes to a terminal of 100 columns."""
    master, slave = pty.openpty()
    base = {'PATH': '/usr/bin:/bin', 'TERM': 'xterm'}
    base.update({k: v for k, v in os.environ.items() if k.endswith('SAN_OPTIONS')})
    base.update(env)
    proc = subprocess.Popen([QKV, *words], stdin=subprocess.DEVNULL, stdout=slave, stderr=slave,
                            env=base)
    os.close(slave)
    got = b''
    while True:
        try:
            piece = os.read(master, 65536)
        except OSError:
            break
        if not piece:
            break
        got += piece
    os.close(master)
    proc.wait(60)
    return got


def check_terminal():
    if not any(n == 'color' for c in commands() for n, _ in fish_options(c)):
        return
    explain = ('explain',)
    case('colour on a terminal', b'\x1b[' in on_terminal(explain, {}))
    case('no colour with NO_COLOR', b'\x1b' not in on_terminal(explain, {'NO_COLOR': '1'}))
    case('an empty NO_COLOR is none', b'\x1b[' in on_terminal(explain, {'NO_COLOR': ''}))
    case('no colour on TERM=dumb', b'\x1b' not in on_terminal(explain, {'TERM': 'dumb'}))
    case('no colour with --color=never',
         b'\x1b' not in on_terminal(explain + ('--color=never',), {}))
    case('no colour in a pipe', b'\x1b' not in run('explain').stdout)
    case('colour in a pipe with --color=always',
         b'\x1b[' in run('explain', '--color=always', env={'NO_COLOR': '1'}).stdout)


def make_locale():
    """A German UTF-8 locale with a decimal comma in the build folder; its LOCPATH or None."""
    folder = BUILD / 'locale'
    if (folder / 'de_DE.UTF-8').exists():
        return folder
    if not shutil.which('localedef') or not os.path.exists('/usr/share/i18n/locales/de_DE'):
        return None
    folder.mkdir(exist_ok=True)
    subprocess.run(['localedef', '-i', 'de_DE', '-f', 'UTF-8', str(folder / 'de_DE.UTF-8')],
                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, timeout=60)
    return folder if (folder / 'de_DE.UTF-8').exists() else None


def check_locale():
    lines = [('--version',), ('--man',), ('help', 'explain'), ('check', '--nonsense'),
             ('bench', '--threads', '1,5'), ('explain', '--temperature', '0,5'),
             ('explain', '--temperature', '0.5'), ('explain', '--format', 'plain'),
             ('explain', '--format', 'json'), ('explain', '--format', 'csv'),
             ('explain', '--format', 'svg'), ('explain', '--view', 'map')]
    folder = make_locale()
    comma = {'LC_ALL': 'de_DE.UTF-8', 'LANGUAGE': 'de', 'LOCPATH': str(folder)}
    if folder:
        probe = subprocess.run([sys.executable, '-c', 'import locale; locale.setlocale(locale.LC_ALL'
                                ', ""); print(locale.localeconv()["decimal_point"])'],
                               env={'PATH': '/usr/bin:/bin', **comma}, stdout=subprocess.PIPE,
                               timeout=60)
        case('the locale has a comma', probe.stdout == b',\n', probe)
    for words in lines:
        name = 'qkv ' + ' '.join(words)
        plain = run(*words, env={'LC_ALL': 'C'})
        if words[0] == 'explain' and words[-1] in ('0.5', 'plain', 'map'):
            # signs and bars follow the charset, and nothing else does
            case(f'{name} under C is ASCII', plain.stdout.isascii(), plain.stdout)
            plain = run(*words, env={'LC_ALL': 'C.UTF-8'})
        if not folder:
            skip(f'{name} under de_DE.UTF-8', 'localedef or the locale source is not installed')
            continue
        other = run(*words, env=comma)
        case(f'{name} under de_DE.UTF-8', (plain.stdout, plain.stderr, plain.returncode) ==
             (other.stdout, other.stderr, other.returncode), other)


def main():
    for command in commands():
        check_help(command)
    check_shells()
    check_choices()
    check_man()
    check_version()
    check_streams()
    check_terminal()
    check_locale()
    print(f'1..{len(RESULTS)}')
    return 0 if RESULTS and all(RESULTS) else 1


if __name__ == '__main__':
    sys.exit(main())
