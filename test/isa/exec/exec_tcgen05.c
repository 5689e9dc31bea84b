/* Tests tcgen05 against loops in C. Tensor memory is filled through tcgen05.st and read through tcgen05.ld, one shape
 * against another: the reference knows which lane and column each register has, by the figures of PTX ISA 9.7.16.2.3.
 * The reference finds elements of matrices in shared memory by the canonical layouts, as in exec_wgmma.c beside it. */
#include "host/heddle.h"
#include "isa/decode.h"
#include "test/every_model.h"
#include "test/isa/exec/float_ref.h"
#include "test/isa/exec/text.h"
#include <math.h>
#include <stdio.h>

enum { IMAGE = 32768, THREADS = 128, LANES = 128, COLUMNS = 64, SUMS = 64, MOST_K = 32 };

static void add_list(struct text *t, int n) {
    for (int i = 0; i < n; i++)
        add(t, "%s%%r%d", i ? "," : "{", i);
    add(t, "}");
}

/* Begins a kernel: copies the image to shared memory from 1024 on, allocates 128 columns (%t5 is the address of the
 * warp's first lane), and fills the first 64 of them from memory: cell [lane][column]. Only one warp allocates. */
static void begin(struct text *t) {
    t->n = 0;
    add(t,
        ".version 9.0\n.target sm_100a\n.address_size 64\n.visible .entry k(.param .u64 image, .param .u64 in, "
        ".param .u64 out, .param .u64 da, .param .u64 db, .param .u32 what) {\n.shared .align 1024 .b8 s[%d];\n"
        ".reg .b64 %%d<12>; .reg .b32 %%r<160>, %%t<12>; .reg .pred %%p, %%q, %%one;\n"
        "ld.param.u64 %%d0, [image]; ld.param.u64 %%d1, [in]; ld.param.u64 %%d5, [out]; ld.param.u64 %%d2, [da]; "
        "ld.param.u64 %%d3, [db]; ld.param.u32 %%t6, [what];\nmov.u32 %%t0, %%tid.x; setp.eq.u32 %%one, %%t0, 0;\n"
        "mul.wide.u32 %%d6, %%t0, 256; add.u64 %%d1, %%d1, %%d6; add.u64 %%d5, %%d5, %%d6; shl.b32 %%t0, %%t0, 2; "
        "cvt.u64.u32 %%d4, %%t0;\nmov.u32 %%t2, s; add.u32 %%t2, %%t2, %%t0; add.u64 %%d0, %%d0, %%d4;\n"
        "L: ld.global.u32 %%t3, [%%d0]; st.shared.u32 [%%t2+1024], %%t3; add.u64 %%d0, %%d0, 512; add.u32 %%t2, %%t2, "
        "512; add.u32 %%t0, %%t0, 512; setp.lt.u32 %%q, %%t0, %d; @%%q bra L;\n"
        "mov.u32 %%t0, %%tid.x; shr.u32 %%t4, %%t0, 5; setp.ne.u32 %%q, %%t4, 0; @%%q bra M;\n"
        "tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [s], 128;\n"
        "tcgen05.relinquish_alloc_permit.cta_group::1.sync.aligned;\n@!%%one bra M; mbarrier.init.shared.b64 [s+8], "
        "1;\n"
        "M: bar.sync 0; ld.shared.u32 %%t5, [s]; shl.b32 %%t4, %%t4, 21; add.u32 %%t5, %%t5, %%t4;\n",
        IMAGE + 1024, IMAGE);
    for (int i = 0; i < COLUMNS; i++)
        add(t, "ld.global.u32 %%r%d, [%%d1+%d];\n", i, 4 * i);
    add(t, "tcgen05.st.sync.aligned.32x32b.x64.b32 [%%t5], ");
    add_list(t, COLUMNS);
    add(t, ";\ntcgen05.wait::st.sync.aligned; tcgen05.fence::before_thread_sync; bar.sync 0; "
           "tcgen05.fence::after_thread_sync;\n");
}

/* Ends the kernel: stores n registers. The first warp deallocates the columns. */
static void end(struct text *t, int n) {
    add(t, "tcgen05.wait::ld.sync.aligned;\n");
    for (int i = 0; i < n; i++)
        add(t, "st.global.u32 [%%d5+%d], %%r%d;\n", 4 * i, i);
    add(t, "bar.sync 0; mov.u32 %%t0, %%tid.x; setp.ge.u32 %%q, %%t0, 32; @%%q bra E; ld.shared.u32 %%t5, [s];\n"
           "tcgen05.dealloc.cta_group::1.sync.aligned.b32 %%t5, 128;\nE: ret;\n}\n");
}

static struct heddle *open_model(const char *model) {
    char err[512];
    struct heddle *h = heddle_open(&(struct heddle_options){.model = model, .cycle_limit = 1000000}, err, sizeof err);
    ck_assert_msg(h != NULL, "%s", err);
    return h;
}

/* Runs the kernel. Before the run, `words` has the cells of tensor memory; after it, the registers that each thread
 * stored. */
static void run(struct heddle *h, const struct text *t, const unsigned char *image, uint32_t words[LANES][COLUMNS],
                uint64_t da, uint64_t db, uint32_t what) {
    uint64_t from = heddle_alloc(h, IMAGE), in = heddle_alloc(h, sizeof(uint32_t) * LANES * COLUMNS),
             out = heddle_alloc(h, sizeof(uint32_t) * LANES * COLUMNS);
    struct heddle_arg args[] = {{&from, 8}, {&in, 8}, {&out, 8}, {&da, 8}, {&db, 8}, {&what, 4}};
    heddle_write(h, from, image, IMAGE);
    heddle_write(h, in, words, sizeof(uint32_t) * LANES * COLUMNS);
    struct heddle_module *m = heddle_module_text(h, "t.ptx", t->at, t->n);
    EXPECT(m != NULL, "%s\n%s", heddle_error(h), t->at);
    struct heddle_dim one = {1, 1, 1}, group = {THREADS, 1, 1};
    EXPECT(heddle_launch(h, m, "k", one, group, 0, args, 6) == HEDDLE_OK, "%s\n%s", heddle_error(h), t->at);
    heddle_read(h, out, words, sizeof(uint32_t) * LANES * COLUMNS);
    heddle_free(h, from);
    heddle_free(h, in);
    heddle_free(h, out);
}

/* ---- ld, st ---- */

static const struct {
    const char *shape;
    int most, registers; /* most repetitions within 64 columns; registers of one repetition */
} shapes[] = {{"32x32b", 64, 1}, {"16x64b", 32, 1}, {"16x128b", 16, 2}, {"16x256b", 8, 4}, {"16x32bx2", 32, 1}};

/* Returns the lane and the column of register r of a thread, relative to the address. */
static void cell(int shape, int thread, int r, int *lane, int *column) {
    const int g = thread % 32 / 4, t = thread % 4;
    *lane = shape == 0 ? thread % 32 : g;
    *column = r;
    /* threads 0 and 2 of a quad have row g, threads 1 and 3 have row g + 8; each register has two columns */
    if (shape == 1) {
        *lane = g + (t & 1) * 8;
        *column = 2 * r + (t >> 1);
    } else if (shape == 2) { /* each quad has rows g and g + 8; each thread of it has one column */
        *lane = g + (r & 1) * 8;
        *column = 4 * (r >> 1) + t;
    } else if (shape == 3) { /* the layout of the accumulators of mma.m16n8k16 */
        *lane = g + (r >> 1 & 1) * 8;
        *column = 8 * (r >> 2) + 2 * t + (r & 1);
    } else if (shape == 4) { /* the second 16 threads have the columns that are 32 further on */
        *lane = thread % 16;
        *column = r + (thread % 32 >= 16 ? 32 : 0);
    }
}

START_TEST(loads_find_what_was_stored) {
    static struct text t;
    static uint32_t words[LANES][COLUMNS], cells[LANES][COLUMNS];
    static unsigned char image[IMAGE];
    struct heddle *h = open_model("functional");
    uint64_t g = 3;
    for (int repeat = 1; repeat <= shapes[_i].most; repeat *= 4)
        for (int variant = 0; variant < 3; variant++) {
            const bool pack = variant == 1, upper = variant == 2 && _i > 0;
            const int n = repeat * shapes[_i].registers;
            if (pack && 2 * repeat > shapes[_i].most / (_i == 4 ? 2 : 1))
                continue;
            for (int l = 0; l < LANES; l++)
                for (int c = 0; c < COLUMNS; c++)
                    words[l][c] = cells[l][c] = (uint32_t)test_random(&g);
            begin(&t);
            add(&t, "tcgen05.ld.sync.aligned.%s.x%d%s.b32 ", shapes[_i].shape, repeat, pack ? ".pack::16b" : "");
            add_list(&t, n);
            add(&t, ", [%%t5+%d]%s;\n", upper ? 16 << 16 : 0, _i == 4 ? ", 32" : "");
            end(&t, n);
            run(h, &t, image, words, 0, 0, 0);
            for (int thread = 0; thread < THREADS; thread++)
                for (int r = 0; r < n; r++) {
                    int lane, c;
                    cell(_i, thread, r, &lane, &c);
                    lane += thread / 32 * 32 + (upper ? 16 : 0);
                    const int base = _i == 4 ? c / 32 * 32 : 0, at = pack ? base + 2 * (c - base) : c;
                    const uint32_t want =
                        pack ? (cells[lane][at] & 0xffff) | cells[lane][at + 1] << 16 : cells[lane][at];
                    EXPECT(words[thread][r] == want, "%s.x%d thread %d register %d: %08x, not %08x", shapes[_i].shape,
                           repeat, thread, r, words[thread][r], want);
                }
        }
    heddle_close(h);
}
END_TEST

/* With each shape, a store and a load access the same cells, and a store with unpack::16b undoes a load with
 * pack::16b. */
START_TEST(stores_undo_loads) {
    static struct text t;
    static uint32_t words[LANES][COLUMNS], cells[LANES][COLUMNS];
    static unsigned char image[IMAGE];
    struct heddle *h = open_model("functional");
    for (int packs = 0; packs < 2; packs++) {
        const int n = shapes[_i].registers * 4;
        const char *of = _i == 4 ? ", 32" : "";
        for (int l = 0; l < LANES; l++)
            for (int c = 0; c < COLUMNS; c++)
                words[l][c] = cells[l][c] = (uint32_t)(l * 64 + c) + 1;
        begin(&t);
        add(&t, "tcgen05.ld.sync.aligned.%s.x4%s.b32 ", shapes[_i].shape, packs ? ".pack::16b" : "");
        add_list(&t, n);
        add(&t, ", [%%t5]%s;\ntcgen05.wait::ld.sync.aligned;\ntcgen05.st.sync.aligned.%s.x4%s.b32 [%%t5+64]%s, ", of,
            shapes[_i].shape, packs ? ".unpack::16b" : "", of);
        add_list(&t, n);
        add(&t, ";\ntcgen05.wait::st.sync.aligned;\ntcgen05.ld.sync.aligned.32x32b.x64.b32 ");
        add_list(&t, COLUMNS);
        add(&t, ", [%%t5+64];\n");
        end(&t, COLUMNS);
        run(h, &t, image, words, 0, 0, 0);
        int moved = 0;
        for (int l = 0; l < LANES; l++)
            for (int c = 0; c < COLUMNS; c++) {
                EXPECT(words[l][c] == 0 || words[l][c] == cells[l][c], "%s lane %d column %d: %u, not %u",
                       shapes[_i].shape, l, c, words[l][c], cells[l][c]);
                moved += words[l][c] != 0;
            }
        ck_assert_int_eq(moved, THREADS * n * (packs ? 2 : 1));
    }
    heddle_close(h);
}
END_TEST

/* ---- matrices ---- */

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
    begin(t);
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
    add_list(t, COLUMNS);
    add(t, ", [%%t5];\n");
    end(t, COLUMNS);
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
    run(h, &t, image, words, descriptor(&a), descriptor(&b), what);
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
    struct heddle *h = open_model("functional");
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
    struct heddle *h = open_model(timed_models()->name[_i]);
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
    struct heddle *h = open_model("functional");
    memset(words, 0, sizeof words);
    for (int row = 0; row < 128; row++)
        for (int k = 0; k < 32; k++)
            put(image, &p, T_U8, row, k, (uint64_t)(row * 5 + k * 3 + 1) & 255);
    begin(&t);
    add(&t,
        "@!%%one bra W; ld.shared.u32 %%t7, [s]; tcgen05.cp.cta_group::1.%s [%%t7+8], %%d2;\n"
        "tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [s+8];\n"
        "W: mbarrier.try_wait.parity.shared.b64 %%q, [s+8], 0; @!%%q bra W; bar.sync 0;\n"
        "tcgen05.ld.sync.aligned.32x32b.x64.b32 ",
        cases[_i].shape);
    add_list(&t, COLUMNS);
    add(&t, ", [%%t5];\n");
    end(&t, COLUMNS);
    run(h, &t, image, words, descriptor(&p), 0, 0);
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
    struct heddle *h = open_model("functional");
    memset(words, 0, sizeof words);
    memset(image, 0xee, sizeof image);
    for (int row = 0; row < rows; row++)
        for (int k = 0; k < 32; k++)
            for (int i = 0; i < bits; i++) {
                const long at = place_of(&p, row, k / 16 * 16) + k % 16 * bits + i;
                image[at / 8] =
                    (unsigned char)((image[at / 8] & ~(1 << at % 8)) | ((row * 5 + k * 3) >> i & 1) << at % 8);
            }
    begin(&t);
    add(&t,
        "@!%%one bra W; ld.shared.u32 %%t7, [s]; tcgen05.cp.cta_group::1.%s [%%t7+%d], %%d2;\n"
        "W: bar.sync 0;\ntcgen05.ld.sync.aligned.32x32b.x64.b32 ",
        cases[_i].shape, 8 + (first << 16));
    add_list(&t, COLUMNS);
    add(&t, ", [%%t5];\n");
    end(&t, COLUMNS);
    run(h, &t, image, words, descriptor(&p), 0, 0);
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

/* Lanes 32 to 62 get eight columns of the next lane. */
START_TEST(shifts) {
    static struct text t;
    static uint32_t words[LANES][COLUMNS];
    static unsigned char image[IMAGE];
    struct heddle *h = open_model("functional");
    for (int l = 0; l < LANES; l++)
        for (int c = 0; c < COLUMNS; c++)
            words[l][c] = (uint32_t)(l * 100 + c);
    begin(&t);
    add(&t,
        "@!%%one bra W; ld.shared.u32 %%t7, [s]; tcgen05.shift.cta_group::1.down [%%t7+%d];\n"
        "W: bar.sync 0;\ntcgen05.ld.sync.aligned.32x32b.x64.b32 ",
        5 + (32 << 16));
    add_list(&t, COLUMNS);
    add(&t, ", [%%t5];\n");
    end(&t, COLUMNS);
    run(h, &t, image, words, 0, 0, 0);
    for (int l = 0; l < LANES; l++)
        for (int c = 0; c < COLUMNS; c++) {
            const bool moves = l >= 32 && l < 63 && c >= 5 && c < 13;
            EXPECT(words[l][c] == (uint32_t)((l + moves) * 100 + c), "lane %d column %d: %u", l, c, words[l][c]);
        }
    heddle_close(h);
}
END_TEST

static uint32_t reduced(const char *type, bool max, bool abs, bool nan, const uint32_t *v, int n) {
    uint32_t r = 0;
    for (int i = 0; i < n; i++) {
        const uint32_t x = abs ? v[i] & 0x7fffffff : v[i];
        if (type[0] == 'f') {
            const bool x_nan = (x & 0x7fffffff) > 0x7f800000, r_nan = (r & 0x7fffffff) > 0x7f800000;
            const double a = float_decode(T_F32, r), b = float_decode(T_F32, x);
            if (i == 0)
                r = x;
            else if (x_nan || r_nan)
                r = nan || (x_nan && r_nan) ? 0x7fffffff : x_nan ? r : x;
            else if (a == b ? max == (r >> 31 > x >> 31) : max ? b > a : b < a)
                r = x;
        } else {
            const bool less = type[0] == 's' ? (int32_t)x < (int32_t)r : x < r;
            r = i == 0 || (x != r && less != max) ? x : r;
        }
    }
    return r;
}

START_TEST(loads_with_reductions) {
    static struct text t;
    static uint32_t words[LANES][COLUMNS], cells[LANES][COLUMNS];
    static unsigned char image[IMAGE];
    static const uint32_t special[] = {0, 0x80000000, 0x7f800000, 0xff800000, 0x7fc00001, 0xffc00000};
    static const char *const types[] = {"u32", "s32", "f32"};
    struct heddle *h = open_model("functional");
    uint64_t g = (uint64_t)_i;
    for (int type = 0; type < 3; type++)
        for (int flags = 0; flags < (type == 2 ? 4 : 1); flags++) {
            const bool max = test_random(&g) % 2, halves = test_random(&g) % 2;
            const int n = 2 << test_random(&g) % 4;
            for (int l = 0; l < LANES; l++)
                for (int c = 0; c < COLUMNS; c++)
                    words[l][c] = cells[l][c] =
                        test_random(&g) % 3 ? (uint32_t)test_random(&g) : special[test_random(&g) % 6];
            begin(&t);
            add(&t, "tcgen05.ld.red.sync.aligned.%s.x%d.%s%s%s.%s ", halves ? "16x32bx2" : "32x32b", n,
                max ? "max" : "min", flags & 1 ? ".abs" : "", flags & 2 ? ".NaN" : "", types[type]);
            add_list(&t, n);
            add(&t, ", %%r%d, [%%t5]%s;\n", n, halves ? ", 32" : "");
            end(&t, n + 1);
            memcpy(strstr(t.at, "sm_100a"), "sm_103a", 7);
            run(h, &t, image, words, 0, 0, 0);
            for (int thread = 0; thread < THREADS; thread++) {
                uint32_t v[32];
                for (int r = 0; r < n; r++) {
                    int lane, c;
                    cell(halves ? 4 : 0, thread, r, &lane, &c);
                    v[r] = cells[thread / 32 * 32 + lane][c];
                    EXPECT(words[thread][r] == v[r], "thread %d register %d", thread, r);
                }
                const uint32_t want = reduced(types[type], max, flags & 1, flags & 2, v, n);
                EXPECT(words[thread][n] == want, "thread %d: %08x, not %08x, of\n%s", thread, words[thread][n], want,
                       t.at);
            }
        }
    heddle_close(h);
}
END_TEST

/* ---- allocation ---- */

/* Runs two warps. The first allocates all columns, and frees them later unless `keep` is set. The second waits for 32
 * columns. */
static enum heddle_status contend(const char *model, bool keep, char *error, size_t size) {
    static char text[2048];
    struct heddle *h = open_model(model);
    snprintf(text, sizeof text,
             ".version 9.0\n.target sm_100a\n.address_size 64\n.visible .entry k() {\n.shared .b32 s[4]; .reg .b32 "
             "%%r<8>; .reg .pred %%p;\nmov.u32 %%r0, %%tid.x; setp.ge.u32 %%p, %%r0, 32; @%%p bra S;\n"
             "tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [s], 512; bar.sync 0; ld.shared.u32 %%r1, [s];\n"
             "mov.u32 %%r2, 0;\nL: add.u32 %%r2, %%r2, 1; setp.lt.u32 %%p, %%r2, 50; @%%p bra L;\n%s\nret;\n"
             "S: bar.sync 0; tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [s+4], 32; ld.shared.u32 %%r1, "
             "[s+4];\ntcgen05.dealloc.cta_group::1.sync.aligned.b32 %%r1, 32; ret;\n}\n",
             keep ? "" : "tcgen05.dealloc.cta_group::1.sync.aligned.b32 %r1, 512;");
    struct heddle_module *m = heddle_module_text(h, "t.ptx", text, strlen(text));
    ck_assert_msg(m != NULL, "%s", heddle_error(h));
    const struct heddle_dim one = {1, 1, 1}, threads = {64, 1, 1};
    const enum heddle_status status = heddle_launch(h, m, "k", one, threads, 0, NULL, 0);
    snprintf(error, size, "%s", heddle_error(h));
    heddle_close(h);
    return status;
}

START_TEST(alloc_waits_for_columns) {
    const char *model = _i < timed_models()->n ? timed_models()->name[_i] : "functional";
    char error[4096];
    ck_assert_msg(contend(model, false, error, sizeof error) == HEDDLE_OK, "%s", error);
}
END_TEST

START_TEST(alloc_without_columns_is_a_deadlock) {
    static const char *const models[] = {"functional", "spe"};
    char error[4096];
    ck_assert_int_eq(contend(models[_i], true, error, sizeof error), HEDDLE_DEADLOCK);
    ck_assert_msg(strstr(error, "tcgen05.alloc"), "%s", error);
}
END_TEST

/* ---- faults ---- */

#define ALLOC "tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [s], 32; "
/* A product with this instruction descriptor, with metadata, and with scales. */
#define MMA(name, descriptor, metadata, scales)                                                                        \
    "mov.u32 %r1, 0; mov.u64 %d1, 0x400000000000; mov.u32 %r2, " descriptor "; @%p tcgen05.mma" name                   \
    " [%r1], %d1, %d1, " metadata "%r2, " scales "0;"

START_TEST(faults) {
    static const struct {
        const char *text, *wanted;
    } cases[] = {
        {"tcgen05.alloc.cta_group::2.sync.aligned.shared::cta.b32 [s], 512;",
         ".cta_group::2 needs a pair of CTAs, and the cluster has no CTA 1 (it has 1)"},
        {ALLOC "mov.u32 %r1, 0x10000; tcgen05.shift.cta_group::1.down [%r1];",
         "the address of tcgen05.shift is in lane 0, 32, 64 or 96"},
        {ALLOC "mov.u32 %r1, 28; tcgen05.shift.cta_group::1.down [%r1];", "columns 28 to 35 of tensor memory"},
        {ALLOC "mov.u32 %r1, 0x200000; mov.u64 %d1, 0x400000000000; @%p tcgen05.cp.cta_group::1.4x256b [%r1], %d1;",
         "is in lane 0, or for .4x256b in lane 0 to 31"},
        {ALLOC MMA(".sp.cta_group::1.kind::f16", "0x04040010", "[%r1], ", ""), ".sp needs the sparsity bit"},
        {ALLOC MMA(".sp.cta_group::1.kind::f16", "0x04040014", "[%r1], ", ""),
         "metadata 0x0 of row 0 of a, elements 0 to 3, is undefined"},
        {ALLOC MMA(".cta_group::1.kind::f16", "0x04040014", "", ""), "the sparsity bit (bit 2) needs .sp"},
        {ALLOC MMA(".cta_group::1.kind::f16", "0x04040050", "", ""), "bits 6, 23 and 29 must be 0"},
        {ALLOC MMA(".cta_group::1.kind::f16", "0x44040010", "", ""), "only .ws shifts columns"},
        {ALLOC MMA(".cta_group::1.kind::i8", "0x040a0020", "", ""), "this N (bits 17 to 22, times 8) does not exist"},
        {ALLOC MMA(".ws.cta_group::1.kind::f16", "0x04040010", "", ""),
         "this N (bits 17 to 22, times 8) does not exist"},
        {ALLOC MMA(".cta_group::1.kind::mxf4.block_scale", "0x08040480", "", "[%r1], [%r1], "),
         "scales of ue4m3 (bit 23)"},
        {ALLOC MMA(".cta_group::1.kind::mxf4.block_scale", "0x288404a0", "", "[%r1], [%r1], "),
         "must be even with two scales"},
        {ALLOC MMA(".cta_group::1.kind::mxf4.block_scale", "0x88840480", "", "[%r1], [%r1], "),
         "k = 96 (bit 31) needs"},
        {ALLOC MMA(".cta_group::1.kind::mxf8f6f4.block_scale", "0x04840000", "", "[%r1], [%r1], "),
         "bits 0, 1, 3, 6 and 24 to 26"},
        {"mbarrier.init.shared.b64 [s+8], 1; mov.u16 %h, 2; "
         "tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.multicast::cluster.b64 [s+8], %h;",
         "the cluster has no such CTA"},
        {"mov.u32 %r1, 48; tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [s], %r1;",
         "48 columns of tensor memory"},
        {"mov.u32 %r1, 0; tcgen05.dealloc.cta_group::1.sync.aligned.b32 %r1, 64;",
         "tcgen05.alloc returned no 64 columns"},
        {"tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [s], 32; mov.u32 %r1, 0xffffffe0; "
         "tcgen05.dealloc.cta_group::1.sync.aligned.b32 %r1, 32;",
         "tcgen05.alloc returned no 32 columns at 0xffffffe0"},
        {"mov.u32 %r1, 0; tcgen05.ld.sync.aligned.32x32b.x2.b32 {%r2, %r3}, [%r1];",
         "columns 0 to 1 of tensor memory are "
         "not allocated"},
        {"tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [s], 32; mov.u32 %r1, 0x100000; "
         "tcgen05.ld.sync.aligned.32x32b.x2.b32 {%r2, %r3}, [%r1];",
         "this warp accesses lanes 0 to 31"},
        {"@%p bra L; tcgen05.wait::ld.sync.aligned;\nL:", "here by lanes 0xfffffff7 alone"},
        {"tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [s], 32; mov.u32 %r1, 0; mov.u64 %d1, 0; mov.u32 "
         "%r2, "
         "0x04040010; @%p tcgen05.mma.cta_group::1.kind::f16 [%r1], %d1, %d1, %r2, 0;",
         "descriptor 0x0000000000000000 of b: bits 46 to 48 must be 0b001"},
        {"tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [s], 32; mov.u32 %r1, 0; mov.u64 %d1, "
         "0x400000000000; "
         "mov.u32 %r2, 0x06040010; @%p tcgen05.mma.cta_group::1.kind::f16 [%r1], %d1, %d1, %r2, 0;",
         "M (bits 24 to 28, times 16) must be 64 or 128"},
        {"mov.u32 %r1, 0; tcgen05.relinquish_alloc_permit.cta_group::1.sync.aligned; "
         "tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [s];",
         "there is no mbarrier"},
    };
    static char text[4096];
    snprintf(text, sizeof text,
             ".version 9.0\n.target sm_100a\n.address_size 64\n.visible .entry k() {\n.shared .align 1024 .b8 s[4096]; "
             ".reg .b64 %%d<4>; .reg .b32 %%r<8>; .reg .b16 %%h; .reg .pred %%p; mov.u32 %%r7, %%laneid; setp.eq.u32 "
             "%%p, %%r7, 3;\n%s\n"
             "ret;\n}\n",
             cases[_i].text);
    struct heddle *h = open_model("functional");
    struct heddle_module *m = heddle_module_text(h, "t.ptx", text, strlen(text));
    ck_assert_msg(m != NULL, "%s", heddle_error(h));
    const struct heddle_dim one = {1, 1, 1}, warp = {32, 1, 1};
    ck_assert_int_eq(heddle_launch(h, m, "k", one, warp, 0, NULL, 0), HEDDLE_FAULT);
    ck_assert_msg(strstr(heddle_error(h), cases[_i].wanted), "%s", heddle_error(h));
    heddle_close(h);
}
END_TEST

SUITE(isa_exec_exec_tcgen05) {
    TEST_LOOP(loads_find_what_was_stored, 0, 5);
    TEST_LOOP(stores_undo_loads, 0, 5);
    TEST_LOOP(products, 0, KINDS);
    TEST_LOOP(every_model_multiplies, 0, timed_models()->n);
    TEST_LOOP(copies, 0, 5);
    TEST_LOOP(copies_of_small_numbers, 0, 3);
    TEST(shifts);
    TEST_LOOP(loads_with_reductions, 0, 4);
    TEST_LOOP(alloc_waits_for_columns, 0, timed_models()->n + 1);
    TEST_LOOP(alloc_without_columns_is_a_deadlock, 0, 2);
    TEST_LOOP(faults, 0, 24);
}
