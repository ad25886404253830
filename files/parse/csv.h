/* SPDX-License-Identifier: MIT */
/* csv.h - a reader of tables as text (RFC 4180 and what spreadsheets make of it), asked for one
 * event after the other.
 *
 * A pure function over (bytes, length): no operating system, no C library, no allocation. Fields
 * are parted by tabs, semicolons, commas or blanks, whichever of these, in this order, stands
 * outside quotes in the first row that is not blank. Lines end with LF, CRLF or CR; a UTF-8 byte order
 * mark is passed over; blank lines give no event but are counted. Whether rows are equally long and
 * what a field means is the caller's to know.
 */
#ifndef FILES_PARSE_CSV_H
#define FILES_PARSE_CSV_H

#include <stddef.h>
#include <stdint.h>

typedef enum csv_event {
    CSV_ERROR = 0, /* reader.error, .row, .column; every later call gives it again */
    CSV_END,
    CSV_FIELD,  /* its raw bytes are at text_at */
    CSV_ROW_END /* of a row with at least one field; column is their number */
} csv_event;

typedef struct csv_reader {
    const unsigned char *bytes;
    size_t length;
    size_t at;                   /* next byte to read; after an error the byte that is wrong */
    const char *error;           /* a clause: what stands there */
    size_t text_at, text_length; /* raw, without quotes, or without the blanks around it */
    int64_t row, column;         /* of the event, from 1, blank lines counted */
    int32_t separator;           /* '\t', ';', ',' or ' ' for runs of blanks */
    int32_t quoted;              /* 1: the field stood in quotes */
    int32_t state;
} csv_reader;

void csv_begin(csv_reader *r, const unsigned char *bytes, size_t length);
csv_event csv_next(csv_reader *r);

/* The current field with doubled quotation marks halved. Writes at most size bytes, the last of
 * them 0, and returns the whole length, which never exceeds text_length. */
size_t csv_text(const csv_reader *r, char *text, size_t size);

#endif /* FILES_PARSE_CSV_H */
