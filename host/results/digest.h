#ifndef HOST_DIGEST_H
#define HOST_DIGEST_H
/* Fingerprints of what was run: XXH128 of xxHash, 32 hexadecimal digits as xxh128sum(1) prints them. They tell
 * accidents apart, not forgeries. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { DIGEST_TEXT = 33 };

/* Of bytes; returns `out`. */
const char *digest_of(const void *data, size_t n, char out[DIGEST_TEXT]);
/* Of a file's contents; false when it cannot be read (errno says why). */
bool digest_file(const char *path, char out[DIGEST_TEXT]);

/* Of a sequence of parts: "ab", "c" and "a", "bc" differ. */
struct digest {
    uint64_t low, high;
};
void digest_start(struct digest *d);
void digest_add(struct digest *d, const void *data, size_t n);
/* NULL counts as "". */
void digest_text(struct digest *d, const char *s);
/* Returns `out`. */
const char *digest_end(const struct digest *d, char out[DIGEST_TEXT]);
#endif
