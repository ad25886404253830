/* SPDX-License-Identifier: MIT */
/* npz.h - one array of a .npz file, which is a zip archive of .npy files: read from its beginning to
 * its end, as a pipe would be. Nothing is unpacked anywhere but where it is read to.
 *
 * "FILE.npz#NAME" names an array. Only input.c sees this.
 */
#ifndef FILES_NPZ_H
#define FILES_NPZ_H

#include "files/file_io.h"

/* The place of '#' in a name of that form, or NULL. */
const char *npz_hash(const char *path);

typedef struct npz_array npz_array;

/* archive: an open file, which stays open and is the caller's. shown: its name for sentences. Refused
 * with the names that are there when `name` is none of them. */
int npz_open(npz_array **array, int archive, const char *shown, const char *name, files_error *err);
/* Reads until n bytes are there or the array ends; -1: *why says what was wrong. */
ssize_t npz_read(npz_array *array, void *bytes, size_t n, const char **why);
void npz_close(npz_array *array); /* NULL is fine */

/* ": it holds q, k, v; name one as FILE.npz#q", or "" when it is no archive. */
void npz_names(char *text, size_t size, int archive);

#endif /* FILES_NPZ_H */
