/* A small compressor for gzip (RFC 1952) and deflate (RFC 1951). It searches the latest places with the same four bytes
 * for the longest match, and writes the fixed codes of RFC 1951, section 3.2.6. Traces repeat themselves so much that
 * this suffices. */
#include "gzip.h"
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* WINDOW: the longest distance of a match. BLOCK: bytes that are compressed at a time. END: the code for the end of a
 * block. TRIED: most places that are tried for a match. */
enum { WINDOW = 32768, BLOCK = 1 << 18, HASHES = 1 << 15, LONGEST = 258, SHORTEST = 4, END = 256, TRIED = 24 };

struct gzip {
    FILE *to;
    uint64_t bits; /* bits that are not written yet; the lowest bit is written first */
    int n_bits;
    uint32_t crc, size;        /* checksum and size of the uncompressed content */
    uint32_t crc_of[256];      /* the checksum of each byte */
    uint32_t place[HASHES];    /* by hash: latest place with this hash of four bytes, plus 1; 0: none */
    uint32_t before[BLOCK];    /* by place in the block: the previous place with the same hash, plus 1; 0: none */
    unsigned char data[BLOCK]; /* the content of the current block */
    size_t n;
};

static void put_bits(struct gzip *z, uint32_t v, int n) {
    z->bits |= (uint64_t)v << z->n_bits;
    z->n_bits += n;
    for (; z->n_bits >= 8; z->n_bits -= 8) {
        putc((int)(z->bits & 255), z->to);
        z->bits >>= 8;
    }
}

/* Writes a Huffman code, whose highest bit is first. */
static void put_code(struct gzip *z, uint32_t code, int n) {
    uint32_t turned = 0;
    for (int i = 0; i < n; i++)
        turned |= (code >> i & 1) << (n - 1 - i);
    put_bits(z, turned, n);
}

/* Writes a literal, the end of a block, or a code of a length (257 to 285), by the fixed codes. */
static void put_symbol(struct gzip *z, uint32_t s) {
    if (s < 144)
        put_code(z, 0x30 + s, 8);
    else if (s < 256)
        put_code(z, 0x190 + s - 144, 9);
    else if (s < 280)
        put_code(z, s - 256, 7);
    else
        put_code(z, 0xc0 + s - 280, 8);
}

/* Writes a match (RFC 1951, section 3.2.5). From one power of two to the next, lengths have four codes, and distances
 * have two. */
static void put_match(struct gzip *z, uint32_t length, uint32_t distance) {
    uint32_t l = length - 3, d = distance - 1;
    int extra = 0;
    if (length == LONGEST) {
        put_symbol(z, 285);
    } else {
        while (l >> extra >= 8)
            extra++;
        put_symbol(z, 257 + 4 * (uint32_t)extra + (l >> extra));
        put_bits(z, l & ((1u << extra) - 1), extra);
    }
    extra = 0;
    while (d >> extra >= 4)
        extra++;
    put_code(z, 2 * (uint32_t)extra + (d >> extra), 5);
    put_bits(z, d & ((1u << extra) - 1), extra);
}

/* Returns the length of the match of place `at` with the earlier place `from`. */
static uint32_t match(const struct gzip *z, size_t from, size_t at) {
    uint32_t n = 0;
    while (n < LONGEST && at + n < z->n && z->data[from + n] == z->data[at + n])
        n++;
    return n;
}

/* Adds place `at` to the places with its hash. */
static void note_place(struct gzip *z, size_t at) {
    uint32_t four;
    if (at + SHORTEST > z->n)
        return;
    memcpy(&four, z->data + at, sizeof four);
    uint32_t *latest = &z->place[four * 2654435761u >> 17];
    z->before[at] = *latest;
    *latest = (uint32_t)at + 1;
}

/* Returns the length of the longest match of place `at`, and sets *distance; 0: there is none. */
static uint32_t longest(const struct gzip *z, size_t at, uint32_t *distance) {
    uint32_t four, best = 0;
    if (at + SHORTEST > z->n)
        return 0;
    memcpy(&four, z->data + at, sizeof four);
    uint32_t from = z->place[four * 2654435761u >> 17];
    for (int i = 0; i < TRIED && from && at - (from - 1) <= WINDOW && best < LONGEST; i++, from = z->before[from - 1]) {
        uint32_t own = match(z, from - 1, at);
        if (own > best) {
            best = own;
            *distance = (uint32_t)(at - (from - 1));
        }
    }
    return best >= SHORTEST ? best : 0;
}

/* Compresses and writes the block. If the next place has a longer match, writes a literal in place of the match. */
static void put_block(struct gzip *z, bool last) {
    memset(z->place, 0, sizeof z->place);
    put_bits(z, last, 1);
    put_bits(z, 1, 2); /* fixed codes */
    for (size_t at = 0; at < z->n;) {
        uint32_t distance = 0, next = 0, length = longest(z, at, &distance);
        note_place(z, at);
        if (length && length < 64 && longest(z, at + 1, &next) > length)
            length = 0;
        if (!length) {
            put_symbol(z, z->data[at++]);
            continue;
        }
        put_match(z, length, distance);
        for (size_t end = at + length; ++at < end;)
            note_place(z, at);
    }
    put_symbol(z, END);
    z->n = 0;
}

static ssize_t write_some(void *cookie, const char *data, size_t n) {
    struct gzip *z = cookie;
    for (size_t i = 0; i < n; i++) {
        z->crc = z->crc_of[(z->crc ^ (unsigned char)data[i]) & 255] ^ z->crc >> 8;
        z->data[z->n++] = (unsigned char)data[i];
        if (z->n == BLOCK)
            put_block(z, false);
    }
    z->size += (uint32_t)n;
    return ferror(z->to) ? 0 : (ssize_t)n;
}

static int finish(void *cookie) {
    struct gzip *z = cookie;
    put_block(z, true);
    put_bits(z, 0, -z->n_bits & 7);
    put_bits(z, ~z->crc, 32);
    put_bits(z, z->size, 32);
    int failed = ferror(z->to) ? EOF : 0;
    free(z);
    return failed;
}

FILE *gzip_stream(FILE *to) {
    static const char begin[10] = {'\x1f', '\x8b', 8, 0, 0, 0, 0, 0, 0, 3};
    struct gzip *z = calloc(1, sizeof *z);
    if (!z)
        return NULL;
    z->to = to;
    z->crc = UINT32_MAX;
    for (uint32_t i = 0; i < 256; i++) {
        uint32_t c = i;
        for (int k = 0; k < 8; k++)
            c = c & 1 ? 0xedb88320u ^ c >> 1 : c >> 1;
        z->crc_of[i] = c;
    }
    FILE *f = fopencookie(z, "w", (cookie_io_functions_t){.write = write_some, .close = finish});
    if (!f) {
        free(z);
        return NULL;
    }
    fwrite(begin, 1, sizeof begin, to);
    return f;
}
