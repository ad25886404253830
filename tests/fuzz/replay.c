/* SPDX-License-Identifier: MIT */
/* replay.c - a fuzz target without a fuzzer: each file of the corpus folder, every prefix of it, and
 * a fixed number of random changes of it (SEED= chooses others). The bytes stand before a page that
 * faults. Prints TAP, one case a file.
 */
#include "tests/fuzz/fuzz_target.h"

#include <dirent.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define LARGEST (1 << 17)
#define CHANGES 2000

static unsigned char *end; /* of the bytes that may be read */
static uint64_t seed;

static uint64_t next_random(void)
{
    seed += UINT64_C(0x9e3779b97f4a7c15); /* splitmix64 */
    uint64_t x = seed;
    x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
    return x ^ x >> 31;
}

static void make_room(void)
{
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    unsigned char *const p =
        mmap(NULL, LARGEST + page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (p == MAP_FAILED || mprotect(p + LARGEST, page, PROT_NONE) != 0) exit(99);
    end = p + LARGEST;
}

static void one(const unsigned char *bytes, size_t n)
{
    if (n > 0) memcpy(end - n, bytes, n);
    LLVMFuzzerTestOneInput(end - n, n);
}

static void change(unsigned char *bytes, size_t *n)
{
    static const unsigned char telling[] = {0,   1,   9,    ' ',  '"',  '\'', '(',  ')',
                                            ',', '-', '0',  '9',  ':',  '[',  '\\', ']',
                                            '{', '}', 0x7f, 0x80, 0xed, 0xff};
    for (uint64_t times = 1 + next_random() % 4; times > 0 && *n > 1; times--) {
        const size_t at = next_random() % *n, span = 1 + next_random() % 8;
        switch (next_random() % 5) {
        case 0:
            bytes[at] = telling[next_random() % sizeof telling];
            break;
        case 1:
            bytes[at] ^= (unsigned char)(1u << (next_random() % 8));
            break;
        case 2: /* cut a piece out */
            if (at + span < *n) {
                memmove(bytes + at, bytes + at + span, *n - at - span);
                *n -= span;
            }
            break;
        case 3: /* double a piece */
            if (at + span < *n && *n + span <= LARGEST) {
                memmove(bytes + at + span, bytes + at, *n - at);
                *n += span;
            }
            break;
        default:
            *n = at + 1;
            break;
        }
    }
}

static size_t read_file(const char *folder, const char *name, unsigned char *bytes)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *const f = fopen(path, "rb");
    if (!f) exit(99);
    const size_t n = fread(bytes, 1, LARGEST, f);
    fclose(f);
    return n;
}

static void replay(const char *folder, const char *name)
{
    static unsigned char bytes[LARGEST], changed[LARGEST];
    const size_t n = read_file(folder, name, bytes);
    one(bytes, n);
    for (size_t k = 0; k < n && k < 2048; k++) one(bytes, k);
    for (int i = 0; i < CHANGES; i++) {
        size_t m = n;
        memcpy(changed, bytes, n);
        change(changed, &m);
        one(changed, m);
    }
}

int main(int argc, char **argv)
{
    struct dirent **names;
    int cases = 0;
    if (argc != 2) return 99;
    const char *const given = getenv("SEED");
    seed = given ? strtoull(given, NULL, 10) : 1;
    make_room();
    const int n = scandir(argv[1], &names, NULL, alphasort);
    if (n <= 0) return 99;
    for (int i = 0; i < n; i++) {
        if (names[i]->d_name[0] != '.') {
            replay(argv[1], names[i]->d_name);
            printf("ok %d - %s\n", ++cases, names[i]->d_name);
            fflush(stdout); /* a crash names the file after the last line */
        }
        free(names[i]);
    }
    free(names);
    printf("1..%d\n", cases);
    return cases > 0 ? 0 : 1;
}
