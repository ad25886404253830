# SPDX-License-Identifier: MIT
"""terminal.py - a terminal for tests: a program runs on a pseudo-terminal, and what it writes is
drawn on a screen of characters as a VT100 or an xterm would.

Knows the sequences that ncurses sends for TERM=xterm-256color, xterm, vt100 and linux; an unknown one
is written down in Screen.unknown, and a test fails on it. Standard library only.
"""
import fcntl
import os
import pty
import re
import select
import signal
import struct
import subprocess
import termios
import time
import unicodedata

CSI = re.compile(r'\x1b\[([?>]?)([\d;]*)([A-Za-z@`])')
ESCAPE = re.compile(r'\x1b([()][0AB]|[78=>DEHMc])')


def columns_of(c):
    if unicodedata.combining(c) or unicodedata.category(c) in ('Mn', 'Me', 'Cf'):
        return 0
    return 2 if unicodedata.east_asian_width(c) in 'WF' else 1


class Cell:
    """One place: its character and how it looks."""
    __slots__ = ('char', 'bold', 'reverse', 'underline', 'color')

    def __init__(self, char=' ', look=(False, False, False, None)):
        self.char = char
        self.bold, self.reverse, self.underline, self.color = look


class Screen:
    """Rows of cells, a cursor, and what a real terminal would keep after the program."""

    def __init__(self, rows, columns):
        self.alternate = False
        self.hidden = False
        self.unknown = []
        self.pending = ''
        self.look = (False, False, False, None)
        self.colors = set()
        self.saved = (0, 0)
        self.wrap_next = False
        self.resize(rows, columns)

    def resize(self, rows, columns):
        old = getattr(self, 'cells', [])
        self.rows, self.columns = rows, columns
        self.cells = [[Cell() for _ in range(columns)] for _ in range(rows)]
        for y, line in enumerate(old[:rows]):
            for x, cell in enumerate(line[:columns]):
                self.cells[y][x] = cell
        self.top, self.bottom = 0, rows - 1
        self.y = min(getattr(self, 'y', 0), rows - 1)
        self.x = min(getattr(self, 'x', 0), columns - 1)

    # ---- what is on it

    def line(self, y):
        return ''.join(c.char for c in self.cells[y]).rstrip()

    def lines(self):
        return [self.line(y) for y in range(self.rows)]

    def text(self):
        return '\n'.join(self.lines())

    def find(self, text):
        """(row, column) of the first place with that text, or None."""
        for y in range(self.rows):
            x = ''.join(c.char or '\0' for c in self.cells[y]).find(text)
            if x >= 0:
                return y, x
        return None

    def reversed_text(self):
        return ''.join(c.char for line in self.cells for c in line if c.reverse).strip()

    # ---- what changes it

    def feed(self, data):
        data = self.pending + data
        self.pending = ''
        i = 0
        while i < len(data):
            c = data[i]
            if c == '\x1b':
                found = CSI.match(data, i) or ESCAPE.match(data, i)
                if not found:
                    if len(data) - i < 24 and not re.match(r'\x1b[\[()][\d;?>]*[^\d;?>0AB]', data[i:]):
                        self.pending = data[i:]
                        return
                    self.unknown.append(data[i:i + 12])
                    i += 1
                    continue
                if found.re is CSI:
                    self.control(*found.groups())
                else:
                    self.escape(found.group(1))
                i = found.end()
                continue
            i += 1
            self.character(c)

    def character(self, c):
        if c == '\n':
            self.down()
        elif c == '\r':
            self.x, self.wrap_next = 0, False
        elif c == '\b':
            self.x, self.wrap_next = max(0, self.x - 1), False
        elif c == '\t':
            self.x = min(self.columns - 1, self.x // 8 * 8 + 8)
        elif c in '\a\x0e\x0f\0':
            pass
        elif ord(c) < 32:
            self.unknown.append(c)
        else:
            self.put(c)

    def put(self, c):
        width = columns_of(c)
        if width == 0:
            self.cells[self.y][max(0, self.x - 1)].char += c
            return
        if self.wrap_next:
            self.x, self.wrap_next = 0, False
            self.down()
        self.last = c
        self.cells[self.y][self.x] = Cell(c, self.look)
        if width == 2 and self.x + 1 < self.columns:
            self.cells[self.y][self.x + 1] = Cell('', self.look)
        if self.x + width >= self.columns:
            self.x, self.wrap_next = self.columns - 1, True
        else:
            self.x += width

    def down(self):
        if self.y == self.bottom:
            del self.cells[self.top]
            self.cells.insert(self.bottom, [Cell() for _ in range(self.columns)])
        elif self.y < self.rows - 1:
            self.y += 1

    def up(self):
        if self.y == self.top:
            del self.cells[self.bottom]
            self.cells.insert(self.top, [Cell() for _ in range(self.columns)])
        elif self.y > 0:
            self.y -= 1

    def escape(self, what):
        if what == 'D':
            self.down()
        elif what == 'M':
            self.up()
        elif what == 'E':
            self.x = 0
            self.down()
        elif what == '7':
            self.saved = (self.y, self.x)
        elif what == '8':
            self.y, self.x = self.saved
        elif what == 'c':
            self.__init__(self.rows, self.columns)

    def control(self, mark, numbers, final):
        n = [int(x) if x else 0 for x in numbers.split(';')]
        one = max(1, n[0])
        if mark:
            if final in 'hl':
                for x in n:
                    if x in (1049, 47, 1047):
                        self.alternate = final == 'h'
                    if x == 25:
                        self.hidden = final == 'l'
            return
        self.wrap_next = False
        move = {'A': (-one, 0), 'B': (one, 0), 'C': (0, one), 'D': (0, -one)}
        if final in move:
            self.y = min(self.rows - 1, max(0, self.y + move[final][0]))
            self.x = min(self.columns - 1, max(0, self.x + move[final][1]))
        elif final in 'Hf':
            self.y = min(self.rows, one) - 1
            self.x = min(self.columns, max(1, n[1] if len(n) > 1 else 1)) - 1
        elif final in 'G`':
            self.x = min(self.columns, one) - 1
        elif final == 'd':
            self.y = min(self.rows, one) - 1
        elif final == 'J':
            self.erase_display(n[0])
        elif final == 'K':
            self.erase_line(n[0])
        elif final == 'm':
            self.graphics(n)
        elif final == 'r':
            self.top = one - 1
            self.bottom = (n[1] if len(n) > 1 and n[1] else self.rows) - 1
            self.y = self.x = 0
        elif final in 'LMPX@STb':
            self.edit(final, one)
        elif final not in 'hlt':
            self.unknown.append(f'CSI {numbers}{final}')

    def edit(self, final, n):
        line = self.cells[self.y]
        blank = [Cell() for _ in range(n)]
        if final == 'P':
            del line[self.x:self.x + n]
            line += [Cell() for _ in range(self.columns - len(line))]
        elif final == '@':
            line[self.x:self.x] = blank
            del line[self.columns:]
        elif final == 'X':
            line[self.x:self.x + n] = blank[:self.columns - self.x]
        elif final == 'b':
            for _ in range(n):
                self.put(self.last)
        else:
            for _ in range(n):
                if final == 'L':
                    del self.cells[self.bottom]
                    self.cells.insert(self.y, [Cell() for _ in range(self.columns)])
                elif final == 'M':
                    del self.cells[self.y]
                    self.cells.insert(self.bottom, [Cell() for _ in range(self.columns)])
                elif final == 'S':
                    del self.cells[self.top]
                    self.cells.insert(self.bottom, [Cell() for _ in range(self.columns)])
                else:
                    del self.cells[self.bottom]
                    self.cells.insert(self.top, [Cell() for _ in range(self.columns)])

    def erase_display(self, how):
        first = 0 if how else self.y + 1
        last = self.y if how == 1 else self.rows
        for y in range(first, last):
            self.cells[y] = [Cell() for _ in range(self.columns)]
        if how != 2:
            self.erase_line(how)

    def erase_line(self, how):
        first = 0 if how else self.x
        last = self.x + 1 if how == 1 else self.columns
        for x in range(first, last):
            self.cells[self.y][x] = Cell()

    def graphics(self, numbers):
        bold, reverse, underline, color = self.look
        i = 0
        while i < len(numbers):
            n = numbers[i]
            if n == 0:
                bold, reverse, underline, color = False, False, False, None
            elif n in (1, 22):
                bold = n == 1
            elif n in (7, 27):
                reverse = n == 7
            elif n in (4, 24):
                underline = n == 4
            elif n in (38, 48):
                color = tuple(numbers[i:i + 3])
                i += 2
            elif 30 <= n <= 37 or 40 <= n <= 47 or 90 <= n <= 107:
                color = n
            elif n in (39, 49):
                color = None
            i += 1
        if color is not None:
            self.colors.add(color)
        self.look = (bold, reverse, underline, color)


def on_its_own():
    """A new session's terminal and signals, whatever a background shell or nohup handed down."""
    for number in (signal.SIGHUP, signal.SIGINT, signal.SIGQUIT, signal.SIGTERM, signal.SIGTSTP):
        signal.signal(number, signal.SIG_DFL)
    fcntl.ioctl(0, termios.TIOCSCTTY, 0)


class Program:
    """A program on a pseudo-terminal of its own, as its session's leader."""

    def __init__(self, words, rows=24, columns=80, env=None):
        self.screen = Screen(rows, columns)
        self.raw = b''
        self.status = None
        self.decoder_rest = b''
        self.fd, self.inner = pty.openpty()
        self.set_size(rows, columns)
        self.before = termios.tcgetattr(self.inner)
        base = {'PATH': '/usr/bin:/bin', 'TERM': 'xterm-256color', 'LC_ALL': 'C.UTF-8'}
        base.update({k: v for k, v in os.environ.items() if k.endswith('SAN_OPTIONS')})
        base.update(env or {})
        self.process = subprocess.Popen(
            words, stdin=self.inner, stdout=self.inner, stderr=self.inner, start_new_session=True,
            env={k: v for k, v in base.items() if v is not None},
            preexec_fn=on_its_own)
        self.pid = self.process.pid

    def set_size(self, rows, columns):
        fcntl.ioctl(self.inner, termios.TIOCSWINSZ, struct.pack('HHHH', rows, columns, 0, 0))

    def read(self, seconds):
        """Draws what comes within the time; False at the end of the output."""
        ready, _, _ = select.select([self.fd], [], [], seconds)
        if not ready:
            return None
        try:
            data = os.read(self.fd, 65536)
        except OSError:
            return False
        if not data:
            return False
        self.raw += data
        data = self.decoder_rest + data
        text = data.decode('utf-8', 'ignore')
        # an unfinished character at the end waits for the rest
        self.decoder_rest = b''
        for n in (1, 2, 3):
            tail = data[-n:]
            if tail and (tail[0] >= 0xC0) and n < (2 if tail[0] < 0xE0 else 3 if tail[0] < 0xF0 else 4):
                self.decoder_rest = tail
                break
        self.screen.feed(text)
        return True

    def waits(self):
        """Has the program read all that was typed, and does it sleep?"""
        typed = struct.unpack('i', fcntl.ioctl(self.inner, termios.FIONREAD, b'\0' * 4))[0]
        try:
            with open(f'/proc/{self.pid}/stat', encoding='ascii', errors='replace') as f:
                state = f.read().rpartition(')')[2].split()[0]
        except OSError:
            return True
        return typed == 0 and state in 'STZX'

    def sleeps(self):
        """How often the program has gone to sleep of its own will."""
        try:
            with open(f'/proc/{self.pid}/status', encoding='ascii', errors='replace') as f:
                found = re.search(r'^voluntary_ctxt_switches:\s*(\d+)', f.read(), re.M)
        except OSError:
            return -1
        return int(found.group(1)) if found else -1

    def settle(self, quiet=0.004, most=20.0, asleep=None):
        """Until the program waits for more and nothing of its output is left to draw. `asleep`: its
        sleeps() before it was given something, for what was given may still be on its way."""
        end = time.monotonic() + most
        while asleep is not None and self.sleeps() == asleep and self.process.poll() is None and \
                time.monotonic() < end - most + 0.5:
            self.read(0.002)
        while time.monotonic() < end:
            if self.read(0):
                continue
            if self.waits() and not self.read(quiet) and self.waits():
                return
            self.read(0.002)

    def wait_for(self, test, most=20.0):
        """Until test(screen) holds; False when it never does."""
        end = time.monotonic() + most
        while time.monotonic() < end:
            if test(self.screen):
                self.settle()
                return True
            if self.read(0.1) is False:
                break
        return bool(test(self.screen))

    def see(self, text, most=20.0):
        return self.wait_for(lambda s: s.find(text) is not None, most)

    KEYS = {'up': '\x1b[A', 'down': '\x1b[B', 'right': '\x1b[C', 'left': '\x1b[D', 'home': '\x1b[H',
            'end': '\x1b[F', 'pageup': '\x1b[5~', 'pagedown': '\x1b[6~', 'backtab': '\x1b[Z',
            'tab': '\t', 'enter': '\r', 'escape': '\x1b', 'backspace': '\x7f', 'delete': '\x1b[3~'}

    def keys(self, *names):
        """Each by name or as its characters; the screen settles after each."""
        application = b'\x1b[?1h' in self.raw
        for name in names:
            text = self.KEYS.get(name, name)
            if application and name in ('up', 'down', 'left', 'right', 'home', 'end'):
                text = text.replace('[', 'O')
            asleep = self.sleeps()
            os.write(self.fd, text.encode())
            # a lone Escape is waited with: it may begin a sequence
            self.settle(0.12 if name == 'escape' else 0.004, asleep=asleep)

    def resize(self, rows, columns):
        self.screen.resize(rows, columns)
        asleep = self.sleeps()
        self.set_size(rows, columns)
        self.settle(0.01, asleep=asleep)

    def kill(self, number):
        os.kill(self.pid, number)

    def wait(self, most=20.0):
        """The exit code, 128 + n after a signal; kills after the time."""
        end = time.monotonic() + most
        while self.status is None and time.monotonic() < end:
            self.read(0.05)
            self.status = self.process.poll()
        if self.status is None:
            self.process.kill()
            self.process.wait()
            self.status = 'hangs'
        while self.read(0.05):
            pass
        return self.status if isinstance(self.status, str) or self.status >= 0 \
            else 128 - self.status

    def sane(self):
        """Is the terminal as it was before the program started?"""
        return termios.tcgetattr(self.inner) == self.before and not self.screen.alternate \
            and not self.screen.hidden

    def close(self):
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        os.close(self.fd)
        os.close(self.inner)
