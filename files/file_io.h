/* SPDX-License-Identifier: MIT */
/* file_io.h - what the files of this folder share and nobody else sees: sentences, whole reads and
 * writes, and the lists that a signal handler needs.
 */
#ifndef FILES_FILE_IO_H
#define FILES_FILE_IO_H

#include "files/files.h"

#include <sys/types.h>

/* Fills *err; returns exit_status. */
int file_fail(files_error *err, int exit_status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* 2 when error number e means that the name was wrong, 1 when the system failed. */
int file_blame(int e);

/* Reads until n bytes are there or the file ends; offset < 0: from where a stream stands. Returns
 * the bytes read, or -1 with errno set. */
ssize_t file_read_full(int fd, void *bytes, size_t n, int64_t offset);

/* The name that sentences use; "(empty name)" for "". */
const char *file_shown_name(const char *path, const char *dash_name);

/* Which file an input is: for the comparison with outputs. */
void file_identity(const files_input *in, dev_t *dev, ino_t *ino);

/* "1 byte", "2 bytes": "%" PRId64 " byte%s". */
static inline const char *file_s(int64_t n)
{
    return n == 1 ? "" : "s";
}

/* Long names lose their middle, so that value and bound still fit behind them. name holds
 * FILE_NAME_SHOWN + 8 bytes. */
#define FILE_NAME_SHOWN 400
void file_cut_name(char *name, const char *shown);

/* ---- what a signal handler must undo (signals.c) ----------------------------------------------- */

#define FILE_TEMPORARIES 16
#define FILE_MAPPINGS 8

/* Say so before the file is made: the handler then removes what may or may not be there yet. The
 * folder fd and the name must stay as they are until the place is given back. -1: no place left. */
int file_temporary_add(int folder, const char *name);
void file_temporary_drop(int place);

/* sentence: what to say when the mapped file shrinks. -1: no place left. */
int file_mapping_add(const void *begin, size_t bytes, const char *sentence);
void file_mapping_drop(const void *begin);

/* files_read() with the size above which a file is mapped instead of read. */
int file_read_above(files_input *in, const files_slice *slice, files_tensor *t, int64_t map_above,
                    files_error *err);
#define FILE_MAP_ABOVE (INT64_C(256) << 20)

#endif /* FILES_FILE_IO_H */
