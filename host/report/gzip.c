/* A small compressor for gzip (RFC 1952) and deflate (RFC 1951). It searches the latest places with the same four bytes
 * for the longest match, and writes each block with Huffman codes of its own (RFC 1951, section 3.2.7). */
#include "gzip.h"
#include "huffman.h"
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* WINDOW: the longest distance of a match. BLOCK: bytes that are compressed at a time. END: the code for the end of a
 * block. TRIED: most places that are tried for a match. */
enum { WINDOW = 32768, BLOCK = 1 << 20, HASHES = 1 << 15, LONGEST = 258, SHORTEST = 4, END = 256, TRIED = 64 };
/* Symbols: literals, END and lengths; then distances. */
enum { SYMBOLS = 286, DISTANCES = 30 };

/* A literal byte, or a match. */
struct token {
    uint16_t length;   /* 0: a literal */
    uint16_t distance; /* distance less 1; of a literal: the byte */
};

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
    struct token token[BLOCK];                        /* the block as literals and matches */
    uint32_t n_tokens, used[SYMBOLS], far[DISTANCES]; /* used, far: how often the block has each symbol and distance */
};

static void put_bits(struct gzip *z, uint32_t v, int n) {
    z->bits |= (uint64_t)v << z->n_bits;
    z->n_bits += n;
    for (; z->n_bits >= 8; z->n_bits -= 8) {
        putc((int)(z->bits & 255), z->to);
        z->bits >>= 8;
    }
}

/* Returns the symbol of a match's length, and the number of extra bits (RFC 1951, section 3.2.5). From one power of two
 * to the next, lengths have four symbols, and distances have two. */
static uint32_t length_symbol(uint32_t length, int *extra) {
    uint32_t l = length - 3;
    *extra = 0;
    if (length == LONGEST)
        return 285;
    while (l >> *extra >= 8)
        ++*extra;
    return 257 + 4 * (uint32_t)*extra + (l >> *extra);
}

static uint32_t distance_symbol(uint32_t d, int *extra) {
    *extra = 0;
    while (d >> *extra >= 4)
        ++*extra;
    return 2 * (uint32_t)*extra + (d >> *extra);
}

static void note_token(struct gzip *z, uint32_t length, uint32_t distance) {
    int extra;
    z->token[z->n_tokens++] = (struct token){(uint16_t)length, (uint16_t)distance};
    z->used[length ? length_symbol(length, &extra) : distance]++;
    if (length)
        z->far[distance_symbol(distance, &extra)]++;
}

static void put_token(struct gzip *z, const struct huffman *symbols, const struct huffman *distances,
                      const struct token *t) {
    int extra = 0;
    uint32_t s = t->length ? length_symbol(t->length, &extra) : t->distance;
    put_bits(z, symbols->code[s], symbols->bits[s]);
    if (!t->length)
        return;
    put_bits(z, (t->length - 3u) & ((1u << extra) - 1), extra);
    s = distance_symbol(t->distance, &extra);
    put_bits(z, distances->code[s], distances->bits[s]);
    put_bits(z, t->distance & ((1u << extra) - 1), extra);
}

/* Writes the lengths of all codes. Each length is a symbol with a code of four bits: the lengths 0 to 15 and no
 * others. Zeroes are not packed, because the codes are a hundredth of a block. */
static void put_lengths(struct gzip *z, const struct huffman *symbols, const struct huffman *distances) {
    static const unsigned char order[19] = {16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15};
    struct huffman four;
    uint32_t same[16];
    for (int i = 0; i < 16; i++)
        same[i] = 1;
    huffman_make(&four, same, 16);
    put_bits(z, SYMBOLS - 257, 5);
    put_bits(z, DISTANCES - 1, 5);
    put_bits(z, 19 - 4, 4);
    for (int i = 0; i < 19; i++)
        put_bits(z, order[i] < 16 ? four.bits[order[i]] : 0, 3);
    for (int s = 0; s < SYMBOLS; s++)
        put_bits(z, four.code[symbols->bits[s]], 4);
    for (int s = 0; s < DISTANCES; s++)
        put_bits(z, four.code[distances->bits[s]], 4);
}

/* Writes the tokens of the block and forgets them. */
static void put_tokens(struct gzip *z) {
    struct huffman symbols, distances;
    /* a code needs two symbols at least */
    z->used[END]++;
    z->used[0]++;
    z->far[0]++;
    z->far[1]++;
    huffman_make(&symbols, z->used, SYMBOLS);
    huffman_make(&distances, z->far, DISTANCES);
    put_lengths(z, &symbols, &distances);
    for (uint32_t i = 0; i < z->n_tokens; i++)
        put_token(z, &symbols, &distances, &z->token[i]);
    put_bits(z, symbols.code[END], symbols.bits[END]);
    z->n_tokens = 0;
    memset(z->used, 0, sizeof z->used);
    memset(z->far, 0, sizeof z->far);
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
    put_bits(z, 2, 2); /* codes of its own */
    for (size_t at = 0; at < z->n;) {
        uint32_t distance = 0, next = 0, length = longest(z, at, &distance);
        note_place(z, at);
        if (length && length < LONGEST && longest(z, at + 1, &next) > length)
            length = 0;
        if (!length) {
            note_token(z, 0, z->data[at++]);
            continue;
        }
        note_token(z, length, distance - 1);
        for (size_t end = at + length; ++at < end;)
            note_place(z, at);
    }
    put_tokens(z);
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
