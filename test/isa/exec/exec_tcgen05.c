/* Tests products and copies of tcgen05 against loops in C. The reference finds elements of matrices in shared memory by
 * the canonical layouts, as in exec_wgmma.c beside it. */
#include "isa/decode.h"
#include "test/every_model.h"
#include "test/isa/exec/float_ref.h"
#include "test/isa/exec/tcgen05_kernel.h"
#include <math.h>

enum { SUMS = 64, MOST_K = 32 };

struct place {
    int base, leading, stride, row, bits, unit; /* unit: bytes that the swizzle moves together */
    bool across;
};

/* Returns the bit of the image where element (line, k) begins. */
static long place_of(const struct place *p, int line, int k) {
    const int t = 128 / p->bits, chunks = p->row / 16, units = p->unit / 16, lines = p->unit == 32 ? 4 : 8;
    long chunk;
    int within;
    if (p->across) {
        const int x = line / t;
        within = line % t;
        chunk = chunks == 1 ? (long)x * (p->stride / 16) + k % 8 + (long)(k / 8) * (p->leading / 16)
                            : x % chunks + (long)(x / chunks) * (p->leading / 16) + k % lines * chunks +
                                  (long)(k / lines) * (p->stride / 16);
    } else {
        const int x = k / t;
        within = k % t;
        chunk = chunks == 1 ? line % 8 + (long)(line / 8) * (p->stride / 16) + (long)x * (p->leading / 16)
                            : x + line % 8 * chunks + (long)(line / 8) * (p->stride / 16);
    }
    const long at = p->base / 16 + chunk, row = at / 8 % 8, low = at % chunks;
    const long exchanged = chunks == 1 ? low : (low / units ^ (row & (chunks / units - 1))) * units + low % units;
    return (at - low + exchanged) * 128 + (long)within * p->bits;
}

static uint64_t descriptor(const struct place *p) {
    const uint64_t mode = p->row == 128 ? (p->unit == 32 ? 1 : 2) : p->row == 64 ? 4 : p->row == 32 ? 6 : 0;
    return (uint64_t)(p->base + 1024) >> 4 | (uint64_t)p->leading >> 4 << 16 | (uint64_t)p->stride >> 4 << 32 |
           1ull << 46 | mode << 61;
}

static struct place layout(int base, int lines, int k, int bits, bool across, int row, int unit) {
    const int t = 128 / bits;
    struct place p = {base, 16, 16, row, bits, row == 128 ? unit : 16, across};
    if (across && row == 16) {
        p.stride = 128;
        p.leading = 128 * (lines / t);
    } else if (across) {
        const int rows = p.unit == 32 ? 4 : 8; /* rows along k that the swizzle permutes */
        p.stride = rows * row;
        p.leading = p.stride * (k / rows);
    } else if (row == 16) {
        p.leading = 128;
        p.stride = 128 * (k / t);
    } else {
        p.stride = 8 * row;
    }
    return p;
}

static const struct kind {
    const char *name;
    int a, b, d;                /* enum type; 100 to 102: e2m3, e3m2, e2m1 */
    int code_a, code_b, code_d; /* in the instruction descriptor */
    int k, bits;                /* bits of an element; numbers of 4 and 6 bits are 16 in 16 bytes */
} kinds[] = {
    {"f16", T_F16, T_F16, T_F32, 0, 0, 1, 16, 16},     {"f16", T_F16, T_F16, T_F16, 0, 0, 0, 16, 16},
    {"f16", T_BF16, T_BF16, T_F32, 1, 1, 1, 16, 16},   {"tf32", T_TF32, T_TF32, T_F32, 2, 2, 1, 8, 32},
    {"f8f6f4", T_E4M3, T_E5M2, T_F32, 0, 1, 1, 32, 8}, {"f8f6f4", 100, T_E4M3, T_F32, 3, 0, 1, 32, 8},
    {"f8f6f4", 101, 102, T_F32, 4, 5, 1, 32, 8},       {"i8", T_S8, T_U8, T_S32, 1, 0, 2, 32, 8},
};
enum { KINDS = sizeof kinds / sizeof kinds[0] };

static int small_bits(int t) { return t == 102 ? 4 : 6; }

/* Returns the value of e2m3 (bias 1), e3m2 (bias 3) or e2m1 (bias 1), which have neither infinity nor NaN. */
static double small_number(int t, unsigned v) {
    const int mantissa = t == 100   ? 3
                         : t == 101 ? 2
                                    : 1,
              bias = t == 101 ? 3 : 1, sign = (int)(v >> (small_bits(t) - 1));
    const int exponent = (int)(v >> mantissa & (t == 101 ? 7u : 3u)), m = (int)(v & ((1u << mantissa) - 1));
    const double x = exponent ? ldexp((1 << mantissa) + m, exponent - bias - mantissa) : ldexp(m, 1 - bias - mantissa);
    return sign ? -x : x;
}

static double number(int t, uint64_t v) {
    if (t >= 100)
        return small_number(t, (unsigned)v);
    if (t == T_S8 || t == T_S32)
        return t == T_S8 ? (int8_t)v : (int32_t)v;
    if (t == T_U8)
        return (double)v;
    if (t == T_E4M3)
        return (v & 128 ? -1 : 1) *
               (v >> 3 & 15 ? ldexp(8 + (double)(v & 7), (int)(v >> 3 & 15) - 10) : ldexp((double)(v & 7), -9));
    if (t == T_E5M2)
        return float_decode(T_F16, v << 8);
    return t == T_TF32 ? float_decode(T_F32, v & 0xffffe000) : float_decode((enum type)t, v);
}

/* Returns random bits of a number of moderate size. */
static uint64_t any_bits(uint64_t *g, int t) {
    const uint64_t r = test_random(g);
    switch (t) {
    case T_F16:
    case T_BF16:
        return float_encode((enum type)t, ((int)(r % 4001) - 2000) / 512.0);
    case T_F32:
    case T_TF32:
        return float_encode(T_F32, ((int)(r % 4000001) - 2000000) / 65536.0);
    case T_E4M3:
        return (r & 127) == 127 ? 0 : r & 255;
    case T_E5M2:
        return (r & 0x7c) == 0x7c ? 0 : r & 255;
    case T_S32:
        return r & 0xffffffff;
    default:
        return t >= 100 ? r & ((1u << small_bits(t)) - 1) : r & 255;
    }
}

static void put(unsigned char *image, const struct place *p, int t, int line, int k, uint64_t v) {
    long at = place_of(p, line, k);
    if (t >= 100) { /* 16 numbers are adjacent in the chunk */
        at = at / 128 * 128 + at % 128 / 8 * small_bits(t);
        for (int i = 0; i < small_bits(t); i++)
            image[(at + i) / 8] = (unsigned char)(image[(at + i) / 8] | (v >> i & 1) << (at + i) % 8);
        return;
    }
    ck_assert_int_le(at + p->bits, 8L * IMAGE);
    memcpy(image + at / 8, &v, (size_t)p->bits / 8);
}

struct job {
    const struct kind *kind;
    int m, n, scale;
    bool across[2], negate[2], in_tensor, masks, adds, upper;
    int row[2], unit;
    double a[128][MOST_K], b[SUMS][MOST_K];
};

/* Returns the lane of tensor memory with row `row` of a product. */
static int lane_of(const struct job *j, int row) {
    return j->m == 128 ? row : row / 16 * 32 + row % 16 + (j->upper ? 16 : 0);
}

/* Columns 0 to n of tensor memory are d, and a in tensor memory begins at column 48. */
enum { A_COLUMN = 48 };

static void product_text(const struct job *j, struct text *t) {
    tcgen05_begin(t);
    /* every thread waits for the product that thread 0 has committed */
    add(t,
        "setp.ne.u32 %%p, %%t0, %d; mov.u32 %%r70, 0x0000ff00; mov.u32 %%r71, 0xffff0001; mov.u32 %%r72, 0; mov.u32 "
        "%%r73, 0x80000000; ld.shared.u32 %%t7, [s]; add.u32 %%t8, %%t7, %d; @!%%one bra W;\n"
        "tcgen05.mma.cta_group::1.kind::%s [%%t7%s], ",
        j->adds ? THREADS : 0, A_COLUMN + (j->upper ? 16 << 16 : 0), j->kind->name, j->upper ? "+1048576" : "");
    add(t, j->in_tensor ? "[%%t8]" : "%%d2");
    add(t, ", %%d3, %%t6%s, %%p", j->masks ? ", {%r70, %r71, %r72, %r73}" : "");
    if (j->scale)
        add(t, ", %d", j->scale);
    add(t, ";\ntcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [s+8];\n"
           "W: mbarrier.try_wait.parity.shared.b64 %%q, [s+8], 0; @!%%q bra W; tcgen05.fence::after_thread_sync;\n"
           "bar.sync 0;\ntcgen05.ld.sync.aligned.32x32b.x64.b32 ");
    tcgen05_list(t, COLUMNS);
    add(t, ", [%%t5];\n");
    tcgen05_end(t, COLUMNS);
}

static void compare(const struct job *j, uint32_t before[LANES][COLUMNS], uint32_t after[LANES][COLUMNS],
                    const char *text) {
    static const uint32_t masks[] = {0x0000ff00, 0xffff0001, 0, 0x80000000};
    bool is_row[LANES] = {false};
    for (int row = 0; row < j->m; row++)
        is_row[lane_of(j, row)] = true;
    for (int lane = 0; lane < LANES; lane++)
        for (int c = 0; c < COLUMNS; c++)
            if (!is_row[lane] || c >= j->n || (j->masks && masks[lane / 32] >> lane % 32 & 1))
                EXPECT(after[lane][c] == before[lane][c], "lane %d column %d changed, of\n%s", lane, c, text);
    for (int row = 0; row < j->m; row++)
        for (int c = 0; c < j->n; c++) {
            const int lane = lane_of(j, row);
            if (j->masks && masks[lane / 32] >> lane % 32 & 1)
                continue;
            const bool half = j->kind->d == T_F16;
            long double sum = j->adds ? number(j->kind->d, half ? before[lane][c] & 0xffff : before[lane][c]) : 0;
            sum = ldexpl(sum, -j->scale);
            long double size = fabsl(sum);
            for (int k = 0; k < j->kind->k; k++) {
                const long double p = (long double)(j->negate[0] ? -j->a[row][k] : j->a[row][k]) *
                                      (j->negate[1] ? -j->b[c][k] : j->b[c][k]);
                sum += p;
                size += fabsl(p);
            }
            const double have = number(j->kind->d, half ? after[lane][c] & 0xffff : after[lane][c]);
            if (j->kind->d == T_S32)
                sum = (int32_t)(uint32_t)(int64_t)sum;
            const long double bound =
                j->kind->d == T_S32
                    ? 0
                    : (half ? fmaxl(0x1p-11L * fabsl(sum), 0x1p-25L) : 0x1p-24L * fabsl(sum)) + 33 * 0x1p-53L * size;
            EXPECT(fabsl(have - sum) <= bound * 1.000001L, "row %d column %d: %.9g, not %.9Lg, of\n%s", row, c, have,
                   sum, text);
        }
}

static void run_product(struct heddle *h, struct job *j, uint64_t *g) {
    static struct text t;
    static unsigned char image[IMAGE];
    static uint32_t words[LANES][COLUMNS], before[LANES][COLUMNS];
    const struct kind *kind = j->kind;
    const struct place a = layout(0, j->m, kind->k, kind->bits, j->across[0], j->row[0], j->unit);
    const struct place b = layout(16384, j->n, kind->k, kind->bits, j->across[1], j->row[1], j->unit);
    memset(image, 0, sizeof image);
    memset(words, 0, sizeof words);
    for (int l = 0; l < LANES; l++)
        for (int c = 0; c < COLUMNS; c++)
            words[l][c] = (uint32_t)any_bits(g, kind->d);
    for (int row = 0; row < j->m; row++)
        for (int k = 0; k < kind->k; k++) {
            const uint64_t v = any_bits(g, kind->a);
            j->a[row][k] = number(kind->a, v);
            if (!j->in_tensor) {
                put(image, &a, kind->a, row, k, v);
                continue;
            }
            const int per = 32 / kind->bits;
            uint32_t *word = &words[lane_of(j, row)][A_COLUMN + k / per];
            *word = k % per ? *word | (uint32_t)v << k % per * kind->bits : (uint32_t)v;
        }
    for (int c = 0; c < j->n; c++)
        for (int k = 0; k < kind->k; k++) {
            const uint64_t v = any_bits(g, kind->b);
            j->b[c][k] = number(kind->b, v);
            put(image, &b, kind->b, c, k, v);
        }
    memcpy(before, words, sizeof words);
    product_text(j, &t);
    const uint32_t what =
        (uint32_t)(kind->code_d << 4 | kind->code_a << 7 | kind->code_b << 10 | j->negate[0] << 13 |
                   j->negate[1] << 14 | j->across[0] << 15 | j->across[1] << 16 | j->n / 8 << 17 | j->m / 16 << 24);
    tcgen05_run(h, &t, image, words, descriptor(&a), descriptor(&b), what);
    compare(j, before, words, t.at);
}

static void draw(struct job *j, uint64_t *g) {
    static const int rows[] = {16, 32, 64, 128};
    const struct kind *kind = j->kind;
    j->m = test_random(g) % 2 ? 128 : 64;
    j->n = j->m == 128 ? 16 * (1 + (int)(test_random(g) % 3)) : 8 * (1 + (int)(test_random(g) % 6));
    j->upper = j->m == 64 && test_random(g) % 2;
    j->in_tensor = kind->a < 100 && test_random(g) % 3 == 0;
    j->masks = test_random(g) % 3 == 0;
    j->adds = test_random(g) % 3 != 0;
    j->scale = kind->d != T_S32 && kind->bits > 8 && test_random(g) % 3 == 0 ? 1 + (int)(test_random(g) % 15) : 0;
    j->unit = test_random(g) % 2 ? 16 : 32;
    for (int x = 0; x < 2; x++) {
        j->across[x] = kind->a < 100 && kind->b < 100 && test_random(g) % 2 && !(x == 0 && j->in_tensor);
        j->negate[x] = kind->d != T_S32 && test_random(g) % 2;
        j->row[x] = rows[test_random(g) % 4];
    }
    if (kind->d == T_S32 && j->n == 40)
        j->n = 32;
    if (kind->bits == 32) { /* for 32-bit elements, only this swizzle allows adjacent elements along M or N */
        j->unit = j->across[0] || j->across[1] ? 32 : j->unit;
        j->across[1] &= j->n % 32 == 0;
        for (int x = 0; x < 2; x++)
            j->row[x] = j->across[x] ? 128 : j->row[x];
        return;
    }
    if (j->across[0] || j->across[1])
        j->unit = 16;
    if (j->across[1] && j->n * kind->bits / 8 % j->row[1])
        j->row[1] = 16;
    if (j->across[1] && j->n * kind->bits / 8 % 16)
        j->across[1] = false;
}

START_TEST(products) {
    static struct job j;
    struct heddle *h = tcgen05_open("functional");
    uint64_t g = (uint64_t)_i * 77 + 1;
    for (int i = 0; i < 8; i++) {
        j.kind = &kinds[_i];
        draw(&j, &g);
        test_case("m %d n %d across %d %d rows %d %d unit %d tensor %d masks %d scale %d upper %d", j.m, j.n,
                  j.across[0], j.across[1], j.row[0], j.row[1], j.unit, j.in_tensor, j.masks, j.scale, j.upper);
        run_product(h, &j, &g);
    }
    heddle_close(h);
}
END_TEST

START_TEST(every_model_multiplies) {
    static struct job j;
    struct heddle *h = tcgen05_open(timed_models()->name[_i]);
    uint64_t g = 7;
    for (int k = 0; k < KINDS; k += 4) {
        j.kind = &kinds[k];
        draw(&j, &g);
        run_product(h, &j, &g);
    }
    heddle_close(h);
}
END_TEST

/* Rows of 16 or 32 bytes go to lanes; copies of 32 and 64 rows go to the lanes of several warps. */
START_TEST(copies) {
    static struct text t;
    static uint32_t words[LANES][COLUMNS];
    static unsigned char image[IMAGE];
    static const struct {
        const char *shape;
        int rows, columns, warp[4]; /* warp: which 32 rows the lanes of each warp get */
    } cases[] = {{"128x256b", 128, 8, {0, 1, 2, 3}},
                 {"128x128b", 128, 4, {0, 1, 2, 3}},
                 {"64x128b.warpx2::02_13", 64, 4, {0, 1, 0, 1}},
                 {"64x128b.warpx2::01_23", 64, 4, {0, 0, 1, 1}},
                 {"32x128b.warpx4", 32, 4, {0, 0, 0, 0}}};
    const struct place p = layout(0, 128, 32, 8, false, _i % 2 ? 16 : 32, 16);
    struct heddle *h = tcgen05_open("functional");
    memset(words, 0, sizeof words);
    for (int row = 0; row < 128; row++)
        for (int k = 0; k < 32; k++)
            put(image, &p, T_U8, row, k, (uint64_t)(row * 5 + k * 3 + 1) & 255);
    tcgen05_begin(&t);
    add(&t,
        "@!%%one bra W; ld.shared.u32 %%t7, [s]; tcgen05.cp.cta_group::1.%s [%%t7+8], %%d2;\n"
        "tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [s+8];\n"
        "W: mbarrier.try_wait.parity.shared.b64 %%q, [s+8], 0; @!%%q bra W; bar.sync 0;\n"
        "tcgen05.ld.sync.aligned.32x32b.x64.b32 ",
        cases[_i].shape);
    tcgen05_list(&t, COLUMNS);
    add(&t, ", [%%t5];\n");
    tcgen05_end(&t, COLUMNS);
    tcgen05_run(h, &t, image, words, descriptor(&p), 0, 0);
    for (int lane = 0; lane < LANES; lane++)
        for (int c = 0; c < COLUMNS; c++) {
            const int row = cases[_i].warp[lane / 32] * 32 + lane % 32, k = 4 * (c - 8);
            uint32_t want = 0;
            for (int i = 0; i < 4 && c >= 8 && c < 8 + cases[_i].columns; i++)
                want |= ((uint32_t)(row * 5 + (k + i) * 3 + 1) & 255) << 8 * i;
            EXPECT(words[lane][c] == want, "lane %d column %d: %08x, not %08x", lane, c, words[lane][c], want);
        }
    heddle_close(h);
}
END_TEST

/* Rows of 4x256b go to one lane of each warp. Numbers of 4 and 6 bits become bytes. */
START_TEST(copies_of_small_numbers) {
    static struct text t;
    static uint32_t words[LANES][COLUMNS];
    static unsigned char image[IMAGE];
    static const struct {
        const char *shape;
        int rows, bits;
    } cases[] = {{"4x256b", 4, 8}, {"4x256b.b8x16.b6x16_p32", 4, 6}, {"128x256b.b8x16.b4x16_p64", 128, 4}};
    const int bits = cases[_i].bits, rows = cases[_i].rows, first = rows == 4 ? 29 : 0;
    const struct place p = layout(0, 128, 32, 8, false, 16, 16);
    struct heddle *h = tcgen05_open("functional");
    memset(words, 0, sizeof words);
    memset(image, 0xee, sizeof image);
    for (int row = 0; row < rows; row++)
        for (int k = 0; k < 32; k++)
            for (int i = 0; i < bits; i++) {
                const long at = place_of(&p, row, k / 16 * 16) + k % 16 * bits + i;
                image[at / 8] =
                    (unsigned char)((image[at / 8] & ~(1 << at % 8)) | ((row * 5 + k * 3) >> i & 1) << at % 8);
            }
    tcgen05_begin(&t);
    add(&t,
        "@!%%one bra W; ld.shared.u32 %%t7, [s]; tcgen05.cp.cta_group::1.%s [%%t7+%d], %%d2;\n"
        "W: bar.sync 0;\ntcgen05.ld.sync.aligned.32x32b.x64.b32 ",
        cases[_i].shape, 8 + (first << 16));
    tcgen05_list(&t, COLUMNS);
    add(&t, ", [%%t5];\n");
    tcgen05_end(&t, COLUMNS);
    tcgen05_run(h, &t, image, words, descriptor(&p), 0, 0);
    for (int lane = 0; lane < LANES; lane++)
        for (int c = 0; c < COLUMNS; c++) {
            const int row = rows == 128 ? lane : lane % 32 == first ? lane / 32 : -1;
            uint32_t want = 0;
            for (int i = 0; i < 4 && row >= 0 && c >= 8 && c < 16; i++) {
                const uint32_t v = (uint32_t)(row * 5 + (4 * (c - 8) + i) * 3) & ((1u << bits) - 1);
                want |= (bits == 4 ? v << 2 : v) << 8 * i;
            }
            EXPECT(words[lane][c] == want, "lane %d column %d: %08x, not %08x", lane, c, words[lane][c], want);
        }
    heddle_close(h);
}
END_TEST

SUITE(isa_exec_exec_tcgen05) {
    TEST_LOOP(products, 0, KINDS);
    TEST_LOOP(every_model_multiplies, 0, timed_models()->n);
    TEST_LOOP(copies, 0, 5);
    TEST_LOOP(copies_of_small_numbers, 0, 3);
}
