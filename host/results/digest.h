#ifndef HOST_DIGEST_H
#define HOST_DIGEST_H
/* Digests of programs and configurations: XXH128 of xxHash, as 32 hexadecimal digits like those of xxh128sum(1). They
 * detect accidental differences, not forgeries. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { DIGEST_TEXT = 33 };

/* Digests bytes; returns `out`. */
const char *digest_of(const void *data, size_t n, char out[DIGEST_TEXT]);
/* Computes the digest of a file. Returns false and sets errno if the file cannot be read. */
bool digest_file(const char *path, char out[DIGEST_TEXT]);

/* Returns some bits of a digest, for a hash table. */
uint32_t digest_bits(const char *digest);

/* A digest of a sequence of parts. The sequences ("ab", "c") and ("a", "bc") have different digests. */
struct digest {
    uint64_t low, high;
};
void digest_start(struct digest *d);
void digest_add(struct digest *d, const void *data, size_t n);
/* Adds a string to the digest; NULL counts as "". */
void digest_text(struct digest *d, const char *s);
/* Returns `out`. */
const char *digest_end(const struct digest *d, char out[DIGEST_TEXT]);
#endif
