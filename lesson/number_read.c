/* SPDX-License-Identifier: MIT */
/* number_read.c - decimal text as the nearest double, see number.h. The text is an integer times a
 * power of ten, so the answer is one exact division of big integers, rounded half to even.
 */
#include "lesson/big.h"
#include "lesson/number.h"

enum {
    DIGITS_KEPT = 800,    /* significant digits read exactly; more than 768 decide nothing new */
    EXPONENT_CAP = 100000 /* decimal exponents beyond this are all the same */
};

/* The double nearest to a / b (b > 0), ties to even; 0 when it is too large for one. */
static int nearest_double(big *a, big *b, int negative, double *x)
{
    uint64_t significand = 0;
    int exponent = 0;
    if (a->n > 0) {
        /* aim at 53 or 54 bits of quotient, fewer for subnormals */
        exponent = big_bits(a) - big_bits(b) - 53;
        if (exponent < -1074) exponent = -1074;
        if (exponent < 0)
            big_shift_left(a, -exponent);
        else
            big_shift_left(b, exponent);
        big_shift_left(b, 54);
        for (int i = 54; i >= 0; i--) {
            significand <<= 1;
            if (big_compare(a, b) >= 0) {
                big_subtract(a, b);
                significand |= 1;
            }
            if (i > 0) big_halve(b);
        }
        /* the remainder is in a; drop one bit where 54 came out */
        int sticky = a->n > 0;
        int half;
        if (significand >> 53 != 0) {
            half = (int)(significand & 1);
            significand >>= 1;
            exponent++;
        } else {
            big_mul_small(a, 2, 0);
            const int side = big_compare(a, b);
            half = side >= 0;
            sticky = side != 0 && a->n > 0;
        }
        if (half && (sticky || (significand & 1) != 0)) significand++;
        if (significand >> 53 != 0) {
            significand >>= 1;
            exponent++;
        }
        if (exponent > 971) return 0;
    }
    union {
        uint64_t bits;
        double x;
    } u;
    u.bits = significand; /* subnormal, or zero */
    if (significand >> 52 != 0)
        u.bits = (significand & (((uint64_t)1 << 52) - 1)) | (uint64_t)(exponent + 1075) << 52;
    u.bits |= (uint64_t)(negative != 0) << 63;
    *x = u.x;
    return 1;
}

/* A decimal number as read: digit[0 ... n) as an integer, times 10^exponent. */
typedef struct decimal {
    int negative;
    int n;
    int64_t exponent;
    char digit[DIGITS_KEPT + 1];
} decimal;

static size_t read_sign(const char *text, size_t n, int *negative)
{
    *negative = 0;
    if (n > 0 && (text[0] == '-' || text[0] == '+')) {
        *negative = text[0] == '-';
        return 1;
    }
    if (n > 2 && text[0] == '\xE2' && text[1] == '\x88' && text[2] == '\x92') {
        *negative = 1;
        return 3;
    }
    return 0;
}

static int is_digit(const char *text, size_t n, size_t i)
{
    return i < n && text[i] >= '0' && text[i] <= '9';
}

static void take_digit(decimal *d, char c, int after_point)
{
    if (d->n == 0 && c == '0') {
        d->exponent -= after_point;
    } else if (d->n < DIGITS_KEPT) {
        d->digit[d->n++] = c;
        d->exponent -= after_point;
    } else {
        if (c != '0') d->digit[DIGITS_KEPT - 1] |= 1; /* '0' becomes '1': more than nothing */
        d->exponent += !after_point;
    }
}

/* The number at the start of the text; returns where it stops, 0 when there is none. */
static size_t read_decimal(const char *text, size_t n, decimal *d)
{
    d->n = 0;
    d->exponent = 0;
    size_t i = read_sign(text, n, &d->negative);
    int some = 0;
    for (; is_digit(text, n, i); i++, some = 1) take_digit(d, text[i], 0);
    if (i < n && text[i] == '.' && (some || is_digit(text, n, i + 1))) {
        i++;
        for (; is_digit(text, n, i); i++, some = 1) take_digit(d, text[i], 1);
    }
    if (!some) return 0;
    if (i < n && (text[i] == 'e' || text[i] == 'E')) {
        int minus;
        size_t e = i + 1 + read_sign(text + i + 1, n - i - 1, &minus);
        if (is_digit(text, n, e)) {
            int64_t value = 0;
            for (; is_digit(text, n, e); e++)
                if (value < EXPONENT_CAP) value = value * 10 + (text[e] - '0');
            d->exponent += minus ? -value : value;
            i = e;
        }
    }
    return i;
}

lesson_number_status lesson_number_parse(const char *text, size_t n, double *x, size_t *stop)
{
    decimal d;
    size_t blank = 0;
    while (blank < n && (text[blank] == ' ' || text[blank] == '\t')) blank++;
    if (stop != NULL) *stop = 0;
    if (blank == n) return LESSON_NUMBER_EMPTY;
    const size_t end = read_decimal(text, n, &d);
    if (stop != NULL) *stop = end;
    if (end == 0) return LESSON_NUMBER_JUNK;
    if (end < n)
        return text[end] == ',' && is_digit(text, n, end + 1) ? LESSON_NUMBER_COMMA
                                                              : LESSON_NUMBER_JUNK;
    big a, b;
    big_set(&a, 0);
    big_set(&b, 1);
    const int64_t size = d.n + d.exponent; /* the value is below 10^size */
    if (d.n > 0 && size > 310) return LESSON_NUMBER_TOO_LARGE;
    if (d.n > 0 && size > -330) {
        for (int i = 0; i < d.n; i++) {
            if (i == 0)
                big_set(&a, (uint64_t)(d.digit[0] - '0'));
            else
                big_mul_small(&a, 10, (uint32_t)(d.digit[i] - '0'));
        }
        if (d.exponent >= 0)
            big_mul_pow10(&a, (int)d.exponent);
        else
            big_mul_pow10(&b, (int)-d.exponent);
    }
    double value;
    if (!nearest_double(&a, &b, d.negative, &value)) return LESSON_NUMBER_TOO_LARGE;
    if (x != NULL) *x = value;
    return LESSON_NUMBER_OK;
}

lesson_number_status lesson_number_parse_integer(const char *text, size_t n, int64_t *x)
{
    int negative;
    size_t i = read_sign(text, n, &negative);
    if (n == 0) return LESSON_NUMBER_EMPTY;
    if (i == n) return LESSON_NUMBER_JUNK;
    uint64_t value = 0;
    const uint64_t limit = negative ? (uint64_t)1 << 63 : ((uint64_t)1 << 63) - 1;
    int large = 0;
    for (; i < n; i++) {
        if (!is_digit(text, n, i)) return LESSON_NUMBER_JUNK;
        const uint64_t c = (uint64_t)(text[i] - '0');
        if (value > (limit - c) / 10)
            large = 1;
        else
            value = value * 10 + c;
    }
    if (large) return LESSON_NUMBER_TOO_LARGE;
    *x = negative ? (int64_t)(0 - value) : (int64_t)value;
    return LESSON_NUMBER_OK;
}

const char *lesson_number_reason(lesson_number_status status)
{
    switch (status) {
    case LESSON_NUMBER_OK:
        return "fine";
    case LESSON_NUMBER_EMPTY:
        return "there is no number";
    case LESSON_NUMBER_COMMA:
        return "use a point, not a comma: 1.5";
    case LESSON_NUMBER_JUNK:
        return "that is not a number";
    case LESSON_NUMBER_TOO_LARGE:
        return "that is too large";
    }
    return "unknown";
}
