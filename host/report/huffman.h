#ifndef HOST_HUFFMAN_H
#define HOST_HUFFMAN_H
/* Huffman codes for the gzip compressor. No code is longer than 15 bits, the limit of RFC 1951. */
#include <stdint.h>

enum { HUFFMAN_MOST = 288, HUFFMAN_LONGEST = 15 };

struct huffman {
    uint32_t code[HUFFMAN_MOST];      /* by symbol; the first bit of the stream is the lowest bit */
    unsigned char bits[HUFFMAN_MOST]; /* by symbol: length of its code; 0: the symbol has no code */
};

/* Makes the codes of `n` symbols (2 to HUFFMAN_MOST) for these frequencies. At least two frequencies must be positive.
 * A symbol of frequency 0 gets no code. */
void huffman_make(struct huffman *h, const uint32_t *frequency, int n);
#endif
