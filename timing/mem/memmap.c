#include "memmap.h"
#include "isa/arith.h"
#include <string.h>

/* Irreducible polynomials of degree 0 to 8; bit i is the coefficient of x^i. From degree 4 to 6, GPGPU-Sim 4 hashes the
 * channels of its Volta with the same ones (src/gpgpu-sim/hashing.cc). */
static const uint16_t polynomial[] = {1, 3, 7, 11, 19, 37, 67, 131, 283};

/* Fills the table m->remainder for polynomials of degree m->hash_bits. */
static void init_hash(struct memmap *m) {
    const uint32_t top = 1u << m->hash_bits, p = polynomial[m->hash_bits];
    uint32_t power = 1; /* x^k modulo p, beginning with k = hash_bits */
    for (uint32_t i = 0; i < m->hash_bits; i++)
        power = power << 1 & top ? power << 1 ^ p : power << 1;
    for (uint32_t byte = 0; byte < MEMMAP_BYTES; byte++)
        for (uint32_t bit = 0; bit < 8; bit++) {
            for (uint32_t v = 0; v < 256; v++)
                m->remainder[byte][v] ^= (uint8_t)(v >> bit & 1 ? power : 0);
            power = power << 1 & top ? power << 1 ^ p : power << 1;
        }
}

/* Returns the remainder of the piece whose number without its lowest hash_bits bits is `high`, if those bits are 0. */
static uint32_t remainder_of(const struct memmap *m, uint64_t high) {
    uint32_t r = 0;
    for (int i = 0; high; high >>= 8)
        r ^= m->remainder[i++][high & 255];
    return r;
}

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
    m->slices_first = c->memory.slices_first;
    m->hash_bits = 0;
    memset(m->remainder, 0, sizeof m->remainder);
    if (c->memory.l2_hash != L2_HASH_IPOLY)
        return;
    m->hash_bits = (uint32_t)__builtin_ctz(m->channels * m->slices);
    if (m->hash_bits > sizeof polynomial / sizeof polynomial[0] - 1)
        m->hash_bits = sizeof polynomial / sizeof polynomial[0] - 1;
    init_hash(m);
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

uint64_t memmap_other(const struct memmap *m, uint64_t piece, uint32_t *slice) {
    const uint32_t all = m->channels * m->slices, number = (uint32_t)(piece % all);
    const uint32_t hashed = m->hash_bits ? number ^ remainder_of(m, piece >> m->hash_bits) : number;
    *slice = m->slices_first ? hashed : hashed % m->channels * m->slices + hashed / m->channels;
    return piece / all;
}

uint64_t memmap_address(const struct memmap *m, uint32_t slice, uint64_t line) {
    uint64_t rest = line >> m->lines_shift, in_piece = line & ((1u << m->lines_shift) - 1);
    uint64_t piece = m->slices_first ? rest * m->slices * m->channels + slice
                                     : (rest * m->slices + slice % m->slices) * m->channels + slice / m->slices;
    if (m->hash_bits)
        piece ^= remainder_of(m, piece >> m->hash_bits);
    return piece << m->piece_shift | in_piece << m->line_shift;
}

struct dram_place memmap_dram(const struct memmap *m, uint32_t slice, uint64_t line) {
    uint32_t piece, bank;
    uint64_t row_of_slice = divide(line >> m->lines_shift, m->row_pieces, m->row_shift, &piece);
    uint64_t row = divide(row_of_slice, m->slice_banks, m->bank_shift, &bank);
    uint32_t of_channel = slice < m->slices ? slice : slice % m->slices;
    return (struct dram_place){.bank = bank * m->slices + of_channel, .row = (uint32_t)row};
}
