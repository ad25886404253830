/* SPDX-License-Identifier: MIT */
/* tui_store.c - the dates of the recall cards in $XDG_STATE_HOME/qkv/recall, or in
 * ~/.local/state/qkv/recall. The file appears only when the reader asks for it (--save) and is
 * written as a whole or not at all.
 */
#include "cli/qkv_files.h"
#include "cli/tui_ask.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { STORE_BYTES = 4096 }; /* a plan has less than 400 */

/* False: no variable says where. */
static bool find_path(char *path, size_t size)
{
    const char *const state = getenv("XDG_STATE_HOME");
    const char *const home = getenv("HOME");
    int n = -1;
    if (state && state[0] == '/') /* a relative one does not count, says its specification */
        n = snprintf(path, size, "%s/qkv/recall", state);
    else if (home && home[0] == '/')
        n = snprintf(path, size, "%s/.local/state/qkv/recall", home);
    if (n > 0 && (size_t)n < size) return true;
    path[0] = 0;
    return false;
}

int store_open(recall_store *store)
{
    char text[STORE_BYTES];
    recall_start(&store->plan);
    store->exists = false;
    if (!find_path(store->path, sizeof store->path)) return CLI_DONE;
    const int fd = open(store->path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) {
        if (errno == ENOENT || errno == ENOTDIR) return CLI_DONE;
        return cli_failed("%s: %s", store->path, strerror(errno));
    }
    size_t n = 0;
    ssize_t got;
    while (n < sizeof text && (got = read(fd, text + n, sizeof text - n)) > 0) n += (size_t)got;
    close(fd);
    while (n > 0 && text[n - 1] == '\n') n--;
    if (n == sizeof text || !recall_read(&store->plan, text, n))
        return cli_refuse("%s holds no dates of recall cards; --forget removes it", store->path);
    store->exists = true;
    return CLI_DONE;
}

/* Every folder of the path; those that are made are the user's alone. */
static int make_folders(const char *path)
{
    char folder[4096];
    snprintf(folder, sizeof folder, "%s", path);
    for (char *p = folder + 1; *p; p++) {
        if (*p != '/') continue;
        *p = 0;
        if (mkdir(folder, 0700) != 0 && errno != EEXIST && errno != EISDIR && errno != EROFS)
            return cli_failed("%s: %s", folder, strerror(errno));
        *p = '/';
    }
    return CLI_DONE;
}

typedef struct plan_text {
    char text[STORE_BYTES];
    size_t n;
} plan_text;

static void add(void *ctx, const char *text, size_t bytes)
{
    plan_text *const out = ctx;
    if (out->n + bytes > sizeof out->text) return;
    memcpy(out->text + out->n, text, bytes);
    out->n += bytes;
}

int store_save(const recall_store *store)
{
    if (!store->path[0])
        return cli_refuse("--save needs XDG_STATE_HOME or HOME, an absolute path to keep dates in");
    const int bad = make_folders(store->path);
    if (bad) return bad;
    plan_text out = {.n = 0};
    const lesson_sink sink = {add, &out};
    recall_write(&store->plan, &sink);
    add(&out, "\n", 1);
    files_error err;
    files_output *file = NULL;
    if (files_create(&file, store->path, 0, &err) || files_write(file, out.text, out.n, &err)) {
        files_discard(file);
        return cli_files_error(&err);
    }
    return files_commit(&file, 1, &err) ? cli_files_error(&err) : CLI_DONE;
}

int store_forget(recall_store *store)
{
    if (!find_path(store->path, sizeof store->path) || unlink(store->path) != 0) {
        if (store->path[0] && errno != ENOENT && errno != ENOTDIR)
            return cli_failed("%s: %s", store->path, strerror(errno));
        printf("No dates were kept.\n");
        return CLI_DONE;
    }
    printf("The dates are removed.\n");
    return CLI_DONE;
}
