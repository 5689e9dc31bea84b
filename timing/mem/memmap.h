#ifndef TIMING_MEMMAP_H
#define TIMING_MEMMAP_H
/* The address mapping. Consecutive pieces of dram.interleave bytes rotate over the channels, and within a channel over
 * its slices:
 *     piece = address / interleave;  channel = piece % channels;  slice of the channel = piece / channels % slices
 * With l2.slices_first, pieces rotate over the slices of a channel first:
 *     channel = piece / slices % channels;  slice of the channel = piece % slices
 * A slice numbers its lines without gaps, so that it uses all its sets evenly. The banks of a channel are divided among
 * its slices. Pieces of a slice fill a row, then go to the next bank, then to the next row:
 *     [ row | bank of the slice | piece of the row | slice of the channel | channel | byte of the piece ]
 *
 * With l2.hash=ipoly, the lowest bits of the number of channel and slice are replaced by the remainder of the piece's
 * number, as a polynomial over GF(2), divided by an irreducible polynomial (B. R. Rau, "Pseudo-randomly interleaved
 * memory", ISCA 1991). A stride of any power of two then uses all of these slices equally. The number of bits is the
 * largest k for which 2^k divides the number of slices. */
#include "timing/config/config.h"

enum { MEMMAP_BYTES = 8 };

struct memmap {
    uint32_t piece_shift, line_shift, channels, slices; /* slices: per channel */
    uint32_t lines_shift;                               /* log2 of the lines of a piece */
    uint32_t row_pieces, slice_banks;
    uint32_t row_shift, bank_shift; /* log2 of row_pieces and slice_banks if both are powers of two, else 32 */
    uint32_t hash_bits;             /* k with l2.hash=ipoly, else 0 */
    bool slices_first;
    /* by byte of the piece's number without its lowest k bits, and value of this byte: its share of the remainder */
    uint8_t remainder[MEMMAP_BYTES][256];
};

struct mem_place {
    uint32_t slice;  /* number of the slice among all slices: channel * slices per channel + slice of the channel */
    uint64_t line;   /* line number in this slice */
    uint32_t offset; /* byte offset in the line */
    bool far;        /* the sender is in the other half of the chip; memmap_place() does not know the sender */
};

struct dram_place {
    uint32_t bank, row;
};

void memmap_init(struct memmap *m, const struct config *c);
/* Computes the place of a piece whose number has more than 32 bits, for memmap_place(). Sets its slice, and returns
 * the number of the piece in the slice. */
uint64_t memmap_far(const struct memmap *m, uint64_t piece, uint32_t *slice);
/* As memmap_far(), for any piece, if m->hash_bits is not 0 or with m->slices_first. */
uint64_t memmap_other(const struct memmap *m, uint64_t piece, uint32_t *slice);
static inline struct mem_place memmap_place(const struct memmap *m, uint64_t address) {
    uint64_t piece = address >> m->piece_shift, rest;
    uint32_t in_piece = (uint32_t)(address >> m->line_shift) & ((1u << m->lines_shift) - 1), slice;
    if (__builtin_expect(m->hash_bits | m->slices_first, 0)) {
        rest = memmap_other(m, piece, &slice);
    } else if (__builtin_expect(piece >> 32 == 0, 1)) { /* a 32-bit division is much faster than a 64-bit division */
        uint32_t of_channel = (uint32_t)piece / m->channels;
        slice = (uint32_t)piece % m->channels * m->slices + of_channel % m->slices;
        rest = of_channel / m->slices;
    } else {
        rest = memmap_far(m, piece, &slice);
    }
    return (struct mem_place){.slice = slice,
                              .line = rest << m->lines_shift | in_piece,
                              .offset = (uint32_t)address & ((1u << m->line_shift) - 1)};
}
/* Returns the address of line `line` of slice `slice`. */
uint64_t memmap_address(const struct memmap *m, uint32_t slice, uint64_t line);
/* Returns the bank and row of line `line` of a slice. `slice` may be the number among all slices or the number in
 * the channel. */
struct dram_place memmap_dram(const struct memmap *m, uint32_t slice, uint64_t line);
#endif
