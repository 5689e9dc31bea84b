/* Tests the coalescer and the banks of shared memory. Expected counts are derived by hand. */
#include "timing/mem/coalesce.h"
#include "test/test.h"
#include "timing/mem/shared_banks.h"

static const struct coalescer fermi = {.line_bytes = 128, .split_wide = true};
static const struct shared_banks banks32 = {.banks = 32, .width = 4};
static struct coalesced out[COALESCE_MAX];

static void strided(uint64_t *addr, uint64_t base, unsigned stride) {
    for (unsigned l = 0; l < WARP_LANES; l++)
        addr[l] = base + (uint64_t)l * stride;
}

/* 32 lanes access 32 words of 4 bytes, which are 128 bytes: one line if they are aligned. With an offset of 4 bytes,
 * the last lane is in the next line. */
START_TEST(unit_stride_is_one_line) {
    uint64_t a[WARP_LANES];
    strided(a, 0x1000, 4);
    ck_assert_int_eq(coalesce(&fermi, a, LANES_ALL, 4, out), 1);
    ck_assert_uint_eq(out[0].line, 0x1000);
    ck_assert_uint_eq(out[0].bytes, 128);
    ck_assert_uint_eq(out[0].sectors, 0xf);
    ck_assert_uint_eq(out[0].lanes, LANES_ALL);
}
END_TEST

START_TEST(offset_by_a_word_is_two_lines) {
    uint64_t a[WARP_LANES];
    strided(a, 0x1004, 4);
    ck_assert_int_eq(coalesce(&fermi, a, LANES_ALL, 4, out), 2);
    ck_assert_uint_eq(out[0].bytes, 124); /* 31 words */
    ck_assert_uint_eq(out[1].line, 0x1080);
    ck_assert_uint_eq(out[1].bytes, 4);
    ck_assert_uint_eq(out[1].sectors, 1);
    ck_assert_uint_eq(out[1].lanes, 1u << 31);
}
END_TEST

/* A warp of 64 lanes has two rows of 32 lanes. Lanes of both rows share lines and banks:
 * - 64 adjacent words are 2 lines, or 3 lines with an offset of 4 bytes; the second of the 3 has lanes 31 to 62
 * - if all lanes access one word, they share one line, and the banks need one pass
 * - accesses of 8 bytes per lane are split into parts of 16 lanes
 * - with 32 banks, 64 adjacent words take two passes, and 64 words with a stride of 32 words, all in bank 0, take 64
 * - an atomic on one word takes 64 turns */
START_TEST(rows_share_lines_and_banks) {
    uint64_t a[MAX_WARP_LANES], same[MAX_WARP_LANES], apart[MAX_WARP_LANES], wide[MAX_WARP_LANES];
    const lanemask_t all = ~(lanemask_t)0;
    for (unsigned l = 0; l < MAX_WARP_LANES; l++)
        a[l] = 0x1000 + 4 * l, same[l] = 0x1010, apart[l] = 128 * l, wide[l] = 0x1000 + 8 * l;
    ck_assert_int_eq(coalesce(&fermi, a, all, 4, out), 2);
    ck_assert_uint_eq(out[1].line, 0x1080);
    ck_assert_uint_eq(out[1].lanes, (lanemask_t)LANES_ALL << 32);
    ck_assert_uint_eq(out[1].bytes, 128);
    ck_assert_uint_eq(out[1].full, 0xf);
    ck_assert_int_eq(coalesce(&fermi, wide, all, 8, out), 4);
    ck_assert_uint_eq(out[3].lanes, (lanemask_t)0xffff << 48);
    ck_assert_int_eq(coalesce_atomic(&fermi, same, all, 4, out), 1);
    ck_assert_uint_eq(out[0].lanes, all);
    ck_assert_uint_eq(out[0].same, 64);
    ck_assert_uint_eq(shared_cycles(&banks32, a, all, 4), 2);
    ck_assert_uint_eq(shared_cycles(&banks32, same, all, 4), 1);
    ck_assert_uint_eq(shared_cycles(&banks32, apart, all, 4), 64);
    ck_assert_uint_eq(shared_atomic_cycles(&banks32, same, all, 4), 64);
    for (unsigned l = 0; l < MAX_WARP_LANES; l++)
        a[l] += 4;
    ck_assert_int_eq(coalesce(&fermi, a, all, 4, out), 3);
    ck_assert_uint_eq(out[1].lanes, (lanemask_t)LANES_ALL << 31);
    ck_assert_int_eq(coalesce(&fermi, a, (lanemask_t)1 << 63 | 1, 4, out), 2);
    ck_assert_uint_eq(out[1].line, 0x1100);
    ck_assert_uint_eq(out[1].lanes, (lanemask_t)1 << 63);
}
END_TEST

/* With a stride of s words, a warp spans 32 s words, which are s lines, until each lane has its own line. */
START_TEST(strides_make_as_many_lines) {
    static const unsigned expect[][2] = {{2, 2}, {4, 4}, {8, 8}, {16, 16}, {32, 32}, {33, 32}, {64, 32}};
    uint64_t a[WARP_LANES];
    strided(a, 0x4000, 4 * expect[_i][0]);
    ck_assert_int_eq(coalesce(&fermi, a, LANES_ALL, 4, out), (int)expect[_i][1]);
}
END_TEST

/* Half a warp with elements of 8 bytes fills a line of 128 bytes. So does a quarter of a warp with elements of 16
 * bytes. */
START_TEST(wide_elements_go_in_parts) {
    uint64_t a[WARP_LANES];
    strided(a, 0x4000, 8);
    ck_assert_int_eq(coalesce(&fermi, a, LANES_ALL, 8, out), 2);
    ck_assert_uint_eq(out[1].lanes, 0xffff0000u);
    strided(a, 0x4000, 16);
    ck_assert_int_eq(coalesce(&fermi, a, LANES_ALL, 16, out), 4);
    ck_assert_uint_eq(out[3].line, 0x4180);
    ck_assert_uint_eq(out[3].lanes, 0xff000000u);
}
END_TEST

/* All lanes read one address. Elements of 4 bytes need one request. Elements of 8 bytes are coalesced by half warps, so
 * they need two requests; elements of 16 bytes by quarter warps, so they need four. */
START_TEST(uniform_wide_access_asks_once_a_part) {
    uint64_t a[WARP_LANES];
    strided(a, 0x4000, 0);
    ck_assert_int_eq(coalesce(&fermi, a, LANES_ALL, 4, out), 1);
    ck_assert_uint_eq(out[0].bytes, 4);
    ck_assert_int_eq(coalesce(&fermi, a, LANES_ALL, 8, out), 2);
    ck_assert_int_eq(coalesce(&fermi, a, LANES_ALL, 16, out), 4);
}
END_TEST

START_TEST(inactive_lanes_ask_for_nothing) {
    uint64_t a[WARP_LANES];
    strided(a, 0x4000, 128);
    a[5] = 0xdead0000;
    ck_assert_int_eq(coalesce(&fermi, a, 0x1f, 4, out), 5);
    ck_assert_int_eq(coalesce(&fermi, a, 0, 4, out), 0);
}
END_TEST

/* Counts each accessed byte once, even if accesses of several lanes overlap. */
START_TEST(bytes_count_once) {
    uint64_t a[WARP_LANES];
    strided(a, 0x4000, 2); /* half words that are 2 bytes apart: 64 bytes, which are two sectors */
    ck_assert_int_eq(coalesce(&fermi, a, LANES_ALL, 2, out), 1);
    ck_assert_uint_eq(out[0].bytes, 64);
    ck_assert_uint_eq(out[0].sectors, 3);
    ck_assert_int_eq(coalesce(&fermi, a, LANES_ALL, 4, out), 1); /* words that overlap: 31 * 2 + 4 bytes */
    ck_assert_uint_eq(out[0].bytes, 66);
    ck_assert_uint_eq(out[0].sectors, 7);
}
END_TEST

/* The lanes access one line in a permuted order. This is still one request. */
START_TEST(order_of_lanes_does_not_matter) {
    uint64_t a[WARP_LANES];
    for (unsigned l = 0; l < WARP_LANES; l++)
        a[l] = 0x4000 + 4 * ((l * 13 + 7) % 32);
    ck_assert_int_eq(coalesce(&fermi, a, LANES_ALL, 4, out), 1);
    ck_assert_uint_eq(out[0].bytes, 128);
}
END_TEST

START_TEST(lines_of_32_bytes) {
    struct coalescer c = {.line_bytes = 32};
    uint64_t a[WARP_LANES];
    strided(a, 0x4000, 4);
    ck_assert_int_eq(coalesce(&c, a, LANES_ALL, 4, out), 4);
    ck_assert_uint_eq(out[2].line, 0x4040);
    ck_assert_uint_eq(out[2].sectors, 1);
}
END_TEST

/* Tests the number of lanes that access the most contended address. 32 lanes access 4 counters in a line, so 8 lanes
 * access each counter. */
START_TEST(atomics_know_the_most_contended_address) {
    uint64_t a[WARP_LANES];
    for (unsigned l = 0; l < WARP_LANES; l++)
        a[l] = 0x4000 + 4 * (l & 3);
    ck_assert_int_eq(coalesce_atomic(&fermi, a, LANES_ALL, 4, out), 1);
    ck_assert_uint_eq(out[0].same, 8);
    ck_assert_int_eq(coalesce_atomic(&fermi, a, 0x13, 4, out), 1); /* lanes 0 and 4 access one counter */
    ck_assert_uint_eq(out[0].same, 2);
}
END_TEST

/* Local memory is interleaved by word. If all lanes access the same offset, each word of the access is one line. Offset
 * 12 is word 3, which is at 3 * 128 bytes. */
START_TEST(local_words_are_interleaved) {
    uint64_t off[WARP_LANES];
    strided(off, 12, 0);
    ck_assert_int_eq(coalesce_local(&fermi, 0x8000, 128, off, LANES_ALL, 4, out), 1);
    ck_assert_uint_eq(out[0].line, 0x8000 + 3 * 128);
    ck_assert_uint_eq(out[0].bytes, 128);
    ck_assert_int_eq(coalesce_local(&fermi, 0x8000, 128, off, LANES_ALL, 8, out), 2);
    ck_assert_uint_eq(out[1].line, 0x8000 + 4 * 128);
    off[7] = 40; /* one lane has another offset, so it has its own line */
    ck_assert_int_eq(coalesce_local(&fermi, 0x8000, 128, off, LANES_ALL, 4, out), 2);
    ck_assert_uint_eq(out[1].lanes, 1u << 7);
    off[7] = 12; /* all offsets are 12 again; the words of a lane are now 15 KiB apart */
    ck_assert_int_eq(coalesce_local(&fermi, 0x8000, 15 * 1024, off, LANES_ALL, 8, out), 2);
    ck_assert_uint_eq(out[0].line, 0x8000 + 3 * 15 * 1024);
    ck_assert_uint_eq(out[1].line, 0x8000 + 4 * 15 * 1024);
}
END_TEST

/* Sectors that an access covers completely:
 * - 32 words: all four sectors
 * - 31 words, all but the word of lane 9: all sectors except the second
 * - one byte of each word: no sector
 * - 32 bytes from sector 1 on: sector 1 */
START_TEST(full_sectors) {
    uint64_t a[WARP_LANES];
    strided(a, 0x1000, 4);
    coalesce(&fermi, a, LANES_ALL, 4, out);
    ck_assert_uint_eq(out[0].full, 0xf);
    coalesce(&fermi, a, LANES_ALL & ~(1u << 9), 4, out);
    ck_assert_uint_eq(out[0].full, 0xd);
    ck_assert_uint_eq(out[0].sectors, 0xf);
    coalesce(&fermi, a, LANES_ALL, 1, out);
    ck_assert_uint_eq(out[0].full, 0);
    strided(a, 0x1020, 1);
    ck_assert_int_eq(coalesce(&fermi, a, LANES_ALL, 1, out), 1);
    ck_assert_uint_eq(out[0].full, 2);
}
END_TEST

/* Atomics on 4 bytes, in requests of 32 bytes:
 * - lane l accesses word l: four requests of 8 lanes
 * - all lanes access one word: 32 requests
 * - 8 lanes access each of 4 counters: 8 requests of 4 lanes */
START_TEST(atomics_by_lanes) {
    static const struct coalescer sectors = {.line_bytes = 32};
    uint64_t a[WARP_LANES];
    strided(a, 0x4000, 4);
    ck_assert_int_eq(coalesce_atomic_lanes(&sectors, a, LANES_ALL, 4, out), 4);
    ck_assert_uint_eq(out[3].line, 0x4060);
    ck_assert_uint_eq(out[3].lanes, 0xff000000);
    ck_assert_uint_eq(out[3].same, 1);
    strided(a, 0x4000, 0);
    ck_assert_int_eq(coalesce_atomic_lanes(&sectors, a, LANES_ALL, 4, out), 32);
    for (unsigned l = 0; l < WARP_LANES; l++)
        a[l] = 0x4000 + 4 * (l & 3);
    ck_assert_int_eq(coalesce_atomic_lanes(&sectors, a, LANES_ALL, 4, out), 8);
    ck_assert_uint_eq(out[7].lanes, 0xf0000000);
    ck_assert_uint_eq(out[7].bytes, 16);
}
END_TEST

/* A write carries whole segments. Sectors 0 and 1 give a write of 64 bytes, sector 1 alone a write of 32 bytes, and
 * sectors 1 and 2 a write of all 128 bytes. */
START_TEST(writes_carry_segments) {
    static const uint8_t cases[][2] = {{1, 1}, {2, 2}, {3, 3}, {6, 15}, {9, 15}, {12, 12}, {8, 8}, {15, 15}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct coalesced r = {.sectors = cases[i][0], .bytes = 4, .full = 1};
        coalesce_widen(&r);
        ck_assert_uint_eq(r.sectors, cases[i][1]);
        ck_assert_uint_eq(r.bytes, 32 * __builtin_popcount(cases[i][1]));
        ck_assert_uint_eq(r.full, 1);
    }
}
END_TEST

/* With 32 banks, a stride of s words takes s passes if s is a power of two, and 1 pass if s is odd. */
START_TEST(bank_strides) {
    static const unsigned expect[][2] = {{1, 1}, {2, 2}, {3, 1}, {4, 4}, {8, 8}, {16, 16}, {32, 32}, {33, 1}, {0, 1}};
    uint64_t a[WARP_LANES];
    strided(a, 64, 4 * expect[_i][0]);
    ck_assert_uint_eq(shared_cycles(&banks32, a, LANES_ALL, 4), expect[_i][1]);
}
END_TEST

/* Passes for wide elements, with 32 banks:
 * - 8 bytes per lane: 64 words, two passes
 * - 8 bytes per lane, 16 bytes apart: lane l accesses words 4l and 4l + 1, so only 16 banks are used, with four words
 *   each: four passes
 * - 16 bytes per lane: 128 words, four passes; a quarter of the warp takes one pass
 * - one address for all lanes: one pass */
START_TEST(bank_width_of_elements) {
    uint64_t a[WARP_LANES];
    strided(a, 0, 8);
    ck_assert_uint_eq(shared_cycles(&banks32, a, LANES_ALL, 8), 2);
    strided(a, 0, 16);
    ck_assert_uint_eq(shared_cycles(&banks32, a, LANES_ALL, 8), 4);
    ck_assert_uint_eq(shared_cycles(&banks32, a, LANES_ALL, 16), 4);
    ck_assert_uint_eq(shared_cycles(&banks32, a, 0xff, 16), 1);
    strided(a, 32, 0);
    ck_assert_uint_eq(shared_cycles(&banks32, a, LANES_ALL, 16), 1);
}
END_TEST

/* With parts, an access of 16 bytes a lane takes at least a pass for each quarter of the warp:
 * - 16 bytes apart, and lane % 4 * 16 bytes: four (measured: NVIDIA's forum, topic 77228)
 * - lane / 2 * 16, lane % 2 + lane / 4 * 2, one address: lanes of one address are pairs, so two
 * - pairs except lane 5: four; lane 5 inactive: two
 * - 32 bytes apart: lanes 0 and 4 of a quarter are in the same banks, so eight; 8 bytes a lane: halves, four each
 * - lane % 16 * 8, 8 bytes a lane: each half reads 128 bytes, two; both halves of the warp are no pairs
 * - lane / 2 * 8: one
 * - 4 bytes a lane: as without parts */
START_TEST(wide_accesses_have_parts) {
    const struct shared_banks b = {.banks = 32, .width = 4, .parts = true};
    uint64_t apart[WARP_LANES], four[WARP_LANES], twos[WARP_LANES], next[WARP_LANES], one[WARP_LANES], far[WARP_LANES],
        half[WARP_LANES], pairs[WARP_LANES], words[WARP_LANES];
    for (unsigned l = 0; l < WARP_LANES; l++) {
        apart[l] = 16 * l, four[l] = l % 4 * 16, twos[l] = l / 2 * 16, next[l] = (l % 2 + l / 4 * 2) * 16, one[l] = 32;
        far[l] = 32 * l, half[l] = l % 16 * 8, pairs[l] = l / 2 * 8, words[l] = 8 * l;
    }
    ck_assert_uint_eq(shared_cycles(&b, apart, LANES_ALL, 16), 4);
    ck_assert_uint_eq(shared_cycles(&b, four, LANES_ALL, 16), 4);
    ck_assert_uint_eq(shared_cycles(&banks32, four, LANES_ALL, 16), 1);
    ck_assert_uint_eq(shared_cycles(&b, twos, LANES_ALL, 16), 2);
    ck_assert_uint_eq(shared_cycles(&b, next, LANES_ALL, 16), 2);
    ck_assert_uint_eq(shared_cycles(&b, one, LANES_ALL, 16), 2);
    twos[5] = 16 * 31;
    ck_assert_uint_eq(shared_cycles(&b, twos, LANES_ALL, 16), 4);
    ck_assert_uint_eq(shared_cycles(&b, twos, LANES_ALL & ~(1u << 5), 16), 2);
    ck_assert_uint_eq(shared_cycles(&b, far, LANES_ALL, 16), 8);
    ck_assert_uint_eq(shared_cycles(&b, far, LANES_ALL, 8), 8);
    ck_assert_uint_eq(shared_cycles(&b, half, LANES_ALL, 8), 2);
    ck_assert_uint_eq(shared_cycles(&b, pairs, LANES_ALL, 8), 1);
    ck_assert_uint_eq(shared_cycles(&b, apart, 0xff00, 16), 1);
    ck_assert_uint_eq(shared_cycles(&b, words, LANES_ALL, 4), 2);
}
END_TEST

/* Returns the passes for lanes that access `bytes` bytes each, word by word: the most different words of a bank. */
static unsigned passes_by_word(const struct shared_banks *b, const uint64_t *a, rowmask_t lanes, unsigned bytes) {
    unsigned most = 1;
    for (uint32_t bank = 0; bank < b->banks; bank++) {
        bool has[4096] = {false};
        unsigned n = 0;
        for (unsigned l = 0; l < WARP_LANES; l++)
            for (uint64_t w = a[l] / b->width; lanes >> l & 1 && w <= (a[l] + bytes - 1) / b->width; w++) {
                n += w % b->banks == bank && !has[w];
                has[w] |= w % b->banks == bank;
            }
        most = n > most ? n : most;
    }
    return most;
}

/* Random accesses of 4 to 16 bytes, some with equal addresses. Those wider than a bank may be unaligned. */
START_TEST(banks_serve_random_accesses) {
    uint64_t seed = 5;
    for (int i = 0; i < 3000; i++) {
        const unsigned bytes = 4u << test_random_below(&seed, 3);
        const unsigned span = 1u << test_random_below(&seed, 8);
        const rowmask_t lanes = (rowmask_t)test_random(&seed) | 1u << 3;
        struct shared_banks b = {.banks = i % 7 ? 16u << test_random_below(&seed, 3) : 33,
                                 .width = 4u << test_random_below(&seed, 2)};
        const unsigned step = i % 3 || bytes <= b.width ? bytes : b.width;
        uint64_t a[WARP_LANES];
        for (unsigned l = 0; l < WARP_LANES; l++)
            a[l] = lanes >> l & 1 ? test_random_below(&seed, span) * step : 0xdead0001u;
        ck_assert_uint_eq(shared_cycles(&b, a, lanes, bytes), passes_by_word(&b, a, lanes, bytes));
    }
}
END_TEST

/* Accesses to bytes of one word are one access to the bank, so 32 adjacent bytes are 8 bank accesses. Two lanes that
 * access rows 0 and 1 of one bank conflict. A third lane that accesses row 0 shares the access of the first lane. */
START_TEST(bank_broadcasts_within_a_word) {
    uint64_t a[WARP_LANES];
    strided(a, 0, 1);
    ck_assert_uint_eq(shared_cycles(&banks32, a, LANES_ALL, 1), 1);
    a[0] = 0, a[1] = 128, a[2] = 2;
    ck_assert_uint_eq(shared_cycles(&banks32, a, 7, 2), 2);
}
END_TEST

/* If a bank is 8 bytes wide, doubles take one pass. */
START_TEST(bank_of_eight_bytes) {
    struct shared_banks b = {.banks = 32, .width = 8};
    uint64_t a[WARP_LANES];
    strided(a, 0, 8);
    ck_assert_uint_eq(shared_cycles(&b, a, LANES_ALL, 8), 1);
    strided(a, 0, 4);
    ck_assert_uint_eq(shared_cycles(&b, a, LANES_ALL, 4), 1);
}
END_TEST

/* Passes for atomics:
 * - all lanes access one word: 32 passes
 * - 32 words in different banks: 1 pass
 * - two words in one bank: 2 passes */
START_TEST(bank_atomics_take_turns) {
    uint64_t a[WARP_LANES];
    strided(a, 0, 0);
    ck_assert_uint_eq(shared_atomic_cycles(&banks32, a, LANES_ALL, 4), 32);
    strided(a, 0, 4);
    ck_assert_uint_eq(shared_atomic_cycles(&banks32, a, LANES_ALL, 4), 1);
    a[1] = 128;
    ck_assert_uint_eq(shared_atomic_cycles(&banks32, a, LANES_ALL, 4), 2);
}
END_TEST

/* Numbers of banks that are not powers of two:
 * - words 0 to 31 in 5 banks: banks 0 and 1 have 7 words each, so 7 passes
 * - a stride of 32 words: 32 passes with 32 banks; one pass with 33 banks, since neighbouring lanes are then one bank
 *   apart
 * - a stride of 32 words with 48 banks: lanes 0, 3, 6 and so on access one bank, so 11 passes */
START_TEST(any_number_of_banks) {
    uint64_t unit[WARP_LANES], column[WARP_LANES];
    for (unsigned l = 0; l < WARP_LANES; l++) {
        unit[l] = 4 * l;
        column[l] = 128 * l;
    }
    ck_assert_uint_eq(shared_cycles(&(struct shared_banks){5, 4, false}, unit, LANES_ALL, 4), 7);
    ck_assert_uint_eq(shared_cycles(&(struct shared_banks){32, 4, false}, column, LANES_ALL, 4), 32);
    ck_assert_uint_eq(shared_cycles(&(struct shared_banks){33, 4, false}, column, LANES_ALL, 4), 1);
    ck_assert_uint_eq(shared_cycles(&(struct shared_banks){48, 4, false}, column, LANES_ALL, 4), 11);
    ck_assert_uint_eq(shared_cycles(&(struct shared_banks){1, 4, false}, unit, LANES_ALL, 4), 32);
    ck_assert_uint_eq(shared_atomic_cycles(&(struct shared_banks){5, 4, false}, unit, LANES_ALL, 4), 7);
    ck_assert_uint_eq(shared_atomic_cycles(&(struct shared_banks){33, 4, false}, column, LANES_ALL, 4), 1);
}
END_TEST

/* Checks, byte by byte, that request `r` describes exactly the bytes of its line that the lanes in `part` access. */
static void request_is_right(const struct coalesced *r, const uint64_t *a, lanemask_t part, unsigned bytes,
                             unsigned line_bytes) {
    bool touched[LINE_BYTES_MAX] = {false};
    lanemask_t lanes = 0;
    unsigned n = 0, sectors = 0, full = 0;
    for (unsigned l = 0; l < MAX_WARP_LANES; l++)
        for (uint64_t at = a[l]; part >> l & 1 && at < a[l] + bytes; at++)
            if (at / line_bytes == r->line / line_bytes) {
                touched[at % line_bytes] = true;
                lanes |= (lanemask_t)1 << l;
            }
    for (unsigned s = 0; s < line_bytes / SECTOR_BYTES; s++) {
        unsigned in = 0;
        for (unsigned i = 0; i < SECTOR_BYTES; i++)
            in += touched[s * SECTOR_BYTES + i];
        n += in;
        sectors |= (in > 0) << s;
        full |= (in == SECTOR_BYTES) << s;
    }
    ck_assert_uint_eq(r->line % line_bytes, 0);
    ck_assert_uint_eq(r->lanes, lanes);
    ck_assert_uint_eq(r->bytes, n);
    ck_assert_uint_eq(r->sectors, sectors);
    ck_assert_uint_eq(r->full, full);
}

/* Tests random line sizes, access sizes and addresses, aligned or not, of warps of 32 and of 64 lanes:
 * - each request describes exactly the bytes that its lanes access
 * - two requests of the same part of the warp never have the same line
 * - each accessed byte is in a request */
START_TEST(random_addresses) {
    uint64_t seed = 77, a[MAX_WARP_LANES];
    for (int i = 0; i < 12000; i++) {
        unsigned line = 32u << test_random_below(&seed, 4), bytes = 1u << test_random_below(&seed, 7);
        unsigned span = 16u << test_random_below(&seed, 10), kind = test_random_below(&seed, 4);
        bytes = kind == 3 ? 1 + test_random_below(&seed, 64) : bytes;
        const unsigned size = i / 2 % 2 ? MAX_WARP_LANES : WARP_LANES;
        const lanemask_t all = ~(lanemask_t)0 >> (MAX_WARP_LANES - size);
        lanemask_t lanes = (test_random(&seed) | (kind == 2 ? ~0ull : 1ull << (size - 1))) & all;
        for (unsigned l = 0; l < MAX_WARP_LANES; l++) {
            a[l] = 0x7fff0000u + test_random_below(&seed, span);
            a[l] = kind < 2 ? a[l] / bytes * bytes : a[l];
        }
        int n = coalesce(&(struct coalescer){.line_bytes = line, .split_wide = i % 2}, a, lanes, bytes, out);
        unsigned part = i % 2 == 0 || bytes <= 4 ? size : bytes <= 8 ? 16 : bytes <= 16 ? 8 : 4;
        uint64_t wanted = 0, lines = 0;
        for (int k = 0; k < n; k++) {
            unsigned first = lanes_first(out[k].lanes) / part * part;
            lanemask_t mine = part >= 32 ? lanes : lanes & (((lanemask_t)1 << part) - 1) << first;
            request_is_right(&out[k], a, mine, bytes, line);
            lines += lanes_count(out[k].lanes);
            for (int j = 0; j < k; j++)
                ck_assert(out[j].line != out[k].line || !(out[j].lanes & mine));
        }
        for (unsigned l = 0; l < size; l++)
            wanted += lanes >> l & 1 ? (a[l] + bytes - 1) / line - a[l] / line + 1 : 0;
        ck_assert_uint_eq(lines, wanted);
    }
}
END_TEST

/* The shape of the addresses (isa's short description of them) must give the same requests and bank passes as the
 * addresses of all lanes. */
START_TEST(shapes_are_addresses) {
    static struct coalesced each[COALESCE_MAX];
    uint64_t seed = 5, a[WARP_LANES];
    unsigned known = 0;
    for (int i = 0; i < 40000; i++) {
        unsigned bytes = 1u << test_random_below(&seed, 6), line = 32u << test_random_below(&seed, 4);
        unsigned span = 2u << test_random_below(&seed, 9), full = test_random_below(&seed, 3);
        struct halves h = {.shape = (uint8_t)(SHAPE_UNIFORM + i % 2)};
        rowmask_t lanes = full ? LANES_ALL : (rowmask_t)(test_random(&seed) & test_random(&seed)) | 1u << 17;
        lanes &= full == 1 ? (rowmask_t)test_random(&seed) << 8 | 256 : LANES_ALL;
        h.first[0] = 0x10000 + test_random_below(&seed, span) * bytes;
        h.first[1] = i % 3 ? 0x10000 + test_random_below(&seed, span) * bytes : h.first[0] + HALF_LANES * bytes;
        if (!(lanes & 0xffff) || !(lanes >> HALF_LANES))
            h.first[0] = h.first[1];
        for (unsigned l = 0; l < WARP_LANES; l++)
            a[l] = lanes >> l & 1 ? halves_lane(&h, l, bytes) : 0xdead0000u;
        struct coalescer c = {.line_bytes = line, .split_wide = i / 2 % 2};
        int n = coalesce(&c, a, lanes, bytes, each);
        ck_assert_int_eq(coalesce_halves(&c, &h, lanes, bytes, out), n);
        for (int k = 0; k < n; k++) {
            ck_assert_uint_eq(out[k].line, each[k].line);
            ck_assert_uint_eq(out[k].lanes, each[k].lanes);
            ck_assert_uint_eq(out[k].bytes, each[k].bytes);
            ck_assert_uint_eq(out[k].sectors, each[k].sectors);
            ck_assert_uint_eq(out[k].full, each[k].full);
            ck_assert_uint_eq(out[k].same, each[k].same);
        }
        struct shared_banks b = {.banks = 16u << test_random_below(&seed, 3),
                                 .width = 4u << test_random_below(&seed, 2),
                                 .parts = test_random_below(&seed, 2)};
        unsigned cycles = shared_cycles_halves(&b, &h, lanes, bytes);
        ck_assert(!cycles || cycles == shared_cycles(&b, a, lanes, bytes));
        known += cycles != 0;
    }
    ck_assert_uint_gt(known, 5000);
}
END_TEST

/* Passes with 32 banks for two half warps, each of which accesses 16 adjacent words. They are computed only from the
 * first address of each half warp. The result 0 means that they cannot be computed in this way.
 * - the second half warp accesses words from 16 or 48 on: one pass
 * - the second half warp accesses words from 40 on: two passes, since both half warps use banks 8 to 15
 * - only 4 lanes of each half warp are active, or only one half warp: one pass
 * - elements of 8 bytes, or 33 banks: the result is 0
 * - all lanes of a half warp access one word: two passes only if both half warps use the same bank
 * - they access 16 bytes at addresses 0 and 128: two passes, as both use banks 0 to 3; at 0 and 64, or both at 0: one
 * - the same in parts of 16 lanes: one pass for each half warp with active lanes */
START_TEST(rows_at_the_banks) {
    struct halves h = {.first = {0, 64}, .shape = SHAPE_UNIT};
    ck_assert_uint_eq(shared_cycles_halves(&banks32, &h, LANES_ALL, 4), 1);
    h.first[1] = 64 + 128;
    ck_assert_uint_eq(shared_cycles_halves(&banks32, &h, LANES_ALL, 4), 1);
    h.first[1] = 160;
    ck_assert_uint_eq(shared_cycles_halves(&banks32, &h, LANES_ALL, 4), 2);
    ck_assert_uint_eq(shared_cycles_halves(&banks32, &h, 0x000f000f, 4), 1);
    ck_assert_uint_eq(shared_cycles_halves(&banks32, &h, 0xffff0000u, 4), 1);
    ck_assert_uint_eq(shared_cycles_halves(&banks32, &h, LANES_ALL, 8), 0);
    ck_assert_uint_eq(shared_cycles_halves(&(struct shared_banks){33, 4, false}, &h, LANES_ALL, 4), 0);
    h.shape = SHAPE_UNIFORM;
    ck_assert_uint_eq(shared_cycles_halves(&banks32, &h, LANES_ALL, 4), 1);
    h.first[1] = 128;
    ck_assert_uint_eq(shared_cycles_halves(&banks32, &h, LANES_ALL, 4), 2);
    const struct shared_banks parts = {.banks = 32, .width = 4, .parts = true};
    for (unsigned i = 0; i < 3; i++) {
        h.first[1] = 64 * i;
        ck_assert_uint_eq(shared_cycles_halves(&banks32, &h, LANES_ALL, 16), i == 2 ? 2 : 1);
        ck_assert_uint_eq(shared_cycles_halves(&parts, &h, LANES_ALL, 16), 2);
        ck_assert_uint_eq(shared_cycles_halves(&parts, &h, 0x00ff0000u, 16), 1);
    }
}
END_TEST

SUITE(timing_coalesce) {
    TEST(shapes_are_addresses);
    TEST(rows_at_the_banks);
    TEST(random_addresses);
    TEST(any_number_of_banks);
    TEST(unit_stride_is_one_line);
    TEST(offset_by_a_word_is_two_lines);
    TEST(rows_share_lines_and_banks);
    TEST_LOOP(strides_make_as_many_lines, 0, 7);
    TEST(wide_elements_go_in_parts);
    TEST(uniform_wide_access_asks_once_a_part);
    TEST(inactive_lanes_ask_for_nothing);
    TEST(bytes_count_once);
    TEST(order_of_lanes_does_not_matter);
    TEST(lines_of_32_bytes);
    TEST(atomics_know_the_most_contended_address);
    TEST(local_words_are_interleaved);
    TEST(full_sectors);
    TEST(atomics_by_lanes);
    TEST(writes_carry_segments);
    TEST_LOOP(bank_strides, 0, 9);
    TEST(bank_width_of_elements);
    TEST(wide_accesses_have_parts);
    TEST(banks_serve_random_accesses);
    TEST(bank_broadcasts_within_a_word);
    TEST(bank_of_eight_bytes);
    TEST(bank_atomics_take_turns);
}
