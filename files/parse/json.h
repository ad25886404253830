/* SPDX-License-Identifier: MIT */
/* json.h - a strict JSON reader (RFC 8259) that is asked for one event after the other.
 *
 * A pure function over (bytes, length): no operating system, no C library, no allocation, no
 * recursion; nesting is bounded. The text must be UTF-8 without a byte order mark; comments,
 * trailing commas, leading zeros, bare control characters and anything after the value are refused.
 * Duplicate keys are passed on: whether they matter is the caller's to know.
 */
#ifndef FILES_PARSE_JSON_H
#define FILES_PARSE_JSON_H

#include <stddef.h>
#include <stdint.h>

#define JSON_MAX_DEPTH 64

typedef enum json_event {
    JSON_ERROR = 0, /* reader.error, reader.at; every later call gives it again */
    JSON_END,       /* the value is complete and nothing follows */
    JSON_OBJECT,    /* { */
    JSON_OBJECT_END,
    JSON_ARRAY, /* [ */
    JSON_ARRAY_END,
    JSON_KEY, /* of the value that comes next */
    JSON_STRING,
    JSON_NUMBER, /* its text is at text_at; the grammar is checked, the size is not */
    JSON_TRUE,
    JSON_FALSE,
    JSON_NULL
} json_event;

typedef struct json_reader {
    const unsigned char *bytes;
    size_t length;
    size_t at;                   /* next byte to read; after an error the byte that is wrong */
    const char *error;           /* a clause: what stands there, or what was expected */
    size_t text_at, text_length; /* raw bytes of the event's key, string (no quotes) or number */
    int32_t depth;
    int32_t state;
    unsigned char in_object[JSON_MAX_DEPTH]; /* per level: 1 object, 0 array */
} json_reader;

void json_begin(json_reader *r, const unsigned char *bytes, size_t length);
json_event json_next(json_reader *r);

/* The current key or string with its escapes replaced, as UTF-8; a surrogate without partner becomes
 * U+FFFD. Writes at most size bytes, the last of them 0, and returns the whole length (it may hold
 * zeros: \u0000). The decoded length never exceeds text_length. */
size_t json_string(const json_reader *r, char *text, size_t size);

#endif /* FILES_PARSE_JSON_H */
