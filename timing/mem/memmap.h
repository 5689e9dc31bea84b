#ifndef TIMING_MEMMAP_H
#define TIMING_MEMMAP_H
/* Where an address lives. Consecutive pieces of dram.interleave bytes go round the channels, and within a channel round
 * its slices:
 *     piece = address / interleave;  channel = piece % channels;  slice of the channel = piece / channels % slices
 * A slice numbers the lines it holds without gaps, so that its sets are used evenly. A channel's banks are shared out
 * among its slices; the pieces of a slice fill a row, then go to the next bank, then to the next row:
 *     [ row | bank of the slice | piece of the row | slice of the channel | channel | byte of the piece ] */
#include "timing/config/config.h"

struct memmap {
    uint32_t piece_shift, line_shift, channels, slices; /* slices of a channel */
    uint32_t lines_shift;                               /* lines of a piece, log2 */
    uint32_t row_pieces, slice_banks;
    uint32_t row_shift, bank_shift; /* their logarithms when they are powers of two, else 32 */
};

struct mem_place {
    uint32_t slice;  /* of all slices: channel * slices of a channel + slice of the channel */
    uint64_t line;   /* line number in that slice */
    uint32_t offset; /* of the address in the line */
};

struct dram_place {
    uint32_t bank, row;
};

void memmap_init(struct memmap *m, const struct config *c);
/* memmap_place() for a piece with a number of more than 32 bits: its slice, and its number there. */
uint64_t memmap_far(const struct memmap *m, uint64_t piece, uint32_t *slice);
static inline struct mem_place memmap_place(const struct memmap *m, uint64_t address) {
    uint64_t piece = address >> m->piece_shift, rest;
    uint32_t in_piece = (uint32_t)(address >> m->line_shift) & ((1u << m->lines_shift) - 1), slice;
    if (__builtin_expect(piece >> 32 == 0, 1)) { /* the division is much shorter */
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
/* The address of line `line` of slice `slice`. */
uint64_t memmap_address(const struct memmap *m, uint32_t slice, uint64_t line);
/* The bank and row of line `line` of slice `slice`, of all slices or of its channel's. */
struct dram_place memmap_dram(const struct memmap *m, uint32_t slice, uint64_t line);
#endif
