/* SPDX-License-Identifier: MIT */
/* json.c - the strict JSON reader: a state, one byte per open bracket, and a position. Strings are
 * checked (UTF-8, escapes) when they are passed and decoded only when asked for.
 */
#include "files/parse/json.h"
#include "files/parse/utf8.h"

enum state {
    WANT_VALUE,     /* at the start, after a colon */
    WANT_FIRST,     /* after [ : a value or ] */
    WANT_FIRST_KEY, /* after { : a key or } */
    WANT_ELEMENT,   /* after a comma in an array */
    WANT_KEY,       /* after a comma in an object */
    WANT_COLON,
    WANT_COMMA, /* after a value inside brackets: a comma or the closing one */
    WANT_END,
    FAILED
};

static json_event fail(json_reader *r, size_t at, const char *error)
{
    r->at = at;
    r->error = error;
    r->state = FAILED;
    return JSON_ERROR;
}

static int peek(const json_reader *r)
{
    return r->at < r->length ? r->bytes[r->at] : -1;
}

void json_begin(json_reader *r, const unsigned char *bytes, size_t length)
{
    r->bytes = bytes;
    r->length = length;
    r->at = 0;
    r->error = NULL;
    r->text_at = r->text_length = 0;
    r->depth = 0;
    r->state = WANT_VALUE;
}

/* ---- strings ---------------------------------------------------------------------------------- */

static int hex_digit(int x)
{
    if (x >= '0' && x <= '9') return x - '0';
    if (x >= 'a' && x <= 'f') return x - 'a' + 10;
    if (x >= 'A' && x <= 'F') return x - 'A' + 10;
    return -1;
}

/* The four hexadecimal digits at p; -1 when they are not. */
static int32_t hex4(const unsigned char *p, size_t n)
{
    int32_t value = 0;
    if (n < 4) return -1;
    for (size_t i = 0; i < 4; i++) {
        const int digit = hex_digit(p[i]);
        if (digit < 0) return -1;
        value = value << 4 | digit;
    }
    return value;
}

/* Passes the string whose opening quote is at r->at. 0 after a failure. */
static int pass_string(json_reader *r)
{
    size_t at = r->at + 1;
    r->text_at = at;
    while (at < r->length && r->bytes[at] != '"') {
        const unsigned char *p = r->bytes + at;
        const size_t left = r->length - at;
        if (*p == '\\') {
            const int x = left < 2 ? -1 : p[1];
            if (x < 0) {
                at++; /* the text ends here */
                break;
            }
            const int known = x == '"' || x == '\\' || x == '/' || x == 'b' || x == 'f' ||
                              x == 'n' || x == 'r' || x == 't';
            if (x == 'u' && hex4(p + 2, left - 2) >= 0) {
                at += 6;
            } else if (known) {
                at += 2;
            } else {
                return fail(r, at, "an escape that JSON does not know") != JSON_ERROR;
            }
        } else if (*p < 0x20) {
            return fail(r, at, "a control character inside a string") != JSON_ERROR;
        } else {
            const size_t n = utf8_length(p, left);
            if (n == 0) return fail(r, at, "bytes that are not UTF-8") != JSON_ERROR;
            at += n;
        }
    }
    if (at >= r->length) {
        return fail(r, r->length, "the end of the text inside a string") != JSON_ERROR;
    }
    r->text_length = at - r->text_at;
    r->at = at + 1;
    return 1;
}

/* UTF-8 of one code point into p; its length. */
static size_t utf8_put(unsigned char *p, int32_t x)
{
    if (x < 0x80) {
        p[0] = (unsigned char)x;
        return 1;
    }
    if (x < 0x800) {
        p[0] = (unsigned char)(0xc0 | x >> 6);
        p[1] = (unsigned char)(0x80 | (x & 63));
        return 2;
    }
    if (x < 0x10000) {
        p[0] = (unsigned char)(0xe0 | x >> 12);
        p[1] = (unsigned char)(0x80 | (x >> 6 & 63));
        p[2] = (unsigned char)(0x80 | (x & 63));
        return 3;
    }
    p[0] = (unsigned char)(0xf0 | x >> 18);
    p[1] = (unsigned char)(0x80 | (x >> 12 & 63));
    p[2] = (unsigned char)(0x80 | (x >> 6 & 63));
    p[3] = (unsigned char)(0x80 | (x & 63));
    return 4;
}

/* Decodes the escape at p (n bytes to the string's end) into out; *used bytes were read. */
static size_t unescape(const unsigned char *p, size_t n, unsigned char *out, size_t *used)
{
    *used = 2;
    switch (p[1]) {
    case 'b':
        return utf8_put(out, '\b');
    case 'f':
        return utf8_put(out, '\f');
    case 'n':
        return utf8_put(out, '\n');
    case 'r':
        return utf8_put(out, '\r');
    case 't':
        return utf8_put(out, '\t');
    case 'u':
        break;
    default:
        return utf8_put(out, p[1]);
    }
    *used = 6;
    const int32_t high = hex4(p + 2, n - 2);
    if (high < 0xd800 || high > 0xdfff) return utf8_put(out, high);
    if (high <= 0xdbff && n >= 12 && p[6] == '\\' && p[7] == 'u') {
        const int32_t low = hex4(p + 8, n - 8);
        if (low >= 0xdc00 && low <= 0xdfff) {
            *used = 12;
            return utf8_put(out, 0x10000 + ((high - 0xd800) << 10) + (low - 0xdc00));
        }
    }
    return utf8_put(out, 0xfffd);
}

size_t json_string(const json_reader *r, char *text, size_t size)
{
    const unsigned char *p = r->bytes + r->text_at;
    size_t in = 0, out = 0;
    while (in < r->text_length) {
        unsigned char piece[4];
        size_t n = 1, used = 1;
        if (p[in] == '\\') {
            n = unescape(p + in, r->text_length - in, piece, &used);
        } else {
            piece[0] = p[in];
        }
        for (size_t i = 0; i < n; i++, out++) {
            if (out + 1 < size) text[out] = (char)piece[i];
        }
        in += used;
    }
    if (size > 0) text[out < size ? out : size - 1] = 0;
    return out;
}

/* ---- values ----------------------------------------------------------------------------------- */

static size_t pass_digits(json_reader *r)
{
    size_t n = 0;
    while (peek(r) >= '0' && peek(r) <= '9') {
        r->at++;
        n++;
    }
    return n;
}

static json_event number(json_reader *r)
{
    r->text_at = r->at;
    if (peek(r) == '-') r->at++;
    if (peek(r) == '0') {
        r->at++;
    } else if (pass_digits(r) == 0) {
        return fail(r, r->at, "a number without digits");
    }
    if (peek(r) >= '0' && peek(r) <= '9') return fail(r, r->at, "a number with a leading zero");
    if (peek(r) == '.') {
        r->at++;
        if (pass_digits(r) == 0) return fail(r, r->at, "a number without digits after the point");
    }
    if (peek(r) == 'e' || peek(r) == 'E') {
        r->at++;
        if (peek(r) == '+' || peek(r) == '-') r->at++;
        if (pass_digits(r) == 0) return fail(r, r->at, "a number without digits after the e");
    }
    r->text_length = r->at - r->text_at;
    return JSON_NUMBER;
}

static json_event literal(json_reader *r, const char *word, json_event event)
{
    size_t n = 0;
    while (word[n] && r->at + n < r->length && r->bytes[r->at + n] == (unsigned char)word[n]) n++;
    if (word[n]) return fail(r, r->at, "a word that JSON does not know");
    r->at += n;
    return event;
}

static void after_value(json_reader *r)
{
    r->state = r->depth > 0 ? WANT_COMMA : WANT_END;
}

static json_event open_bracket(json_reader *r, int object)
{
    if (r->depth == JSON_MAX_DEPTH) return fail(r, r->at, "nesting deeper than 64");
    r->in_object[r->depth++] = (unsigned char)object;
    r->at++;
    r->state = object ? WANT_FIRST_KEY : WANT_FIRST;
    return object ? JSON_OBJECT : JSON_ARRAY;
}

static json_event close_bracket(json_reader *r)
{
    const int object = r->in_object[--r->depth];
    r->at++;
    after_value(r);
    return object ? JSON_OBJECT_END : JSON_ARRAY_END;
}

static json_event value(json_reader *r)
{
    json_event event = JSON_STRING;
    const int x = peek(r);
    if (x == '{' || x == '[') return open_bracket(r, x == '{');
    if (x == '"') {
        if (!pass_string(r)) return JSON_ERROR;
    } else if (x == '-' || (x >= '0' && x <= '9')) {
        event = number(r);
    } else if (x == 't') {
        event = literal(r, "true", JSON_TRUE);
    } else if (x == 'f') {
        event = literal(r, "false", JSON_FALSE);
    } else if (x == 'n') {
        event = literal(r, "null", JSON_NULL);
    } else if (x < 0) {
        return fail(r, r->at, "the end of the text where a value was expected");
    } else {
        return fail(r, r->at, "a character where a value was expected");
    }
    if (event != JSON_ERROR) after_value(r);
    return event;
}

static json_event key(json_reader *r)
{
    if (peek(r) != '"') return fail(r, r->at, "something else where a key in quotes was expected");
    if (!pass_string(r)) return JSON_ERROR;
    r->state = WANT_COLON;
    return JSON_KEY;
}

static void spaces(json_reader *r)
{
    while (peek(r) == ' ' || peek(r) == '\t' || peek(r) == '\n' || peek(r) == '\r') r->at++;
}

/* After a value inside brackets. 1: a comma was passed and the next element or key is due. */
static int comma(json_reader *r, json_event *event)
{
    const int object = r->in_object[r->depth - 1];
    if (peek(r) == (object ? '}' : ']')) {
        *event = close_bracket(r);
        return 0;
    }
    if (peek(r) != ',') {
        *event = fail(r, r->at, "something else where a comma or the closing bracket was expected");
        return 0;
    }
    r->at++;
    spaces(r);
    r->state = object ? WANT_KEY : WANT_ELEMENT;
    return 1;
}

json_event json_next(json_reader *r)
{
    json_event event = JSON_ERROR;
    if (r->state == FAILED) return JSON_ERROR;
    spaces(r);
    if (r->state == WANT_COLON) {
        if (peek(r) != ':') return fail(r, r->at, "something else where a colon was expected");
        r->at++;
        spaces(r);
        r->state = WANT_VALUE;
    }
    if (r->state == WANT_COMMA && !comma(r, &event)) return event;
    if (r->state == WANT_FIRST && peek(r) == ']') return close_bracket(r);
    if (r->state == WANT_FIRST_KEY && peek(r) == '}') return close_bracket(r);
    if (r->state == WANT_FIRST_KEY || r->state == WANT_KEY) return key(r);
    if (r->state == WANT_END) {
        if (r->at < r->length) return fail(r, r->at, "text after the value");
        return JSON_END;
    }
    return value(r);
}
