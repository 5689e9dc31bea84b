/* Tests compact forms of registers: base + lane * offset. A compact form is detected if the values of the active lanes
 * are linear in the lane number. A compact form of narrow values is extended to 64 bits only if no lane wraps. The
 * expected results are computed for each lane. */
#include "mechanisms/cae/cae_tags.h"
#include "test/random.h"
#include "test/test.h"

/* Registers of 1, 2, 4 and 8 bytes per lane, and a predicate. Their numbers are 0 to 4, and each is written by one
 * instruction. */
enum { PRED, BYTE, HALF, WORD, LONG, REGS, AT_PRED = 512, AT_BYTE = 576, AT_HALF = 608, AT_WORD = 704, AT_LONG = 832 };
static const uint32_t at[REGS] = {AT_PRED, AT_BYTE, AT_HALF, AT_WORD, AT_LONG};
static const unsigned bytes_of[REGS] = {0, 1, 2, 4, 8};

static struct inst code[REGS];
static struct inst_info info[REGS];
static uint16_t numbers[REGS];
static uint8_t words[REGS] = {0, 1, 1, 1, 2};
static _Alignas(64) unsigned char bank[2048];
static struct program p;
static struct warp w;
static struct cae_map map;

static void setup(void) {
    static const uint32_t area[N_REG_AREAS + 1] = {512, 576, 608, 704, 832, 1088, 1088};
    for (int r = 0; r < REGS; r++) {
        code[r] = (struct inst){.d = at[r] << 1};
        info[r] = (struct inst_info){.regs = (uint32_t)r, .n_writes = 1};
        numbers[r] = (uint16_t)r;
    }
    p = (struct program){.code = code,
                         .info = info,
                         .n = REGS,
                         .regs = numbers,
                         .n_regs = REGS,
                         .reg_words = words,
                         .reg_bytes = sizeof bank};
    memcpy(p.reg_area, area, sizeof area);
    w = (struct warp){.bank = {bank}, .program = &p, .live = LANES_ALL, .launched = LANES_ALL};
    ck_assert(cae_map_init(&map, &p));
}
static void teardown(void) { cae_map_free(&map); }

static uint64_t low(uint64_t v, unsigned bytes) { return bytes < 8 ? v & ((1ull << 8 * bytes) - 1) : v; }
static void put(int r, uint32_t lane, uint64_t v) { memcpy(bank + at[r] + lane * bytes_of[r], &v, bytes_of[r]); }

START_TEST(registers_are_numbered) {
    for (int r = 0; r < REGS; r++) {
        ck_assert_uint_eq(map.reg[r].at, at[r]);
        ck_assert_uint_eq(map.reg[r].bytes, bytes_of[r]);
        ck_assert_uint_eq(cae_number(&map, at[r] << 1), (uint32_t)r);
    }
    ck_assert_uint_eq(cae_number(&map, OPND_ZERO), CAE_CONSTANT);
    ck_assert_uint_eq(cae_number(&map, OPND_SINK), CAE_NO_TAG);
    ck_assert_uint_eq(cae_number(&map, (AT_LONG + 512) << 1), CAE_NO_TAG);
}
END_TEST

/* The special registers that the kernel uses get numbers after all other registers, in their own order. A register
 * without a number, or with more than 8 bytes per lane, has no compact form. */
START_TEST(specials_are_numbered) {
    static struct special_init specials[3] = {{.offset = 1088}, {.offset = 1216}, {.offset = 1344}};
    cae_map_free(&map);
    p.specials = specials;
    p.n_specials = 2;
    ck_assert(cae_map_init(&map, &p));
    ck_assert_uint_eq(cae_number(&map, 1088 << 1), REGS);
    ck_assert_uint_eq(cae_number(&map, 1216 << 1), REGS + 1);
    ck_assert_uint_eq(cae_number(&map, 1344 << 1), CAE_NO_TAG);
    memset(bank, 0, sizeof bank);
    ck_assert_int_eq(cae_tag_of(&map, LONG, &w, LANES_ALL).class, CLASS_SCALAR);
    map.reg[LONG].bytes = 16;
    ck_assert_int_eq(cae_tag_of(&map, LONG, &w, LANES_ALL).class, CLASS_VECTOR);
    map.reg[LONG].bytes = 8;
    map.reg[LONG].at = 0;
    ck_assert_int_eq(cae_tag_of(&map, LONG, &w, LANES_ALL).class, CLASS_VECTOR);
}
END_TEST

/* If a function of the program is recursive, a return restores registers. */
START_TEST(recursive_functions) {
    static struct program_function functions[3];
    p.functions = functions;
    p.n_functions = 3;
    for (int i = -1; i < 3; i++) {
        memset(functions, 0, sizeof functions);
        if (i >= 0)
            functions[i].recursive = true;
        cae_map_free(&map);
        ck_assert(cae_map_init(&map, &p));
        ck_assert_int_eq(map.restores, i >= 0);
    }
}
END_TEST

/* A store of two elements uses the numbers that the writers of its registers have assigned; it assigns none itself. An
 * instruction that writes two registers (d and d2), or a list of registers, numbers them in this order. OPND_SINK has
 * no number. */
START_TEST(writers_number_registers) {
    static opnd_t list[4] = {0};
    cae_map_free(&map);
    list[0] = at[LONG] << 1;
    list[1] = at[WORD] << 1;
    list[2] = OPND_SINK; /* the list of a vector load whose first element is discarded */
    list[3] = at[HALF] << 1;
    p.lists = list;
    /* instruction PRED reads both registers; later instructions write them and assign their numbers */
    code[PRED].n_list = 2;
    code[PRED].list = 0;
    info[BYTE].n_writes = 2;
    code[BYTE].d2 = at[PRED] << 1;
    numbers[2] = PRED; /* d2, after d */
    info[HALF] = (struct inst_info){.regs = 3, .n_writes = 1};
    numbers[3] = HALF;
    code[HALF] = (struct inst){.n_list = 2, .list = 2};
    info[WORD].regs = 4, info[LONG].regs = 5;
    static uint16_t more[6];
    memcpy(more, numbers, sizeof numbers);
    more[3] = HALF, more[4] = WORD, more[5] = LONG;
    p.regs = more;
    ck_assert(cae_map_init(&map, &p));
    for (int r = 0; r < REGS; r++) {
        ck_assert_uint_eq(map.reg[r].at, at[r]);
        ck_assert_uint_eq(cae_number(&map, at[r] << 1), (uint32_t)r);
    }
    code[PRED].n_list = code[BYTE].d2 = 0;
}
END_TEST

/* Linear values with any base, offset and mask must be detected, whatever the other lanes contain, and the compact form
 * must give these values. If then the value of the last active lane changes, the form must no longer fit. If all lanes
 * are active, the register with the changed value must be a vector. */
START_TEST(progressions_are_found) {
    uint64_t rng = 11 + (uint64_t)_i;
    for (int n = 0; n < 20000; n++) {
        int r = BYTE + _i;
        uint64_t base = test_random(&rng), offset = n % 3 ? test_random(&rng) : test_random(&rng) % 9;
        rowmask_t lanes = (rowmask_t)test_random(&rng) & (rowmask_t)(n % 2 ? test_random(&rng) : ~0ull);
        lanes = n % 7 ? lanes : 0x11111111u << n % 4; /* every fourth lane */
        if (!lanes)
            continue;
        for (uint32_t l = 0; l < WARP_LANES; l++)
            put(r, l, lanes >> l & 1 ? base + l * offset : test_random(&rng));
        w.live = lanes;
        struct cae_tag t = cae_tag_of(&map, (uint16_t)r, &w, lanes);
        bool same = true;
        for (uint32_t l = 0; l < WARP_LANES; l++)
            if (lanes >> l & 1) {
                EXPECT(low(t.base + l * t.offset, bytes_of[r]) == low(base + l * offset, bytes_of[r]),
                       "case %d, lane %u", n, l);
                same &= low(base + l * offset, bytes_of[r]) ==
                        low(base + (uint64_t)__builtin_ctz(lanes) * offset, bytes_of[r]);
            }
        EXPECT(t.class == (same ? CLASS_SCALAR : CLASS_AFFINE), "case %d: class %d", n, (int)t.class);
        EXPECT(cae_tag_fits(&map, (uint16_t)r, &t, &w), "case %d: the tag does not fit", n);
        uint32_t odd = 31u - (uint32_t)__builtin_clz(lanes);
        put(r, odd, base + odd * offset + 1);
        EXPECT(!cae_tag_fits(&map, (uint16_t)r, &t, &w), "case %d: lane %u deviates, but the tag fits", n, odd);
        if (lanes == LANES_ALL) /* the other 31 lanes determine the compact form */
            EXPECT(cae_tag_of(&map, (uint16_t)r, &w, lanes).class == CLASS_VECTOR, "case %d is not a vector", n);
    }
}
END_TEST

START_TEST(predicates_are_all_or_nothing) {
    static const struct {
        rowmask_t set, live;
        int class;
        unsigned value;
    } rows[] = {{0, LANES_ALL, CLASS_SCALAR, 0}, {LANES_ALL, LANES_ALL, CLASS_SCALAR, 1},
                {1, LANES_ALL, CLASS_VECTOR, 0}, {0xff0fu, 0xf, CLASS_SCALAR, 1},
                {0xf0u, 0xf, CLASS_SCALAR, 0},   {0x7u, 0xf, CLASS_VECTOR, 0}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        memcpy(bank + AT_PRED, &rows[i].set, 4);
        w.live = rows[i].live;
        struct cae_tag t = cae_tag_of(&map, PRED, &w, rows[i].live);
        ck_assert_int_eq(t.class, rows[i].class);
        ck_assert(t.class == CLASS_VECTOR || t.base == rows[i].value);
        ck_assert(cae_tag_fits(&map, PRED, &t, &w));
        rowmask_t other = ~rows[i].set;
        memcpy(bank + AT_PRED, &other, 4);
        ck_assert_int_eq(cae_tag_fits(&map, PRED, &t, &w), t.class == CLASS_VECTOR);
    }
}
END_TEST

static int64_t extended(uint64_t v, unsigned bytes, bool is_signed) {
    unsigned shift = 64 - 8 * bytes;
    return is_signed ? (int64_t)(v << shift) >> shift : (int64_t)(v << shift >> shift);
}

/* Tests all small cases of bytes, and random cases of words. If widening succeeds, the widened form must be correct for
 * each live lane. If widening fails, the form would be wrong for some lane between the first and the last live lane. */
START_TEST(widening_keeps_every_lane) {
    uint64_t rng = 5;
    uint32_t yes = 0, no = 0;
    for (uint32_t n = 0; n < 200000; n++) {
        unsigned bytes = n % 2 ? 1 : 4;
        bool is_signed = n / 2 % 2;
        rowmask_t lanes = n % 5 ? LANES_ALL : 0xffffu << n % 17;
        int64_t offset =
            bytes == 1 ? (int64_t)(test_random(&rng) % 17) - 8 : (int32_t)test_random(&rng) >> test_random(&rng) % 32;
        uint64_t base =
            low(n % 3 ? test_random(&rng) : (uint64_t)(128 + (int64_t)(n % 64) - 32) << 8 * (bytes - 1), bytes);
        struct cae_tag t = {base, low((uint64_t)offset, bytes), offset ? CLASS_AFFINE : CLASS_SCALAR}, wide = t;
        bool kept = cae_tag_widen(&wide, bytes, is_signed, lanes), all = true;
        uint32_t first = (uint32_t)__builtin_ctz(lanes), last = 31u - (uint32_t)__builtin_clz(lanes);
        const int64_t from = extended(t.base + first * t.offset, bytes, is_signed);
        for (uint32_t l = first; l <= last; l++)
            all &= extended(t.base + l * t.offset, bytes, is_signed) == from + (int64_t)(l - first) * offset;
        for (uint32_t l = first; kept && l <= last; l++)
            EXPECT(from + (int64_t)(l - first) * offset == (int64_t)(wide.base + l * wide.offset), "case %u, lane %u",
                   n, l);
        EXPECT(kept == all, "case %u: %d, not %d", n, kept, all);
        yes += kept, no += !kept;
    }
    ck_assert_uint_gt(yes, 20000);
    ck_assert_uint_gt(no, 20000);
}
END_TEST

/* A register of 8 bytes cannot be widened further, so its form stays. A vector, or a register without live lanes, has
 * no compact form. */
START_TEST(registers_that_do_not_widen) {
    struct cae_tag t = {.base = UINT64_MAX, .offset = 3, .class = CLASS_AFFINE};
    ck_assert(cae_tag_widen(&t, 8, true, LANES_ALL));
    ck_assert(t.base == UINT64_MAX && t.offset == 3 && t.class == CLASS_AFFINE);
    ck_assert(!cae_tag_widen(&t, 4, true, 0));
    t.class = CLASS_VECTOR;
    ck_assert(!cae_tag_widen(&t, 4, false, LANES_ALL));
    ck_assert(!cae_tag_widen(&t, 8, false, LANES_ALL));
    t.class = CLASS_SCALAR;
    ck_assert(!cae_tag_widen(&t, 16, false, LANES_ALL));
}
END_TEST

SUITE(mechanisms_dac_tags) {
    tcase_add_checked_fixture(tc, setup, teardown);
    TEST(registers_are_numbered);
    TEST(writers_number_registers);
    TEST(specials_are_numbered);
    TEST(recursive_functions);
    TEST_LOOP(progressions_are_found, 0, 4);
    TEST(predicates_are_all_or_nothing);
    TEST(widening_keeps_every_lane);
    TEST(registers_that_do_not_widen);
}
