/* Tests the products of tcgen05 that exec_tcgen05.c beside it leaves out: pairs of CTAs, scaled blocks, sparse
 * matrices, .ws, .ashift and masks of zero columns. The reference computes d from matrices in plain arrays. It writes
 * them to shared and tensor memory by the rules of PTX ISA 9.7.16.10.5, .7 and .8, and by the layouts that the headers
 * of CUTLASS publish (mma_traits_sm100_frag.hpp): the lanes of each row, the bytes of the scales, and the bits of the
 * metadata. Sums are chains of fma() in f64, so results must be equal bit for bit. */
#include "host/heddle.h"
#include "test/every_model.h"
#include "test/isa/exec/float_ref.h"
#include "test/test.h"
#include <math.h>
#include <stdarg.h>
#include <stdio.h>

enum { IMAGE = 16384, B_AT = 8192, THREADS = 128, LANES = 128, COLUMNS = 128, MOST_N = 64, MOST_K = 128, CTAS = 2 };
enum { A_AT = 64, METADATA_AT = 80, SCALE_A_AT = 88, SCALE_B_AT = 104 }; /* columns of tensor memory; d begins at 0 */

struct text {
    char at[32768];
    size_t n;
};
static void add(struct text *t, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void add(struct text *t, const char *format, ...) {
    va_list args;
    va_start(args, format);
    t->n += (size_t)vsnprintf(t->at + t->n, sizeof t->at - t->n, format, args);
    va_end(args);
    ck_assert_uint_lt(t->n, sizeof t->at);
}

/* A format of elements: its bits of exponent and mantissa, and its code in the instruction descriptor. */
struct format {
    const char *name;
    int exponent, mantissa, bias, code;
};
enum { F16, TF32, E4M3, E5M2, E2M3, E3M2, E2M1, INTEGER, PACKED };
static const struct format formats[] = {{"f16", 5, 10, 15, 0}, {"tf32", 8, 10, 127, 2}, {"e4m3", 4, 3, 7, 0},
                                        {"e5m2", 5, 2, 15, 1}, {"e2m3", 2, 3, 1, 3},    {"e3m2", 3, 2, 3, 4},
                                        {"e2m1", 2, 1, 1, 5},  {"s8", 0, 0, 0, 1},      {"e2m1", 2, 1, 1, 1}};

static double decode(int f, unsigned v) {
    const struct format *t = &formats[f];
    if (f == INTEGER)
        return (int8_t)v;
    const int e = (int)(v >> t->mantissa & ((1u << t->exponent) - 1)), m = (int)(v & ((1u << t->mantissa) - 1));
    const double x = e ? ldexp((1 << t->mantissa) + m, e - t->bias - t->mantissa) : ldexp(m, 1 - t->bias - t->mantissa);
    return v >> (t->mantissa + t->exponent) & 1 ? -x : x;
}

/* Returns random bits of a number that is finite and of moderate size. */
static unsigned draw_bits(int f, uint64_t *g) {
    const unsigned r = (unsigned)test_random(g);
    switch (f) {
    case F16:
        return (r & 0x83ff) | (12 + (r >> 16) % 7) << 10;
    case TF32:
        return (r & 0x403ff) | (124 + (r >> 20) % 7) << 10;
    case E4M3:
        return (r & 127) == 127 ? 0 : r & 255;
    case E5M2:
        return (r & 0x7c) == 0x7c ? 0 : r & 255;
    case INTEGER:
        return r & 255;
    default:
        return r & ((2u << (formats[f].exponent + formats[f].mantissa)) - 1);
    }
}

struct kind {
    const char *name; /* kind and modifiers */
    int a, b, bits;   /* formats of a and b; bits of an element in memory */
    int scales;       /* scales along k; 0: none */
    bool ue4m3;
};
static const struct kind kinds[] = {{"f16", F16, F16, 16, 0, false},
                                    {"tf32", TF32, TF32, 32, 0, false},
                                    {"f8f6f4", E4M3, E2M1, 8, 0, false},
                                    {"f8f6f4", E2M3, E5M2, 8, 0, false},
                                    {"i8", INTEGER, INTEGER, 8, 0, false},
                                    {"mxf8f6f4.block_scale", E5M2, E4M3, 8, 1, false},
                                    {"mxf8f6f4.block_scale.block32", E3M2, E2M1, 8, 1, false},
                                    {"mxf4.block_scale", PACKED, PACKED, 4, 2, false},
                                    {"mxf4nvf4.block_scale.scale_vec::2X", PACKED, PACKED, 4, 2, false},
                                    {"mxf4nvf4.block_scale.scale_vec::4X", PACKED, PACKED, 4, 4, true},
                                    {"mxf4nvf4.block_scale.block16", PACKED, PACKED, 4, 4, false}};
enum { KINDS = sizeof kinds / sizeof kinds[0], FIRST_SCALED = 5 };

struct job {
    const struct kind *kind;
    int m, n, k, scales, id_a, id_b, selector, shift;
    bool pair, sparse, weights, ashift, in_tensor, adds, k96;
    uint64_t zeros; /* zero-column mask descriptor; 0: none */
    bool zero[MOST_N];
    double a[256][MOST_K], b[MOST_N + 32][MOST_K], scale_a[256][6], scale_b[MOST_N][6];
    bool kept[256][MOST_K];
};
static unsigned char image[CTAS][IMAGE];
static uint32_t words[CTAS][LANES][COLUMNS], before[CTAS][LANES][COLUMNS];

/* ---- places ---- */

static int rows_of(const struct job *j) { return j->pair ? j->m / 2 : j->m; }
static int groups_of(const struct job *j) {
    return j->weights ? 128 / j->m : j->pair && j->m == 128 && !j->sparse ? 2 : 1;
}

/* Returns the lane that holds row `row` of a CTA in group `group` of lanes. */
static int lane_of(const struct job *j, int row, int group) {
    if (rows_of(j) == 64 && groups_of(j) == 1)
        return row / 16 * 32 + row % 16;
    return row + 128 / groups_of(j) * group;
}

/* Writes `bits` bits at bit `at`. */
static void put_bits(unsigned char *to, long at, unsigned v, int bits) {
    for (int i = 0; i < bits; i++)
        to[(at + i) / 8] = (unsigned char)((to[(at + i) / 8] & ~(1 << (at + i) % 8)) | (v >> i & 1) << (at + i) % 8);
}

static int own_bits(int f) { return f == INTEGER ? 8 : 1 + formats[f].exponent + formats[f].mantissa; }

/* Writes element (line, k) of a matrix without swizzle: eight lines of 16 bytes, then the next 16 bytes of these lines.
 * A tf32 is in the upper bits of its word. Numbers of 4 and 6 bits have no gaps: 16 of them are in the first bytes of a
 * chunk of 16 bytes. */
static void put_shared(unsigned char *to, const struct job *j, int f, int line, int k, int k_all, unsigned v) {
    const int per = 128 / j->kind->bits, chunks = k_all / per, bits = own_bits(f);
    const long chunk = ((long)(line / 8) * chunks + k / per) * 128 + line % 8 * 16;
    const int width = j->kind->bits == 8 ? bits : j->kind->bits;
    put_bits(to, chunk * 8 + (long)(k % per) * width + (f == TF32 ? 13 : 0), v, bits);
}

/* Writes element k of a lane of tensor memory. Numbers of 6 bits are in bytes, numbers of 4 bits in bits 2 to 5. */
static void put_tensor(uint32_t *lane, const struct job *j, int f, int column, int k, unsigned v) {
    const long at = (long)k * j->kind->bits + (f == TF32 ? 13 : f == E2M1 ? 2 : 0);
    put_bits((unsigned char *)(lane + column), at, v, own_bits(f));
}

/* ---- matrices ---- */

/* Draws the positions of the stored elements of a group of a sparse row, and writes the metadata. Returns four bits. */
static unsigned draw_group(const struct job *j, uint64_t *g) {
    static const unsigned pairs[] = {4, 8, 12, 9, 13, 14};
    return j->kind->bits == 32 ? (test_random(g) % 2 ? 14 : 4) : pairs[test_random(g) % 6];
}

static void put_metadata(const struct job *j, int cta, int row, int group, unsigned v) {
    for (int g = 0; g < groups_of(j); g++) {
        int lane = lane_of(j, row, g), column = METADATA_AT + group / 8, bit = group % 8 * 4;
        if (j->kind->bits >= 16) {
            lane = lane_of(j, row / 16 * 16, g) + row % 8 + group / 4 * 8;
            column = METADATA_AT + j->selector;
            bit = row % 16 / 8 * 16 + group % 4 * 4;
        }
        put_bits((unsigned char *)&words[cta][lane][column], bit, v, 4);
    }
}

static void put_a(struct job *j, int i, int stored, int k_stored, unsigned v) {
    const int cta = i / rows_of(j), row = i % rows_of(j);
    if (!j->in_tensor)
        put_shared(image[cta], j, j->kind->a, row, stored, k_stored, v);
    for (int g = 0; g < groups_of(j) && j->in_tensor; g++)
        put_tensor(words[cta][lane_of(j, row, g)], j, j->kind->a, A_AT, stored, v);
}

static void draw_a(struct job *j, uint64_t *g) {
    const int bits = j->kind->bits, of = bits == 32 ? 2 : bits == 4 ? 8 : 4, stored = j->sparse ? j->k / 2 : j->k;
    for (int i = 0; i < j->m; i++)
        for (int k = 0; k < j->k; k += of) {
            const unsigned where = j->sparse ? draw_group(j, g) : 0;
            int at = k / of * (of / 2);
            if (j->sparse)
                put_metadata(j, i / rows_of(j), i % rows_of(j), k / of, where);
            for (int x = 0; x < of; x++) {
                const unsigned place = (unsigned)(bits == 4 ? x / 2 : x);
                const bool keep = !j->sparse || (bits == 32 ? where >> 3 == (unsigned)x
                                                            : place == (where & 3) || place == where >> 2);
                const unsigned v = draw_bits(j->kind->a, g);
                j->kept[i][k + x] = keep;
                j->a[i][k + x] = keep ? decode(j->kind->a, v) : 0;
                if (keep)
                    put_a(j, i, j->sparse ? at++ : k + x, stored, v);
            }
        }
}

static void draw_b(struct job *j, uint64_t *g) {
    const int of = j->pair ? j->n / 2 : j->n;
    for (int c = 0; c < j->n + (j->weights ? 32 : 0); c++)
        for (int k = 0; k < j->k; k++) {
            const unsigned v = draw_bits(j->kind->b, g);
            j->b[c][k] = decode(j->kind->b, v);
            put_shared(image[j->pair ? c / of : 0] + B_AT, j, j->kind->b, j->pair ? c % of : c, k, j->k, v);
        }
}

static unsigned draw_scale(const struct job *j, uint64_t *g, double *value) {
    const unsigned r = (unsigned)test_random(g);
    const unsigned v = j->kind->ue4m3 ? r % 127 : 120 + r % 14;
    *value = j->kind->ue4m3 ? decode(E4M3, v) : ldexp(1, (int)v - 127);
    return v;
}

/* Writes byte `byte` of line `line` of `lines` lines, in the 32 lanes of `part`. */
static void put_scale(uint32_t cells[LANES][COLUMNS], int column, int lines, int line, int byte, int part, unsigned v) {
    const int at = column + line / 32 + byte / 4 * ((lines + 31) / 32);
    put_bits((unsigned char *)&cells[part * 32 + line % 32][at], byte % 4 * 8, v, 8);
}

static void draw_scales(struct job *j, uint64_t *g) {
    const int rows = rows_of(j), halves = groups_of(j), of = j->n / halves;
    for (int i = 0; i < j->m; i++)
        for (int s = 0; s < j->scales; s++) {
            const unsigned v = draw_scale(j, g, &j->scale_a[i][s]);
            for (int part = 0; part < 4; part++)
                put_scale(words[i / rows], SCALE_A_AT, rows, i % rows, j->id_a + s, part, v);
        }
    for (int c = 0; c < j->n; c++)
        for (int s = 0; s < j->scales; s++) {
            const unsigned v = draw_scale(j, g, &j->scale_b[c][s]);
            for (int cta = 0; cta < (j->pair ? 2 : 1); cta++)
                for (int part = 0; part < 4; part++)
                    if (halves == 1 || part / 2 == c / of)
                        put_scale(words[cta], SCALE_B_AT, of, c % of, j->id_b + s, part, v);
        }
}

/* ---- the kernel ---- */

static void list(struct text *t, int n) {
    for (int i = 0; i < n; i++)
        add(t, "%s%%r%d", i ? "," : "{", i);
    add(t, "}");
}

static void kernel(const struct job *j, struct text *t) {
    const int of = j->pair ? 2 : 1;
    const char *all = j->pair ? "barrier.cluster.arrive; barrier.cluster.wait;" : "bar.sync 0;";
    t->n = 0;
    add(t,
        ".version 9.0\n.target sm_100a\n.address_size 64\n.visible .entry k(.param .u64 image, .param .u64 "
        "in, "
        ".param .u64 out, .param .u64 da, .param .u64 db, .param .u64 zeros, .param .u32 what) {\n"
        ".shared .align 1024 .b8 s[%d];\n.reg .b64 %%d<12>; .reg .b32 %%r<128>, %%t<16>; .reg .b16 %%h; .reg .pred "
        "%%p, "
        "%%q, %%one;\nld.param.u64 %%d0, [image]; ld.param.u64 %%d1, [in]; ld.param.u64 %%d5, [out]; ld.param.u64 "
        "%%d2, "
        "[da]; ld.param.u64 %%d3, [db]; ld.param.u64 %%d8, [zeros]; ld.param.u32 %%t6, [what];\n"
        "mov.u32 %%t0, %%tid.x; mov.u32 %%t1, %%ctaid.x; mad.lo.u32 %%t2, %%t1, %d, %%t0; setp.eq.u32 %%one, %%t2, 0;\n"
        "mul.wide.u32 %%d6, %%t2, %d; add.u64 %%d1, %%d1, %%d6; add.u64 %%d5, %%d5, %%d6;\n"
        "mul.wide.u32 %%d6, %%t1, %d; add.u64 %%d0, %%d0, %%d6; mul.wide.u32 %%d6, %%t0, 4; add.u64 %%d0, %%d0, %%d6;\n"
        "shl.b32 %%t0, %%t0, 2; mov.u32 %%t2, s; add.u32 %%t2, %%t2, %%t0;\n"
        "L: ld.global.u32 %%t3, [%%d0]; st.shared.u32 [%%t2+1024], %%t3; add.u64 %%d0, %%d0, 512; add.u32 %%t2, %%t2, "
        "512; add.u32 %%t0, %%t0, 512; setp.lt.u32 %%q, %%t0, %d; @%%q bra L;\n"
        "mov.u32 %%t0, %%tid.x; shr.u32 %%t4, %%t0, 5; setp.ne.u32 %%q, %%t4, 0; @%%q bra M;\n"
        "tcgen05.alloc.cta_group::%d.sync.aligned.shared::cta.b32 [s], %d;\n"
        "tcgen05.relinquish_alloc_permit.cta_group::%d.sync.aligned;\nsetp.ne.u32 %%q, %%t0, 0; @%%q bra M; "
        "mbarrier.init.shared.b64 [s+8], 1;\nM: bar.sync 0; ld.shared.u32 %%t5, [s]; mov.u32 %%t7, %%t5; shl.b32 %%t4, "
        "%%t4, 21; add.u32 %%t5, %%t5, %%t4;\n",
        IMAGE + 1024, THREADS, 4 * COLUMNS, IMAGE, IMAGE, of, COLUMNS, of);
    for (int i = 0; i < COLUMNS; i++)
        add(t, "ld.global.u32 %%r%d, [%%d1+%d];\n", i, 4 * i);
    add(t, "tcgen05.st.sync.aligned.32x32b.x128.b32 [%%t5], ");
    list(t, COLUMNS);
    add(t,
        ";\ntcgen05.wait::st.sync.aligned; %s\nadd.u32 %%t8, %%t7, %d; add.u32 %%t9, %%t7, %d; add.u32 %%t10, %%t7, "
        "%d; "
        "add.u32 %%t11, %%t7, %d; setp.ne.u32 %%p, %%t0, %d; mov.u16 %%h, 3; @!%%one bra W;\n",
        all, A_AT, METADATA_AT, SCALE_A_AT, SCALE_B_AT, j->adds ? THREADS : 0);
    add(t, "tcgen05.mma%s%s.cta_group::%d.kind::%s%s [%%t7], %s, %%d3, ", j->weights ? ".ws" : "",
        j->sparse ? ".sp" : "", of, j->kind->name, j->ashift ? ".ashift" : "", j->in_tensor ? "[%t8]" : "%d2");
    add(t, "%s%%t6, %s%%p%s;\n", j->sparse ? "[%t9], " : "", j->scales ? "[%t10], [%t11], " : "",
        j->zeros ? ", %d8" : "");
    add(t, "tcgen05.commit.cta_group::%d.mbarrier::arrive::one.shared::cluster%s.b64 [s+8]%s;\n", of,
        j->pair ? ".multicast::cluster" : "", j->pair ? ", %h" : "");
    add(t, "W: mbarrier.try_wait.parity.shared.b64 %%q, [s+8], 0; @!%%q bra W; tcgen05.fence::after_thread_sync;\n"
           "bar.sync 0;\ntcgen05.ld.sync.aligned.32x32b.x128.b32 ");
    list(t, COLUMNS);
    add(t, ", [%%t5]; tcgen05.wait::ld.sync.aligned;\n");
    for (int i = 0; i < COLUMNS; i++)
        add(t, "st.global.u32 [%%d5+%d], %%r%d;\n", 4 * i, i);
    add(t,
        "%s\nsetp.ge.u32 %%q, %%t0, 32; @%%q bra E; tcgen05.dealloc.cta_group::%d.sync.aligned.b32 %%t7, %d;\nE: "
        "ret;\n}\n",
        all, of, COLUMNS);
}

static uint64_t descriptor(int at, int chunks) {
    return (uint64_t)(at + 1024) >> 4 | 128ull >> 4 << 16 | (uint64_t)(128 * chunks) >> 4 << 32 | 1ull << 46;
}

static uint32_t instruction(const struct job *j) {
    const int a = formats[j->kind->a].code, b = formats[j->kind->b].code;
    const uint32_t common = (uint32_t)(j->sparse << 2 | a << 7 | b << 10 | j->n / 8 << 17);
    if (!j->scales)
        return common | (uint32_t)j->selector | (j->kind->a == INTEGER ? 2u : 1u) << 4 | (uint32_t)(j->m / 16) << 24 |
               (j->shift ? 3u << 30 : 0);
    return common | (uint32_t)(j->id_b << 4 | (int)!j->kind->ue4m3 << 23 | j->m / 128 << 27 | j->id_a << 29) |
           (uint32_t)j->k96 << 31;
}

static struct heddle *open_model(const char *model) {
    char err[512];
    struct heddle *h = heddle_open(&(struct heddle_options){.model = model, .cycle_limit = 1000000}, err, sizeof err);
    ck_assert_msg(h != NULL, "%s", err);
    return h;
}

static void run(struct heddle *h, const struct job *j) {
    static struct text t;
    const int chunks = j->k * j->kind->bits / 128;
    uint64_t from = heddle_alloc(h, sizeof image), in = heddle_alloc(h, sizeof words),
             out = heddle_alloc(h, sizeof words), da = descriptor(0, j->sparse ? chunks / 2 : chunks),
             db = descriptor(B_AT, chunks), zeros = j->zeros;
    uint32_t what = instruction(j);
    struct heddle_arg args[] = {{&from, 8}, {&in, 8}, {&out, 8}, {&da, 8}, {&db, 8}, {&zeros, 8}, {&what, 4}};
    struct heddle_dim ctas = {j->pair ? 2 : 1, 1, 1}, threads = {THREADS, 1, 1};
    heddle_write(h, from, image, sizeof image);
    heddle_write(h, in, words, sizeof words);
    heddle_write(h, out, words, sizeof words);
    kernel(j, &t);
    struct heddle_module *m = heddle_module_text(h, "t.ptx", t.at, t.n);
    EXPECT(m != NULL, "%s\n%s", heddle_error(h), t.at);
    ck_assert_int_eq(heddle_set_clusters(h, ctas, false), HEDDLE_OK);
    EXPECT(heddle_launch(h, m, "k", ctas, threads, 0, args, 7) == HEDDLE_OK, "%s\n%s", heddle_error(h), t.at);
    heddle_read(h, out, words, sizeof words);
    heddle_free(h, from);
    heddle_free(h, in);
    heddle_free(h, out);
}

/* ---- the reference ---- */

static uint32_t sum_of(const struct job *j, int i, int c, uint32_t d) {
    const int rows = rows_of(j), row = j->ashift && i % rows + 1 < rows ? i + 1 : i;
    double sum = !j->adds ? 0 : j->kind->a == INTEGER ? (double)(int32_t)d : float_decode(T_F32, d);
    for (int k = 0; k < j->k; k++) {
        const double b = j->zero[c] ? 0 : j->b[c + j->shift][k];
        const int block = j->scales ? j->k / j->scales : 1, s = k / block;
        const double x = j->scales ? j->a[row][k] * j->scale_a[i][s] : j->a[row][k];
        if (j->kept[row][k])
            sum = fma(x, j->scales ? b * j->scale_b[c][s] : b, sum);
    }
    const float rounded = (float)sum;
    uint32_t bits;
    memcpy(&bits, &rounded, sizeof bits);
    return j->kind->a == INTEGER ? (uint32_t)(int64_t)sum : sum != sum ? 0x7fffffff : bits;
}

static void compare(const struct job *j) {
    static bool is_d[CTAS][LANES][COLUMNS];
    const int rows = rows_of(j), of = j->n / groups_of(j);
    memset(is_d, 0, sizeof is_d);
    for (int i = 0; i < j->m; i++)
        for (int c = 0; c < j->n; c++) {
            const int cta = i / rows, lane = lane_of(j, i % rows, c / of), column = c % of;
            const uint32_t want = sum_of(j, i, c, before[cta][lane][column]), have = words[cta][lane][column];
            is_d[cta][lane][column] = true;
            EXPECT(have == want, "row %d column %d: %08x, not %08x", i, c, have, want);
        }
    for (int cta = 0; cta < CTAS; cta++)
        for (int lane = 0; lane < LANES; lane++)
            for (int c = 0; c < COLUMNS; c++)
                EXPECT(is_d[cta][lane][c] || words[cta][lane][c] == before[cta][lane][c],
                       "CTA %d lane %d column %d changed", cta, lane, c);
}

/* Fills tensor memory with numbers, to detect wrong writes to other cells, and runs the job. */
static void multiply(struct heddle *h, struct job *j, uint64_t *g) {
    const bool integers = j->kind->a == INTEGER;
    memset(image, 0, sizeof image);
    for (int cta = 0; cta < CTAS; cta++)
        for (int l = 0; l < LANES; l++)
            for (int c = 0; c < COLUMNS; c++)
                words[cta][l][c] = integers ? (uint32_t)test_random(g) % 1000
                                            : (uint32_t)float_encode(T_F32, (double)(test_random(g) % 4001) / 16 - 125);
    draw_a(j, g);
    draw_b(j, g);
    draw_scales(j, g);
    memcpy(before, words, sizeof words);
    test_case("%s m %d n %d k %d pair %d sparse %d ws %d ashift %d tensor %d ids %d %d selector %d zeros %llx",
              j->kind->name, j->m, j->n, j->k, j->pair, j->sparse, j->weights, j->ashift, j->in_tensor, j->id_a,
              j->id_b, j->selector, (unsigned long long)j->zeros);
    run(h, j);
    compare(j);
}

/* Draws a job of this kind. */
static void draw(struct job *j, int kind, bool pair, bool weights, uint64_t *g) {
    memset(j, 0, sizeof *j);
    j->kind = &kinds[kind];
    j->pair = pair;
    j->weights = weights;
    j->sparse = test_random(g) % 2;
    j->in_tensor = test_random(g) % 2;
    j->adds = test_random(g) % 2;
    j->scales = j->kind->scales;
    j->m = weights     ? 32 << test_random(g) % 3
           : pair      ? (j->scales && j->sparse) || test_random(g) % 2 ? 256 : 128
           : j->scales ? 128
                       : 64 << test_random(g) % 2;
    j->n = weights ? 64 : 32 * (1 + (int)(test_random(g) % 2));
    j->k = 256 / j->kind->bits << j->sparse;
    j->ashift = j->in_tensor && !weights && !j->scales && j->m >= 128 && test_random(g) % 2;
    j->selector = j->sparse && j->kind->bits >= 16 ? (int)(test_random(g) % 4) : 0;
    const int step = j->scales == 1 ? 1 : j->scales == 2 ? 2 : 4;
    j->id_a = step * (int)(test_random(g) % (4 / (unsigned)step));
    j->id_b = step * (int)(test_random(g) % (4 / (unsigned)step));
}

START_TEST(pairs_of_ctas) {
    static struct job j;
    struct heddle *h = open_model("functional");
    uint64_t g = (uint64_t)_i + 11;
    for (int i = 0; i < 6; i++) {
        draw(&j, _i, true, false, &g);
        multiply(h, &j, &g);
    }
    heddle_close(h);
}
END_TEST

START_TEST(one_cta) {
    static struct job j;
    struct heddle *h = open_model("functional");
    uint64_t g = (uint64_t)_i + 12;
    for (int i = 0; i < 6; i++) {
        draw(&j, _i, false, false, &g);
        multiply(h, &j, &g);
    }
    heddle_close(h);
}
END_TEST

/* With k = 96, a row has three or six scales. The fifth and later scales are in the columns after the first four. */
START_TEST(products_with_k_96) {
    static struct job j;
    struct heddle *h = open_model("functional");
    uint64_t g = 13;
    for (int kind = FIRST_SCALED + 2; kind < KINDS; kind++) {
        draw(&j, kind, true, false, &g);
        j.sparse = false;
        j.m = 256;
        j.k = 96;
        j.k96 = true;
        j.scales = j.kind->scales * 3 / 2;
        j.id_a = j.scales == 3 ? 3 : 2;
        j.id_b = j.scales == 3 ? 1 : 0;
        multiply(h, &j, &g);
    }
    heddle_close(h);
}
END_TEST

/* Sets the mask of zero columns from spans, column by column. */
static void draw_zeros(struct job *j, uint64_t *g) {
    const int skip = 1 + (int)(test_random(g) % 9), use = 1 + (int)(test_random(g) % 9), groups = groups_of(j);
    j->shift = (int)(test_random(g) % 17);
    j->zeros = 1ull << 39 | (uint64_t)(skip - 1) << 40 | (uint64_t)(use - 1) << 48 | (uint64_t)j->shift << 56;
    for (int x = 0; x < groups; x++) {
        const int start = (int)(test_random(g) % (unsigned)(skip + use)), first = (int)(test_random(g) % 2);
        j->zeros |= (uint64_t)start << 8 * x | (uint64_t)first << (32 + x);
        bool zero = first;
        int left = first ? skip : use;
        for (int c = -start; c < j->n / groups; c++) {
            if (!left) {
                zero = !zero;
                left = zero ? skip : use;
            }
            left--;
            if (c >= 0)
                j->zero[x * (j->n / groups) + c] = zero;
        }
    }
}

START_TEST(weight_stationary) {
    static struct job j;
    struct heddle *h = open_model("functional");
    uint64_t g = (uint64_t)_i + 14;
    for (int i = 0; i < 8; i++) {
        draw(&j, _i, false, true, &g);
        if (i % 2)
            draw_zeros(&j, &g);
        multiply(h, &j, &g);
    }
    heddle_close(h);
}
END_TEST

START_TEST(every_model) {
    static struct job j;
    struct heddle *h = open_model(timed_models()->name[_i]);
    uint64_t g = (uint64_t)_i + 15;
    draw(&j, (int)(test_random(&g) % KINDS), true, false, &g);
    multiply(h, &j, &g);
    heddle_close(h);
}
END_TEST

/* Infinities and NaN of b are not multiplied by the zeros that a sparse matrix a does not store. */
START_TEST(zeros_that_are_not_stored) {
    static struct job j;
    struct heddle *h = open_model("functional");
    uint64_t g = 16;
    draw(&j, 0, false, false, &g);
    j.sparse = true;
    j.k = 32;
    j.m = 128;
    memset(image, 0, sizeof image);
    memset(words, 0, sizeof words);
    draw_a(&j, &g);
    draw_b(&j, &g);
    for (int c = 0; c < j.n; c++) { /* one infinity in each column; half of the rows have no stored element for it */
        const int k = (int)(test_random(&g) % 32);
        put_shared(image[0] + B_AT, &j, F16, c, k, j.k, 0x7c00);
        j.b[c][k] = INFINITY;
    }
    memcpy(before, words, sizeof words);
    run(h, &j);
    compare(&j);
    heddle_close(h);
}
END_TEST

SUITE(isa_exec_exec_tcgen05_mma) {
    TEST_LOOP(one_cta, 0, KINDS);
    TEST_LOOP(pairs_of_ctas, 0, KINDS);
    TEST(products_with_k_96);
    TEST_LOOP(weight_stationary, 0, FIRST_SCALED);
    TEST(zeros_that_are_not_stored);
    TEST_LOOP(every_model, 0, timed_models()->n);
}
