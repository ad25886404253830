/* SPDX-License-Identifier: MIT */
/* signals.c - what must happen when the command is stopped: temporary files go, and a mapped file
 * that shrank gets its sentence instead of a crash.
 *
 * The only state of this folder that is not behind a pointer, because a handler gets none. A place
 * is taken by writing `used` last and given back by writing it first; handlers only read, and call
 * only what POSIX allows inside them (unlinkat, write, sigaction, raise, _exit).
 */
#include "files/file_io.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

typedef struct temporary {
    volatile sig_atomic_t used;
    int folder;
    const char *name;
} temporary;

typedef struct mapping {
    volatile sig_atomic_t used;
    const char *begin;
    size_t bytes;
    char line[1400];
} mapping;

static temporary temporaries[FILE_TEMPORARIES];
static mapping mappings[FILE_MAPPINGS];
static int spoken;
static void (*make_line)(char *out, size_t size, const char *sentence);

static void remove_temporaries(void)
{
    for (int i = 0; i < FILE_TEMPORARIES; i++) {
        if (temporaries[i].used) unlinkat(temporaries[i].folder, temporaries[i].name, 0);
    }
}

static void die_as_usual(int number)
{
    struct sigaction usual;
    memset(&usual, 0, sizeof usual);
    usual.sa_handler = SIG_DFL;
    sigaction(number, &usual, NULL);
    raise(number); /* taken when the handler returns */
}

static void on_stop(int number)
{
    remove_temporaries();
    _exit(128 + number);
}

static void on_pipe(int number)
{
    remove_temporaries();
    die_as_usual(number);
}

static void on_bus(int number, siginfo_t *info, void *context)
{
    (void)context;
    const char *const at = info->si_addr;
    for (int i = 0; i < FILE_MAPPINGS; i++) {
        const mapping *const m = &mappings[i];
        if (!m->used || at < m->begin || at >= m->begin + m->bytes) continue;
        /* of several threads that fault, one speaks; the others end with it */
        while (__atomic_exchange_n(&spoken, 1, __ATOMIC_SEQ_CST)) pause();
        remove_temporaries();
        const ssize_t written = write(STDERR_FILENO, m->line, strlen(m->line));
        (void)written; /* nobody is left to be told */
        _exit(1);
    }
    remove_temporaries();
    die_as_usual(number);
}

void files_signals(void (*line)(char *out, size_t size, const char *sentence))
{
    static const int stops[] = {SIGINT, SIGTERM, SIGHUP};
    struct sigaction act, old;
    make_line = line;
    memset(&act, 0, sizeof act);
    sigfillset(&act.sa_mask);
    act.sa_handler = on_stop;
    for (size_t i = 0; i < sizeof stops / sizeof stops[0]; i++) {
        if (sigaction(stops[i], NULL, &old) == 0 && old.sa_handler == SIG_IGN) continue;
        sigaction(stops[i], &act, NULL);
    }
    act.sa_handler = on_pipe;
    sigaction(SIGPIPE, &act, NULL);
    act.sa_flags = SA_SIGINFO;
    act.sa_sigaction = on_bus;
    sigaction(SIGBUS, &act, NULL);
}

int file_temporary_add(int folder, const char *name)
{
    for (int i = 0; i < FILE_TEMPORARIES; i++) {
        if (temporaries[i].used) continue;
        temporaries[i].folder = folder;
        temporaries[i].name = name;
        temporaries[i].used = 1;
        return i;
    }
    return -1;
}

void file_temporary_drop(int place)
{
    if (place >= 0) temporaries[place].used = 0;
}

int file_mapping_add(const void *begin, size_t bytes, const char *sentence)
{
    for (int i = 0; i < FILE_MAPPINGS; i++) {
        mapping *const m = &mappings[i];
        if (m->used) continue;
        m->begin = begin;
        m->bytes = bytes;
        if (make_line) {
            make_line(m->line, sizeof m->line, sentence);
        } else {
            snprintf(m->line, sizeof m->line, "%s\n", sentence);
        }
        m->used = 1;
        return i;
    }
    return -1;
}

void file_mapping_drop(const void *begin)
{
    for (int i = 0; i < FILE_MAPPINGS; i++) {
        if (mappings[i].used && mappings[i].begin == begin) mappings[i].used = 0;
    }
}
