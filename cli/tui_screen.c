/* SPDX-License-Identifier: MIT */
/* tui_screen.c - talks to ncurses (with tui_terminal.c): opens and closes the screen, draws lines of a
 * document, reads keys, and keeps the terminal sane whatever signal comes.
 *
 * All signals that matter are blocked but while waiting for a key, and their handlers only set a
 * flag; so nothing is ever drawn or restored inside a handler. The terminal is ncurses' between
 * tui_screen_open() and tui_screen_close(), and while the program sleeps it is the shell's.
 */
#define NCURSES_WIDECHAR 1
#include "cli/tui.h"

#include <errno.h>
#include <limits.h>
#include <ncurses.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>
#include <wchar.h>

static volatile sig_atomic_t end_signal, resized, stop_asked, continued;
static sigset_t waiting; /* the mask while a key is awaited */
static SCREEN *screen;
static bool colored;

static const int ends[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT};
enum { ENDS = sizeof ends / sizeof ends[0] };

/* ---- signals --------------------------------------------------------------------------------- */

static void on_signal(int signal)
{
    if (signal == SIGWINCH)
        resized = 1;
    else if (signal == SIGTSTP)
        stop_asked = 1;
    else if (signal == SIGCONT)
        continued = 1;
    else
        end_signal = signal;
}

static void handle(int signal, void (*handler)(int))
{
    struct sigaction action = {.sa_handler = handler};
    sigemptyset(&action.sa_mask);
    sigaction(signal, &action, NULL);
}

static bool ignored(int signal)
{
    struct sigaction old;
    return sigaction(signal, NULL, &old) == 0 && old.sa_handler == SIG_IGN;
}

static void catch_signals(void)
{
    sigset_t ours;
    sigemptyset(&ours);
    for (int i = 0; i < ENDS; i++) {
        if (ignored(ends[i])) continue;
        sigaddset(&ours, ends[i]);
        handle(ends[i], on_signal);
    }
    static const int others[] = {SIGWINCH, SIGTSTP, SIGCONT};
    for (int i = 0; i < 3; i++) {
        sigaddset(&ours, others[i]);
        handle(others[i], on_signal);
    }
    sigprocmask(SIG_BLOCK, &ours, &waiting);
    for (int i = 0; i < ENDS; i++) sigdelset(&waiting, ends[i]);
    for (int i = 0; i < 3; i++) sigdelset(&waiting, others[i]);
}

int tui_screen_signal(void)
{
    return end_signal;
}

/* The size may have changed while nobody looked. */
static void take_size(void)
{
    struct winsize size;
    if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_row < 1 || size.ws_col < 1) return;
    resizeterm(size.ws_row, size.ws_col);
}

static void wake(void)
{
    reset_prog_mode();
    take_size();
    clearok(stdscr, TRUE);
    refresh();
}

/* Ctrl-Z: the shell gets its terminal as it was, and we go on where we were. */
static void sleep_now(void)
{
    endwin();
    handle(SIGTSTP, SIG_DFL);
    sigset_t one;
    sigemptyset(&one);
    sigaddset(&one, SIGTSTP);
    raise(SIGTSTP);
    sigprocmask(SIG_UNBLOCK, &one, NULL); /* here it stops */
    sigprocmask(SIG_BLOCK, &one, NULL);
    handle(SIGTSTP, on_signal);
    continued = 0;
    wake();
}

/* ---- opening and closing --------------------------------------------------------------------- */

/* Hues that keep 3:1 on black and on white where there are 256; else the eight. */
static void make_colors(void)
{
    start_color();
    use_default_colors();
    const bool many = COLORS >= 256;
    const short q = many ? 32 : COLOR_BLUE, k = many ? 166 : COLOR_YELLOW,
                v = many ? 30 : COLOR_CYAN, minus = many ? 133 : COLOR_MAGENTA,
                alarm = many ? 160 : COLOR_RED, quiet = 244;
    init_pair(TUI_Q, q, -1);
    init_pair(TUI_K, k, -1);
    init_pair(TUI_V, v, -1);
    init_pair(TUI_MINUS, minus, -1);
    init_pair(TUI_ALARM, alarm, -1);
    init_pair(TUI_QUIET, many ? quiet : -1, -1);
}

bool tui_screen_open(const tui_means *means)
{
    if (!means->screen) return false;
    if (!tui_terminal_known()) return false;
    /* pauses are for terminals of the 1970s; theirs would stay right without them, by XON/XOFF */
    setenv("NCURSES_NO_PADDING", "1", 0);
    screen = newterm(NULL, stdout, stdin);
    if (!screen) return false;
    catch_signals();
    cbreak();
    noecho();
    nonl();
    keypad(stdscr, TRUE);
    nodelay(stdscr, TRUE);
    set_escdelay(40);
    colored = means->color && has_colors();
    if (colored) make_colors();
    take_size();
    return true;
}

void tui_screen_close(void)
{
    if (!screen) return;
    endwin();
    delscreen(screen);
    screen = NULL;
    for (int i = 0; i < ENDS; i++)
        if (!ignored(ends[i])) handle(ends[i], SIG_DFL);
    handle(SIGTSTP, SIG_DFL);
    handle(SIGWINCH, SIG_DFL);
    handle(SIGCONT, SIG_DFL);
    sigprocmask(SIG_SETMASK, &waiting, NULL);
}

void tui_screen_size(int *rows, int *columns)
{
    getmaxyx(stdscr, *rows, *columns);
}

/* ---- keys ------------------------------------------------------------------------------------ */

static int named_key(wint_t key)
{
    switch (key) {
    case KEY_UP:
        return TUI_KEY_UP;
    case KEY_DOWN:
        return TUI_KEY_DOWN;
    case KEY_LEFT:
        return TUI_KEY_LEFT;
    case KEY_RIGHT:
        return TUI_KEY_RIGHT;
    case KEY_HOME:
        return TUI_KEY_HOME;
    case KEY_END:
        return TUI_KEY_END;
    case KEY_PPAGE:
        return TUI_KEY_PAGE_UP;
    case KEY_NPAGE:
        return TUI_KEY_PAGE_DOWN;
    case KEY_BTAB:
        return TUI_KEY_BACK_TAB;
    case KEY_BACKSPACE:
        return TUI_KEY_BACKSPACE;
    case KEY_DC:
        return TUI_KEY_DELETE;
    case KEY_ENTER:
        return TUI_KEY_ENTER;
    case KEY_RESIZE:
        return TUI_KEY_RESIZE;
    default:
        return TUI_KEY_OTHER;
    }
}

/* What a signal left to do: a key for the caller, or TUI_KEY_NONE. */
static int heed_signals(void)
{
    if (end_signal) return TUI_KEY_END_INPUT;
    if (stop_asked) {
        stop_asked = 0;
        sleep_now();
        return TUI_KEY_RESIZE;
    }
    if (continued) {
        continued = 0;
        wake();
        return TUI_KEY_RESIZE;
    }
    if (resized) {
        resized = 0;
        take_size();
        return TUI_KEY_RESIZE;
    }
    return TUI_KEY_NONE;
}

/* The key of a sequence that ends so; `number` is what stands before a '~'. */
static int sequence_key(wint_t end, int number)
{
    switch (end) {
    case 'A':
        return TUI_KEY_UP;
    case 'B':
        return TUI_KEY_DOWN;
    case 'C':
        return TUI_KEY_RIGHT;
    case 'D':
        return TUI_KEY_LEFT;
    case 'H':
        return TUI_KEY_HOME;
    case 'F':
        return TUI_KEY_END;
    case 'Z':
        return TUI_KEY_BACK_TAB;
    case '~':
        break;
    default:
        return TUI_KEY_OTHER;
    }
    static const int keys[] = {TUI_KEY_OTHER,     TUI_KEY_HOME, TUI_KEY_OTHER,
                               TUI_KEY_DELETE,    TUI_KEY_END,  TUI_KEY_PAGE_UP,
                               TUI_KEY_PAGE_DOWN, TUI_KEY_HOME, TUI_KEY_END};
    return number >= 0 && number < 9 ? keys[number] : TUI_KEY_OTHER;
}

/* An Escape that more follows at once: a key that terminfo does not know for this terminal. It is
 * taken whole, lest its rest be read as letters. */
static int after_escape(void)
{
    wint_t c = 0;
    int number = 0;
    const int kind = get_wch(&c);
    if (kind == ERR) return TUI_KEY_ESCAPE;
    if (kind == KEY_CODE_YES) return named_key(c);
    if (c != '[' && c != 'O') return TUI_KEY_OTHER; /* Alt and a letter */
    for (int i = 0; i < 16 && get_wch(&c) == OK; i++) {
        if (c >= '0' && c <= '9' && number < 1000) number = 10 * number + (int)(c - '0');
        if (c >= 0x40 && c <= 0x7E && !(c == '[' && i == 0)) return sequence_key(c, number);
    }
    return TUI_KEY_OTHER;
}

static int character(wint_t c)
{
    if (c == TUI_KEY_ESCAPE) return after_escape();
    if (c == 13) return TUI_KEY_ENTER;
    if (c == 8 || c == 127) return TUI_KEY_BACKSPACE;
    return (int)c;
}

int tui_screen_key(void)
{
    for (;;) {
        wint_t c = 0;
        const int kind = get_wch(&c);
        if (kind == KEY_CODE_YES) return named_key(c);
        if (kind == OK) return character(c);
        const int asked = heed_signals();
        if (asked != TUI_KEY_NONE) return asked;
        struct pollfd input = {.fd = STDIN_FILENO, .events = POLLIN};
        const int ready = ppoll(&input, 1, NULL, &waiting);
        if (ready < 0 && errno != EINTR) return TUI_KEY_END_INPUT;
        if (ready > 0) {
            int bytes = 0;
            const bool gone = (input.revents & (POLLHUP | POLLERR | POLLNVAL)) != 0;
            if (gone || ioctl(STDIN_FILENO, FIONREAD, &bytes) != 0 || bytes == 0)
                return TUI_KEY_END_INPUT;
        }
    }
}

/* ---- drawing --------------------------------------------------------------------------------- */

static attr_t look(tui_style style)
{
    attr_t a = A_NORMAL;
    if (style == TUI_STRONG || style == TUI_ALARM) a |= A_BOLD;
    if (colored && style != TUI_NORMAL && style != TUI_STRONG) a |= (attr_t)COLOR_PAIR((int)style);
    return a;
}

/* Harmless UTF-8 to wide characters; what is longer than `size` is left out. */
static int widen(wchar_t *wide, int size, const char *text, size_t n)
{
    int count = 0;
    for (size_t i = 0; i < n && count < size - 1;) {
        const unsigned char first = (unsigned char)text[i++];
        uint32_t c = first;
        if (first >= 0x80) {
            c = first >= 0xF0 ? first & 7u : first >= 0xE0 ? first & 15u : first & 31u;
            for (; i < n && ((unsigned char)text[i] & 0xC0) == 0x80; i++)
                c = c << 6 | ((unsigned char)text[i] & 63u);
        }
        wide[count++] = (wchar_t)c;
    }
    wide[count] = 0;
    return count;
}

void tui_screen_redraw(void)
{
    clearok(stdscr, TRUE);
}

void tui_screen_clear(void)
{
    erase();
}

static void put(int row, int column, attr_t attributes, const char *text, size_t n)
{
    wchar_t wide[512];
    const int count = widen(wide, 512, text, n);
    attrset(attributes);
    mvaddnwstr(row, column, wide, count);
    attrset(A_NORMAL);
}

void tui_screen_text(int row, int column, int columns, tui_style style, const char *text)
{
    size_t n = 0;
    for (int used = 0; text[n];) {
        const size_t len = tui_first_cluster(text + n, strlen(text + n));
        used += tui_columns(text + n, len);
        if (used > columns) break;
        n += len;
    }
    put(row, column, look(style), text, n);
}

void tui_screen_line(int row, int column, int columns, const tui_doc *doc, int32_t line,
                     int32_t focus)
{
    const int32_t end = line + 1 < doc->line_count ? doc->line_start[line + 1] : doc->span_count;
    for (int32_t i = doc->line_start[line]; i < end; i++) {
        const tui_span *const span = &doc->spans[i];
        if (span->column + span->columns > columns) break;
        attr_t a = look((tui_style)span->style);
        if (span->chosen) a |= A_BOLD;
        if (span->target != TUI_NO_TARGET && span->target == focus) a |= A_REVERSE;
        put(row, column + span->column, a, span->text, (size_t)span->bytes);
    }
}

void tui_screen_show(int cursor_row, int cursor_column)
{
    move(cursor_row, cursor_column);
    refresh();
}
