/* SPDX-License-Identifier: MIT */
/* number_write.c - doubles as decimal text, see number.h. A finite double is an integer times a
 * power of two; scaled by a power of ten it is a big integer or a quotient of two.
 *
 * Shortest digits: Steele and White's free-format generation, with the interval's ends included
 * when the significand is even, as reading rounds half to even.
 */
#include "lesson/big.h"
#include "lesson/number.h"

typedef struct writer {
    char *text;
    size_t n;
} writer;

static void put(writer *w, char c)
{
    w->text[w->n++] = c;
}

static void put_all(writer *w, const char *s)
{
    while (*s != 0) put(w, *s++);
}

static size_t finish(writer *w)
{
    w->text[w->n] = 0;
    return w->n;
}

static void put_minus(writer *w, unsigned flags)
{
    put_all(w, (flags & LESSON_MINUS_UNICODE) != 0 ? "\xE2\x88\x92" : "-");
}

typedef struct parts {
    int negative;
    int special; /* 1 infinity, 2 NaN */
    uint64_t significand;
    int exponent;
    int lower_closer; /* the double below is half as far as the one above */
} parts;

static parts split(double x)
{
    union {
        double x;
        uint64_t bits;
    } u = {x};
    const int field = (int)(u.bits >> 52 & 0x7FF);
    const uint64_t low = u.bits & (((uint64_t)1 << 52) - 1);
    parts p = {u.bits >> 63 != 0, 0, low, -1074, 0};
    if (field == 0x7FF) {
        p.special = low != 0 ? 2 : 1;
    } else if (field != 0) {
        p.significand = low | (uint64_t)1 << 52;
        p.exponent = field - 1075;
        p.lower_closer = low == 0 && field > 1;
    }
    return p;
}

static parts split_f32(float x)
{
    union {
        float x;
        uint32_t bits;
    } u = {x};
    const int field = (int)(u.bits >> 23 & 0xFF);
    const uint32_t low = u.bits & ((1u << 23) - 1);
    parts p = {u.bits >> 31 != 0, 0, low, -149, 0};
    if (field == 0xFF) {
        p.special = low != 0 ? 2 : 1;
    } else if (field != 0) {
        p.significand = low | 1u << 23;
        p.exponent = field - 150;
        p.lower_closer = low == 0 && field > 1;
    }
    return p;
}

static size_t write_special(char *text, const parts *p, unsigned flags)
{
    writer w = {text, 0};
    if (p->special == 2) {
        put_all(&w, "NaN");
    } else {
        if (p->negative) put_minus(&w, flags);
        put_all(&w, (flags & LESSON_MINUS_UNICODE) != 0 ? "\xE2\x88\x9E" : "inf");
    }
    return finish(&w);
}

static int is_whole(const parts *p)
{
    if (p->significand == 0 || p->exponent >= 0) return 1;
    if (p->exponent <= -64) return 0;
    return (p->significand & (((uint64_t)1 << -p->exponent) - 1)) == 0;
}

static int clamp_digits(int digits)
{
    return digits < 0 ? 0 : digits > LESSON_DIGITS_MAX ? LESSON_DIGITS_MAX : digits;
}

size_t lesson_number_fixed(char *text, double x, int digits, unsigned flags)
{
    const parts p = split(x);
    if (p.special) return write_special(text, &p, flags);
    digits = clamp_digits(digits);
    if ((flags & LESSON_KEEP_INTEGER) != 0 && is_whole(&p)) digits = 0;

    big a;
    big_set(&a, p.significand);
    big_mul_pow10(&a, digits);
    if (p.exponent > 0) big_shift_left(&a, p.exponent);
    if (p.exponent < 0) big_shift_right_even(&a, -p.exponent);
    const int zero = a.n == 0;
    char digit[BIG_LIMBS * 10];
    const int n = big_digits(&a, digit);

    writer w = {text, 0};
    if (p.negative && !zero) put_minus(&w, flags);
    if (n <= digits) put(&w, '0');
    for (int i = 0; i < n - digits; i++) put(&w, digit[i]);
    if (digits > 0) {
        put(&w, '.');
        for (int i = n; i < digits; i++) put(&w, '0');
        for (int i = n > digits ? n - digits : 0; i < n; i++) put(&w, digit[i]);
    }
    return finish(&w);
}

static void put_integer(writer *w, int64_t x)
{
    char back[20];
    int n = 0;
    uint64_t u = x < 0 ? 0 - (uint64_t)x : (uint64_t)x;
    do back[n++] = (char)('0' + u % 10);
    while ((u /= 10) != 0);
    if (x < 0) put(w, '-');
    while (n > 0) put(w, back[--n]);
}

size_t lesson_number_integer(char *text, int64_t x)
{
    writer w = {text, 0};
    put_integer(&w, x);
    return finish(&w);
}

/* An estimate of log10(r / s) that is never too large: log10(2) from below. */
static int power_below(const big *r, const big *s)
{
    const int log2 = big_bits(r) - big_bits(s) - 1;
    return log2 >= 0 ? log2 * 30102 / 100000 : -((-log2 * 30103 + 99999) / 100000);
}

/* value = r / s * 10^k with 1 <= r / s < 10; for significand > 0 */
static int scale_to_decimal(big *r, big *s, const parts *p)
{
    big_set(r, p->significand);
    big_set(s, 1);
    if (p->exponent >= 0)
        big_shift_left(r, p->exponent);
    else
        big_shift_left(s, -p->exponent);
    int k = power_below(r, s);
    if (k >= 0)
        big_mul_pow10(s, k);
    else
        big_mul_pow10(r, -k);
    big ten;
    for (;;) {
        big_copy(&ten, s);
        big_mul_small(&ten, 10, 0);
        if (big_compare(r, &ten) < 0) return k;
        big_copy(s, &ten);
        k++;
    }
}

/* The next digit, 0 ... 9: r = 10 (r - digit * s) */
static int next_digit(big *r, const big *s)
{
    int digit = 0;
    while (big_compare(r, s) >= 0) {
        big_subtract(r, s);
        digit++;
    }
    return digit;
}

size_t lesson_number_scientific(char *text, double x, int digits, unsigned flags)
{
    const parts p = split(x);
    if (p.special) return write_special(text, &p, flags);
    digits = clamp_digits(digits);
    if (p.significand == 0) return lesson_number_fixed(text, 0.0, digits, flags);
    big r, s;
    int k = scale_to_decimal(&r, &s, &p);
    char digit[LESSON_DIGITS_MAX + 2];
    for (int i = 0; i <= digits; i++) {
        digit[i] = (char)next_digit(&r, &s);
        big_mul_small(&r, 10, 0);
    }
    big_mul_small(&s, 5, 0); /* r was multiplied by 10 once more: the half is 5 s */
    const int side = big_compare(&r, &s);
    if (side > 0 || (side == 0 && digit[digits] % 2 != 0)) {
        int i = digits;
        while (i >= 0 && digit[i] == 9) digit[i--] = 0;
        if (i >= 0) {
            digit[i]++;
        } else {
            digit[0] = 1; /* 9.99 became 10.0 */
            k++;
        }
    }
    writer w = {text, 0};
    if (p.negative) put_minus(&w, flags);
    put(&w, (char)('0' + digit[0]));
    if (digits > 0) put(&w, '.');
    for (int i = 1; i <= digits; i++) put(&w, (char)('0' + digit[i]));
    put(&w, 'e');
    if (k < 0) put_minus(&w, flags);
    put_integer(&w, k < 0 ? -k : k);
    return finish(&w);
}

size_t lesson_number_show(char *text, double x, int digits, unsigned flags)
{
    if (x >= 1e9 || x <= -1e9) return lesson_number_scientific(text, x, digits, flags);
    return lesson_number_fixed(text, x, digits, flags);
}

/* A number and half the gaps to its neighbours, all over s and 10^k: value r, above up, below down. */
typedef struct scaled {
    big r, s, up, down;
    int k;
    int include; /* a decimal exactly on the edge reads as this number */
} scaled;

static void scaled_start(scaled *x, const parts *p)
{
    const int extra = p->lower_closer ? 2 : 1;
    big_set(&x->r, p->significand);
    big_set(&x->s, 1);
    big_set(&x->up, 1);
    big_set(&x->down, 1);
    if (p->exponent >= 0) {
        big_shift_left(&x->r, p->exponent + extra);
        big_shift_left(&x->s, extra);
        big_shift_left(&x->up, p->exponent + extra - 1);
        big_shift_left(&x->down, p->exponent);
    } else {
        big_shift_left(&x->r, extra);
        big_shift_left(&x->s, -p->exponent + extra);
        big_shift_left(&x->up, extra - 1);
    }
    x->include = p->significand % 2 == 0;
    x->k = power_below(&x->r, &x->s);
    if (x->k >= 0) {
        big_mul_pow10(&x->s, x->k);
    } else {
        big_mul_pow10(&x->r, -x->k);
        big_mul_pow10(&x->up, -x->k);
        big_mul_pow10(&x->down, -x->k);
    }
}

/* Is value + up at s or beyond it, so that s itself reads as this number? */
static int reaches(const scaled *x, const big *s)
{
    big sum;
    big_copy(&sum, &x->r);
    big_add(&sum, &x->up);
    const int side = big_compare(&sum, s);
    return side > 0 || (side == 0 && x->include);
}

/* digit[0 ... return) times 10^(*k - position) */
static int shortest_digits(char *digit, int *k, const parts *p)
{
    scaled x;
    big ten;
    scaled_start(&x, p);
    for (;; x.k++) {
        big_copy(&ten, &x.s);
        big_mul_small(&ten, 10, 0);
        if (!reaches(&x, &ten)) break;
        big_copy(&x.s, &ten);
    }
    *k = x.k;
    for (int n = 0;;) {
        const int d = next_digit(&x.r, &x.s);
        const int side = big_compare(&x.r, &x.down);
        const int low = side < 0 || (side == 0 && x.include);
        int up = reaches(&x, &x.s);
        if (!low && !up) {
            digit[n++] = (char)('0' + d);
            big_mul_small(&x.r, 10, 0);
            big_mul_small(&x.up, 10, 0);
            big_mul_small(&x.down, 10, 0);
            continue;
        }
        if (low && up) { /* both d and d + 1 would do: the nearer one */
            big_mul_small(&x.r, 2, 0);
            const int half = big_compare(&x.r, &x.s);
            up = half > 0 || (half == 0 && d % 2 != 0);
        }
        digit[n++] = (char)('0' + d + up);
        return n;
    }
}

static size_t write_shortest(char *text, const parts *p)
{
    writer w = {text, 0};
    if (p->special == 2) {
        put_all(&w, "NaN");
        return finish(&w);
    }
    if (p->negative) put(&w, '-');
    if (p->special == 1) {
        put_all(&w, "Infinity");
        return finish(&w);
    }
    if (p->significand == 0) {
        put_all(&w, "0.0");
        return finish(&w);
    }
    char digit[24];
    int k;
    const int n = shortest_digits(digit, &k, p);
    if (k >= -4 && k < 16) {
        if (k < 0) put_all(&w, "0.");
        for (int i = -1; i > k; i--) put(&w, '0');
        for (int i = 0; i < n; i++) {
            put(&w, digit[i]);
            if (i == k) put(&w, '.');
        }
        for (int i = n; i <= k; i++) put(&w, '0');
        if (n <= k) put(&w, '.');
        if (n <= k + 1 && k >= 0) put(&w, '0');
        return finish(&w);
    }
    put(&w, digit[0]);
    if (n > 1) put(&w, '.');
    for (int i = 1; i < n; i++) put(&w, digit[i]);
    put_all(&w, k < 0 ? "e-" : "e+");
    if (k > -10 && k < 10) put(&w, '0');
    put_integer(&w, k < 0 ? -k : k);
    return finish(&w);
}

size_t lesson_number_shortest(char *text, double x)
{
    const parts p = split(x);
    return write_shortest(text, &p);
}

size_t lesson_number_shortest_f32(char *text, float x)
{
    const parts p = split_f32(x);
    return write_shortest(text, &p);
}
