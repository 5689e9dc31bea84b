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
struct mem_place memmap_place(const struct memmap *m, uint64_t address);
/* The address of line `line` of slice `slice`. */
uint64_t memmap_address(const struct memmap *m, uint32_t slice, uint64_t line);
/* The bank and row of line `line` of slice `slice`, of all slices or of its channel's. */
struct dram_place memmap_dram(const struct memmap *m, uint32_t slice, uint64_t line);
#endif
