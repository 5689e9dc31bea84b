#ifndef HOST_DIGEST_H
#define HOST_DIGEST_H
/* Fingerprints of 128 bits: what was run, to be found again. They tell accidents apart, not forgeries. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct digest {
    uint64_t a, b, bytes;
};
enum { DIGEST_TEXT = 33 };

void digest_start(struct digest *d);
void digest_add(struct digest *d, const void *data, size_t n);
/* A text with its end, so that "ab", "c" and "a", "bc" differ; NULL counts as "". */
void digest_text(struct digest *d, const char *s);
/* 32 hexadecimal digits; returns `out`. */
const char *digest_end(struct digest *d, char out[DIGEST_TEXT]);
/* Of a file's contents; false when it cannot be read (errno says why). */
bool digest_file(const char *path, char out[DIGEST_TEXT]);
#endif
