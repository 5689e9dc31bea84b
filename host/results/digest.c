#include "digest.h"
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <xxhash.h>

static const char *print(uint64_t high, uint64_t low, char out[DIGEST_TEXT]) {
    snprintf(out, DIGEST_TEXT, "%016" PRIx64 "%016" PRIx64, high, low);
    return out;
}

const char *digest_of(const void *data, size_t n, char out[DIGEST_TEXT]) {
    XXH128_hash_t h = XXH3_128bits(data, n);
    return print(h.high64, h.low64, out);
}

static bool digest_stream(FILE *f, XXH3_state_t *state, char out[DIGEST_TEXT]) {
    unsigned char block[1 << 14];
    size_t n;
    bool fine = XXH3_128bits_reset(state) == XXH_OK;
    while (fine && (n = fread(block, 1, sizeof block, f)) > 0)
        fine = XXH3_128bits_update(state, block, n) == XXH_OK;
    XXH128_hash_t h = XXH3_128bits_digest(state);
    print(h.high64, h.low64, out);
    return fine && !ferror(f);
}

bool digest_file(const char *path, char out[DIGEST_TEXT]) {
    struct stat st;
    if (stat(path, &st) != 0)
        return false;
    /* A file that is not regular is refused with EINVAL: opening a FIFO would block, and reading it would consume its
     * data. For a regular file, fopen() sets errno. */
    errno = EINVAL;
    FILE *f = S_ISREG(st.st_mode) ? fopen(path, "rb") : NULL;
    if (!f)
        return false;
    XXH3_state_t *state = XXH3_createState();
    bool fine = state && digest_stream(f, state, out);
    int reason = state ? errno : ENOMEM;
    XXH3_freeState(state);
    fclose(f);
    errno = reason;
    return fine;
}

uint32_t digest_bits(const char *digest) { return (uint32_t)XXH3_64bits(digest, strlen(digest)); }

void digest_start(struct digest *d) { *d = (struct digest){0}; }

/* Combines the digest of the earlier parts with the digest of the new part. */
void digest_add(struct digest *d, const void *data, size_t n) {
    XXH128_hash_t part = XXH3_128bits(data, n);
    uint64_t both[4] = {d->low, d->high, part.low64, part.high64};
    XXH128_hash_t h = XXH3_128bits(both, sizeof both);
    *d = (struct digest){h.low64, h.high64};
}

void digest_text(struct digest *d, const char *s) { digest_add(d, s ? s : "", s ? strlen(s) : 0); }

const char *digest_end(const struct digest *d, char out[DIGEST_TEXT]) { return print(d->high, d->low, out); }
