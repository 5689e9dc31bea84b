#include "digest.h"
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

void digest_start(struct digest *d) { *d = (struct digest){0x243f6a8885a308d3ull, 0x13198a2e03707344ull, 0}; }

/* The finaliser of splitmix64: every bit of the word reaches every bit of the result. */
static uint64_t mix(uint64_t z) {
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
    return z ^ (z >> 31);
}

static void add_word(struct digest *d, uint64_t w) {
    d->a = mix(d->a ^ w) + 0x9e3779b97f4a7c15ull;
    d->b = mix(d->b + w * 0xd6e8feb86659fd93ull) ^ d->a;
}

void digest_add(struct digest *d, const void *data, size_t n) {
    const unsigned char *at = data;
    d->bytes += n;
    for (; n >= 8; at += 8, n -= 8) {
        uint64_t w;
        memcpy(&w, at, 8);
        add_word(d, w);
    }
    uint64_t rest = (uint64_t)n << 56; /* so that zeros at the end count */
    for (size_t i = 0; i < n; i++)
        rest |= (uint64_t)at[i] << (8 * i);
    if (n)
        add_word(d, rest);
}

void digest_text(struct digest *d, const char *s) {
    size_t n = s ? strlen(s) : 0;
    add_word(d, n);
    digest_add(d, s ? s : "", n);
}

const char *digest_end(struct digest *d, char out[DIGEST_TEXT]) {
    add_word(d, d->bytes);
    snprintf(out, DIGEST_TEXT, "%016" PRIx64 "%016" PRIx64, mix(d->a ^ d->b), mix(d->b));
    return out;
}

bool digest_file(const char *path, char out[DIGEST_TEXT]) {
    struct stat st;
    if (stat(path, &st) != 0)
        return false;
    errno = EINVAL; /* a FIFO would wait for a writer, and be read */
    FILE *f = S_ISREG(st.st_mode) ? fopen(path, "rb") : NULL;
    if (!f)
        return false;
    struct digest d;
    unsigned char block[1 << 14];
    size_t n;
    digest_start(&d);
    while ((n = fread(block, 1, sizeof block, f)) > 0)
        digest_add(&d, block, n);
    bool fine = !ferror(f);
    fclose(f);
    digest_end(&d, out);
    return fine;
}
