/* SPDX-License-Identifier: MIT */
/* output.c - writes results so that a reader never sees half of one: into a temporary file in the
 * target's folder, synced, then renamed. Devices, pipes and standard output are written directly,
 * because a rename would replace them.
 *
 * A path is first followed through its symlinks; from then on the folder is an open descriptor, so
 * that nothing that happens to the path later leads elsewhere.
 */
#include "files/file_io.h"
#include "files/parse/convert.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#define LINKS_MAX 40

struct files_output {
    char name[FILE_NAME_SHOWN + 8];
    int flags;
    int fd;     /* being written */
    int folder; /* of the target; -1 when written directly */
    bool close_fd;
    bool exists;
    int place;               /* in the list of temporaries */
    char temporary[32];      /* name in folder; "" when there is none */
    char base[NAME_MAX + 1]; /* the target's name in folder */
    struct stat target;      /* when exists */
    struct stat folder_stat;
    int64_t written;
};

static int refuse(const files_output *out, files_error *err, const char *doing, int e)
{
    return file_fail(err, file_blame(e), "%s cannot be %s: %s", out->name, doing, strerror(e));
}

/* ---- where a path leads ------------------------------------------------------------------------ */

/* Replaces path by what its last component, a symlink, says; 0 when it is no symlink, -1 with errno
 * set when it cannot be followed. */
static int follow(char *path)
{
    char link[PATH_MAX], next[PATH_MAX];
    struct stat st;
    if (lstat(path, &st) != 0 || !S_ISLNK(st.st_mode)) return 0;
    const ssize_t n = readlink(path, link, sizeof link - 1);
    if (n < 0) return -1;
    link[n] = 0;
    const char *const slash = strrchr(path, '/');
    const int folder = link[0] == '/' || !slash ? 0 : (int)(slash - path) + 1;
    if (snprintf(next, sizeof next, "%.*s%s", folder, path, link) >= (int)sizeof next) {
        errno = ENAMETOOLONG;
        return -1;
    }
    strcpy(path, next);
    return 1;
}

/* Opens the folder of the resolved path and keeps the last component. */
static int open_folder(files_output *out, char *path, files_error *err)
{
    char *const slash = strrchr(path, '/');
    const char *const base = slash ? slash + 1 : path;
    if (*path == 0) return refuse(out, err, "written", ENOENT);
    if (*base == 0 || strcmp(base, ".") == 0 || strcmp(base, "..") == 0) {
        return file_fail(err, 2, "%s names a directory; a file was expected", out->name);
    }
    if (strlen(base) > NAME_MAX) return refuse(out, err, "written", ENAMETOOLONG);
    strcpy(out->base, base);
    if (slash) *(slash == path ? slash + 1 : slash) = 0;
    const char *const folder = slash ? path : ".";
    out->folder = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (out->folder < 0 || fstat(out->folder, &out->folder_stat) != 0) {
        const int e = errno;
        char shown[FILE_NAME_SHOWN + 8];
        file_cut_name(shown, folder);
        return file_fail(err, file_blame(e), "%s cannot be written: its folder '%s': %s", out->name,
                         shown, strerror(e));
    }
    return 0;
}

/* ---- opening ------------------------------------------------------------------------------------ */

static int refuse_terminal(const files_output *out, files_error *err)
{
    return file_fail(err, 2, "%s is a terminal; a .npy file is binary and needs a file or a pipe",
                     out->name);
}

static int open_direct(files_output *out, const char *path, files_error *err)
{
    if (path) {
        do {
            out->fd = open(path, O_WRONLY | O_CLOEXEC | O_NOCTTY);
        } while (out->fd < 0 && errno == EINTR);
        if (out->fd < 0) return refuse(out, err, "written", errno);
        out->close_fd = true;
    } else {
        out->fd = STDOUT_FILENO;
        out->exists = true;
        if (fstat(out->fd, &out->target) != 0) return refuse(out, err, "written", errno);
    }
    return isatty(out->fd) ? refuse_terminal(out, err) : 0;
}

static int open_temporary(files_output *out, files_error *err)
{
    for (int tries = 0; tries < 100; tries++) {
        uint64_t random = 0;
        if (getrandom(&random, sizeof random, 0) != (ssize_t)sizeof random) {
            random = (uint64_t)getpid() << 32 ^ (uint64_t)tries;
        }
        snprintf(out->temporary, sizeof out->temporary, ".qkv-%016" PRIx64 ".tmp", random);
        out->place = file_temporary_add(out->folder, out->temporary);
        if (out->place < 0) {
            out->temporary[0] = 0;
            return file_fail(err, 1, "%s: more than %d outputs at once", out->name,
                             FILE_TEMPORARIES);
        }
        out->fd =
            openat(out->folder, out->temporary,
                   O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, out->exists ? 0600 : 0666);
        if (out->fd >= 0) {
            out->close_fd = true;
            if (!out->exists || fchmod(out->fd, out->target.st_mode & 0777) == 0) return 0;
            return refuse(out, err, "written", errno);
        }
        const int e = errno;
        file_temporary_drop(out->place);
        out->place = -1;
        out->temporary[0] = 0;
        if (e != EEXIST && e != EINTR) return refuse(out, err, "written", e);
    }
    return refuse(out, err, "written", EEXIST);
}

static int open_target(files_output *out, const char *given, files_error *err)
{
    char path[PATH_MAX];
    if (strlen(given) >= sizeof path) return refuse(out, err, "written", ENAMETOOLONG);
    strcpy(path, given);
    /* links such as /dev/fd/63 lead to a pipe that has no path of its own */
    out->exists = stat(path, &out->target) == 0;
    if (out->exists && (S_ISCHR(out->target.st_mode) || S_ISFIFO(out->target.st_mode))) {
        return open_direct(out, path, err);
    }
    for (int links = 0;; links++) {
        const int more = follow(path);
        if (more == 0) break;
        if (more < 0) return refuse(out, err, "written", errno);
        if (links == LINKS_MAX) return refuse(out, err, "written", ELOOP);
    }
    out->exists = stat(path, &out->target) == 0;
    if (!out->exists && errno != ENOENT && errno != ENOTDIR) {
        return refuse(out, err, "written", errno);
    }
    if (out->exists) {
        const mode_t m = out->target.st_mode;
        if (S_ISDIR(m)) {
            return file_fail(err, 2, "%s is a directory; a file was expected", out->name);
        }
        if (!S_ISREG(m)) {
            return file_fail(err, 2, "%s is a block device or socket; a file was expected",
                             out->name);
        }
        if (out->flags & FILES_NO_CLOBBER) {
            return file_fail(err, 2, "%s exists (%" PRId64 " byte%s); --no-clobber keeps it",
                             out->name, (int64_t)out->target.st_size,
                             file_s((int64_t)out->target.st_size));
        }
        if (faccessat(AT_FDCWD, path, W_OK, AT_EACCESS) != 0) {
            return refuse(out, err, "written", errno);
        }
    }
    const int status = open_folder(out, path, err);
    return status != 0 ? status : open_temporary(out, err);
}

int files_create(files_output **result, const char *path, int flags, files_error *err)
{
    const char *const shown = file_shown_name(path, "standard output");
    files_output *const out = calloc(1, sizeof *out);
    *result = NULL;
    if (!out) return file_fail(err, 1, "%s: no memory for %zu bytes", shown, sizeof *out);
    file_cut_name(out->name, shown);
    out->flags = flags;
    out->fd = out->folder = out->place = -1;
    const int status =
        strcmp(path, "-") == 0 ? open_direct(out, NULL, err) : open_target(out, path, err);
    if (status != 0) {
        files_discard(out);
        return status;
    }
    *result = out;
    return 0;
}

/* ---- not the same file ---------------------------------------------------------------------- */

static bool same_file(const struct stat *a, dev_t dev, ino_t ino)
{
    return (S_ISREG(a->st_mode) || S_ISFIFO(a->st_mode)) && a->st_dev == dev && a->st_ino == ino;
}

int files_apart_input(const files_output *out, const char *option, const files_input *in,
                      const char *in_option, files_error *err)
{
    dev_t dev;
    ino_t ino;
    file_identity(in, &dev, &ino);
    if (!out->exists || !same_file(&out->target, dev, ino)) return 0;
    return file_fail(err, 2, "%s %s is the same file as %s %s; an output must be another file",
                     option, out->name, in_option, files_name(in));
}

int files_apart_output(const files_output *a, const char *a_option, const files_output *b,
                       const char *b_option, files_error *err)
{
    bool same = a->fd == STDOUT_FILENO && b->fd == STDOUT_FILENO;
    if (same) {
        /* whatever standard output is */
    } else if (a->exists && b->exists) {
        same = same_file(&a->target, b->target.st_dev, b->target.st_ino);
    } else if (!a->exists && !b->exists) {
        same = a->folder_stat.st_dev == b->folder_stat.st_dev &&
               a->folder_stat.st_ino == b->folder_stat.st_ino && strcmp(a->base, b->base) == 0;
    }
    if (!same) return 0;
    return file_fail(err, 2, "%s %s is the same file as %s %s; each output needs its own", a_option,
                     a->name, b_option, b->name);
}

/* ---- writing ---------------------------------------------------------------------------------- */

int files_write(files_output *out, const void *bytes, size_t n, files_error *err)
{
    const char *p = bytes;
    size_t left = n;
    while (left > 0) {
        const size_t most = left < (size_t)1 << 30 ? left : (size_t)1 << 30;
        const ssize_t put = write(out->fd, p, most);
        if (put < 0 && errno == EINTR) continue;
        if (put < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) {
            struct pollfd wait = {out->fd, POLLOUT, 0};
            poll(&wait, 1, -1);
            continue;
        }
        if (put < 0) {
            return file_fail(
                err, 1, "%s cannot be written: %s after %" PRId64 " bytes, %" PRId64 " were left",
                out->name, strerror(errno), out->written, (int64_t)left);
        }
        p += put;
        left -= (size_t)put;
        out->written += put;
    }
    return 0;
}

static int write_swapped(files_output *out, int32_t type, int64_t n, const char *data,
                         files_error *err)
{
    char piece[1 << 14];
    const int64_t each = convert_bytes(type), most = (int64_t)sizeof piece / each;
    int status = 0;
    while (n > 0 && status == 0) {
        const int64_t here = n < most ? n : most;
        if (each == 2) { /* elements of 16 bits would be widened on the way in */
            for (int64_t i = 0; i < here; i++) {
                piece[2 * i] = data[2 * i + 1];
                piece[2 * i + 1] = data[2 * i];
            }
        } else {
            convert_elements(piece, data, here, type, 0); /* swapping is its own reverse */
        }
        status = files_write(out, piece, (size_t)(here * each), err);
        data += here * each;
        n -= here;
    }
    return status;
}

int files_write_npy(files_output *out, int32_t type, int32_t rank, const int64_t *dim,
                    const void *data, files_error *err)
{
    unsigned char head[1024];
    const size_t length = npy_header_write(head, sizeof head, type, rank, dim);
    int64_t n = 1;
    for (int32_t a = 0; a < rank; a++) n *= dim[a];
    const int status = files_write(out, head, length, err);
    if (status != 0 || n == 0) return status;
    if (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__) return write_swapped(out, type, n, data, err);
    return files_write(out, data, (size_t)(n * convert_bytes(type)), err);
}

/* ---- the end ---------------------------------------------------------------------------------- */

static int sync_and_close(files_output *out, files_error *err)
{
    if (out->temporary[0] && fsync(out->fd) != 0) return refuse(out, err, "written", errno);
    if (out->close_fd) {
        out->close_fd = false;
        if (close(out->fd) != 0) return refuse(out, err, "written", errno);
    }
    return 0;
}

static int give_name(files_output *out, files_error *err)
{
    if (!out->temporary[0]) return 0;
    if (out->flags & FILES_NO_CLOBBER) {
        /* a link, unlike a rename, never replaces; the temporary name is removed by the caller */
        if (linkat(out->folder, out->temporary, out->folder, out->base, 0) == 0) return 0;
        if (errno == EEXIST) {
            return file_fail(err, 2, "%s exists by now; --no-clobber keeps it", out->name);
        } /* else a file system without links */
    }
    if (renameat(out->folder, out->temporary, out->folder, out->base) != 0) {
        return refuse(out, err, "written", errno);
    }
    file_temporary_drop(out->place);
    out->place = -1;
    out->temporary[0] = 0;
    return 0;
}

int files_commit(files_output **outs, int n, files_error *err)
{
    int status = 0;
    for (int i = 0; i < n && status == 0; i++) {
        if (outs[i]) status = sync_and_close(outs[i], err);
    }
    for (int i = 0; i < n && status == 0; i++) {
        if (!outs[i]) continue;
        status = give_name(outs[i], err);
        const int synced = outs[i]->folder >= 0 ? fsync(outs[i]->folder) : 0;
        (void)synced; /* some file systems cannot; the data itself is safe */
    }
    for (int i = 0; i < n; i++) files_discard(outs[i]);
    return status;
}

void files_discard(files_output *out)
{
    if (!out) return;
    if (out->close_fd) close(out->fd);
    if (out->temporary[0]) unlinkat(out->folder, out->temporary, 0);
    file_temporary_drop(out->place);
    if (out->folder >= 0) close(out->folder);
    free(out);
}
