#include "memmap.h"

static uint32_t log2_of(uint32_t v) { return 31 - (uint32_t)__builtin_clz(v); }

void memmap_init(struct memmap *m, const struct config *c) {
    m->piece_shift = log2_of(c->dram.interleave);
    m->line_shift = log2_of(c->l2.line);
    m->lines_shift = m->piece_shift - m->line_shift;
    m->channels = c->dram.channels;
    m->slices = c->memory.l2_slices / c->dram.channels;
    m->row_pieces = c->dram.row_bytes > c->dram.interleave ? c->dram.row_bytes / c->dram.interleave : 1;
    m->slice_banks = c->dram.banks > m->slices ? c->dram.banks / m->slices : 1;
    m->row_shift = m->row_pieces & (m->row_pieces - 1) ? 32 : log2_of(m->row_pieces);
    m->bank_shift = m->slice_banks & (m->slice_banks - 1) ? 32 : log2_of(m->slice_banks);
}

/* Returns a / b and stores a % b in `rest`. Uses a shift if possible. */
static uint64_t divide(uint64_t a, uint32_t b, uint32_t shift, uint32_t *rest) {
    if (shift < 32) {
        *rest = (uint32_t)a & (b - 1);
        return a >> shift;
    }
    *rest = (uint32_t)(a % b);
    return a / b;
}

uint64_t memmap_far(const struct memmap *m, uint64_t piece, uint32_t *slice) {
    *slice = (uint32_t)(piece % m->channels) * m->slices + (uint32_t)(piece / m->channels % m->slices);
    return piece / m->channels / m->slices;
}

uint64_t memmap_address(const struct memmap *m, uint32_t slice, uint64_t line) {
    uint64_t rest = line >> m->lines_shift, in_piece = line & ((1u << m->lines_shift) - 1);
    uint64_t piece = (rest * m->slices + slice % m->slices) * m->channels + slice / m->slices;
    return piece << m->piece_shift | in_piece << m->line_shift;
}

struct dram_place memmap_dram(const struct memmap *m, uint32_t slice, uint64_t line) {
    uint32_t piece, bank;
    uint64_t row_of_slice = divide(line >> m->lines_shift, m->row_pieces, m->row_shift, &piece);
    uint64_t row = divide(row_of_slice, m->slice_banks, m->bank_shift, &bank);
    uint32_t of_channel = slice < m->slices ? slice : slice % m->slices;
    return (struct dram_place){.bank = bank * m->slices + of_channel, .row = (uint32_t)row};
}
