/* Tests the mapping of addresses to channels, slices, banks and rows against the divisions that define the mapping.
 * Numbers of channels, slices and banks are powers of two and other numbers. Also tests the agenda of due units
 * against a list. */
#include "timing/mem/memmap.h"
#include "test/test.h"
#include "timing/mem/agenda.h"

START_TEST(addresses_are_divided) {
    static const uint32_t interleave[] = {128, 256, 512, 4096}, channels[] = {1, 2, 3, 6, 8, 12},
                          slices[] = {1, 2, 3, 4}, rows[] = {128, 1024, 2048, 3072}, banks[] = {1, 2, 8, 12, 16},
                          line[] = {32, 64, 128};
    uint64_t rng = 7;
    for (int n = 0; n < 3000; n++) {
        static struct config c;
        const uint32_t piece = interleave[test_random_below(&rng, 4)], ch = channels[test_random_below(&rng, 6)],
                       sl = slices[test_random_below(&rng, 4)], row = rows[test_random_below(&rng, 4)],
                       bk = banks[test_random_below(&rng, 5)], bytes = line[test_random_below(&rng, 3)];
        c.dram.interleave = piece;
        c.dram.channels = ch;
        c.memory.l2_slices = ch * sl;
        c.dram.row_bytes = row;
        c.dram.banks = bk;
        c.l2.line = bytes;
        struct memmap m;
        memmap_init(&m, &c);
        /* small addresses, and addresses whose piece numbers exceed 32 bits */
        for (int k = 0; k < 20; k++) {
            uint64_t address = test_random(&rng) >> (k % 2 ? 8 : 30), number = address / piece;
            struct mem_place p = memmap_place(&m, address);
            ck_assert_uint_eq(p.slice, number % ch * sl + number / ch % sl);
            ck_assert_uint_eq(p.line, number / ch / sl * (piece / bytes) + address % piece / bytes);
            ck_assert_uint_eq(p.offset, address % bytes);
            ck_assert_uint_eq(memmap_address(&m, p.slice, p.line), address - address % bytes);
            /* number of the piece within its slice, number of pieces per row, and number of banks per slice; the
             * last two are at least one */
            uint64_t of_slice = number / ch / sl, in_row = row > piece ? row / piece : 1, own = bk > sl ? bk / sl : 1;
            struct dram_place d = memmap_dram(&m, p.slice, p.line);
            ck_assert_uint_eq(d.bank, of_slice / in_row % own * sl + p.slice % sl);
            ck_assert_uint_eq(d.row, (uint32_t)(of_slice / in_row / own));
        }
    }
}
END_TEST

/* With l2.slices_first, 12 channels with two slices each are 24 slices in turn. So piece 25 of 128 bytes is the second
 * piece of slice 1. */
START_TEST(slices_of_a_channel_come_first) {
    static struct config c;
    config_default(&c);
    c.dram.interleave = 128;
    c.dram.channels = 12;
    c.memory.l2_slices = 24;
    c.memory.slices_first = true;
    struct memmap m;
    memmap_init(&m, &c);
    for (uint32_t piece = 0; piece < 48; piece++) {
        const struct mem_place p = memmap_place(&m, piece * 128 + 4);
        ck_assert_uint_eq(p.slice, piece % 24);
        ck_assert_uint_eq(p.line, piece / 24);
        ck_assert_uint_eq(memmap_address(&m, p.slice, p.line), piece * 128);
    }
}
END_TEST

/* Returns the remainder of polynomial `a` divided by polynomial `p`, by long division. */
static uint64_t remainder_by_division(uint64_t a, uint64_t p) {
    int degree = 63 - __builtin_clzll(p);
    for (int i = 63; i >= degree; i--)
        if (a >> i & 1)
            a ^= p << (i - degree);
    return a;
}

static void hashed_map(struct memmap *m, uint32_t channels, uint32_t slices) {
    static struct config c;
    config_default(&c);
    c.memory.l2_hash = L2_HASH_IPOLY;
    c.dram.channels = channels;
    c.memory.l2_slices = channels * slices;
    memmap_init(m, &c);
}

/* With l2.hash=ipoly, the lowest k bits of the number of the slice are the remainder of the piece's number divided by
 * an irreducible polynomial of degree k: x + 1, x^2 + x + 1, x^3 + x + 1, x^4 + x + 1, x^5 + x^2 + 1, x^6 + x + 1,
 * x^7 + x + 1, and x^8 + x^4 + x^3 + x + 1. The other bits and the line are as without the hash. Only one address has a
 * given place. */
START_TEST(ipoly_is_a_remainder) {
    static const struct {
        uint32_t channels, slices, k, polynomial;
    } row[] = {{1, 1, 0, 1},   {2, 1, 1, 3},    {4, 1, 2, 7},     {4, 2, 3, 11},  {8, 2, 4, 19}, {32, 1, 5, 37},
               {64, 1, 6, 67}, {64, 2, 7, 131}, {256, 1, 8, 283}, {48, 1, 4, 19}, {6, 2, 2, 7},  {80, 2, 5, 37}};
    const uint32_t all = row[_i].channels * row[_i].slices, mask = (1u << row[_i].k) - 1;
    struct memmap m;
    uint64_t rng = 5;
    hashed_map(&m, row[_i].channels, row[_i].slices);
    for (int n = 0; n < 1000; n++) {
        const uint64_t address = test_random(&rng) >> (n % 2 ? 8 : 34), piece = address / 256;
        const struct mem_place p = memmap_place(&m, address);
        const uint32_t number = p.slice % row[_i].slices * row[_i].channels + p.slice / row[_i].slices;
        ck_assert_uint_eq(number & mask, row[_i].k ? remainder_by_division(piece, row[_i].polynomial) : 0);
        ck_assert_uint_eq(number & ~mask, piece % all & ~mask);
        ck_assert_uint_eq(p.line, piece / all * 2 + address / 128 % 2);
        ck_assert_uint_eq(memmap_address(&m, p.slice, p.line), address / 128 * 128);
    }
}
END_TEST

/* 64 accesses with a stride of 2^s pieces go to 64 different slices with the hash. Without the hash, a stride of 64
 * pieces goes to a single slice. */
START_TEST(ipoly_spreads_strides) {
    struct memmap m;
    uint64_t seen = 0;
    hashed_map(&m, 64, 1);
    for (uint64_t i = 0; i < 64; i++)
        seen |= 1ull << memmap_place(&m, i * 256 << _i).slice;
    ck_assert_uint_eq(seen, UINT64_MAX);
}
END_TEST

/* Units become due at random cycles. Each unit is called in its cycle, units of one cycle are called in order, and no
 * unit is lost. An agenda holds a ring of cycles. A unit whose cycle is beyond the ring is called in the last cycle of
 * the ring, and registers again. */
START_TEST(due_units_are_called) {
    static const uint32_t some[] = {7, 64, 65, 129, AGENDA_UNITS};
    static uint64_t due[AGENDA_UNITS]; /* UINT64_MAX: none */
    const int units = (int)some[_i];
    uint64_t rng = 3;
    static struct agenda a;
    agenda_init(&a, some[_i], 0);
    for (int u = 0; u < units; u++)
        due[u] = UINT64_MAX;
    ck_assert(agenda_next(&a) == UINT64_MAX);
    for (int n = 0; n < 20000; n++) {
        uint32_t unit = test_random_below(&rng, some[_i]);
        uint64_t at = a.now + 1 + test_random_below(&rng, n % 3 ? 20 : AGENDA_CYCLES - 2), first = UINT64_MAX;
        if (n % 100 < 20 && due[unit] == UINT64_MAX)
            agenda_add(&a, unit, due[unit] = at);
        for (int u = 0; u < units; u++)
            first = due[u] < first ? due[u] : first;
        ck_assert_uint_eq(agenda_next(&a), first);
        if (n % 100 < 20 || first == UINT64_MAX)
            continue;
        agenda_begin(&a, first);
        for (int u = 0; u < units; u++)
            if (due[u] == first) {
                ck_assert_int_eq(agenda_take(&a), u);
                due[u] = UINT64_MAX;
            }
        ck_assert_int_eq(agenda_take(&a), -1);
    }
    /* An agenda begins at each cycle `from` of two turns of its ring, and gets one unit, which is due d cycles
     * later. agenda_next() must return the cycle from + d, for all d up to the end of the ring. */
    for (uint64_t from = 0; from < 2 * AGENDA_CYCLES; from++)
        for (uint64_t d = 0; d < AGENDA_CYCLES; d += d < 130 ? 1 : 61) {
            agenda_init(&a, some[_i], from);
            agenda_add(&a, 5, from + d);
            ck_assert_uint_eq(agenda_next(&a), from + d);
        }
    agenda_init(&a, some[_i], 10);
    agenda_add(&a, 5, 10 + 2 * AGENDA_CYCLES);
    ck_assert_uint_eq(agenda_next(&a), 10 + AGENDA_CYCLES - 1);
}
END_TEST

SUITE(timing_memmap) {
    TEST(slices_of_a_channel_come_first);
    TEST(addresses_are_divided);
    TEST_LOOP(ipoly_is_a_remainder, 0, 12);
    TEST_LOOP(ipoly_spreads_strides, 0, 20);
    TEST_LOOP(due_units_are_called, 0, 5);
}
