/* Tests wgmma.mma_async against a triple loop in C.
 * - The reference finds elements in shared memory by the canonical layouts of PTX ISA 9.7.15.5.1.2, which are nested
 *   shapes with strides in units of elements, and exchanges chunks by the number of their row in the pattern. The
 *   simulator adds byte strides and exclusive-ors bits of the address.
 * - It places fragments by the formulas of the manual: lane 4 g + t of warp w has the elements of rows 16 w + g and
 *   16 w + g + 8.
 * - Integers must match bit for bit. So must products of small whole numbers, and NaN and infinity. The error of other
 *   sums may be the rounding of d, plus one f64 rounding for each product. */
#include "host/heddle.h"
#include "isa/decode.h"
#include "test/every_model.h"
#include "test/isa/exec/float_ref.h"
#include "test/isa/exec/text.h"
#include <math.h>
#include <stdio.h>

enum { IMAGE = 65536, SMALL_IMAGE = 40960, THREADS = 128, MOST_K = 256, MOST_N = 256, ROWS = 64, MOST_WORDS = 144 };

static const struct kind {
    const char *types, *after; /* the types of d, a and b in the opcode, and the text after these types */
    int d, a, b;               /* enum type */
    int k;
    bool has_scales, has_trans;
} kinds[] = {
    {"f32.f16.f16", "", T_F32, T_F16, T_F16, 16, true, true},
    {"f16.f16.f16", "", T_F16, T_F16, T_F16, 16, true, true},
    {"f32.bf16.bf16", "", T_F32, T_BF16, T_BF16, 16, true, true},
    {"f32.tf32.tf32", "", T_F32, T_TF32, T_TF32, 8, true, false},
    {"f32.e4m3.e4m3", "", T_F32, T_E4M3, T_E4M3, 32, true, false},
    {"f32.e4m3.e5m2", "", T_F32, T_E4M3, T_E5M2, 32, true, false},
    {"f32.e5m2.e4m3", "", T_F32, T_E5M2, T_E4M3, 32, true, false},
    {"f16.e5m2.e5m2", "", T_F16, T_E5M2, T_E5M2, 32, true, false},
    {"f16.e4m3.e5m2", "", T_F16, T_E4M3, T_E5M2, 32, true, false},
    {"s32.s8.s8", "", T_S32, T_S8, T_S8, 32, false, false},
    {"s32.u8.s8", "", T_S32, T_U8, T_S8, 32, false, false},
    {"s32.s8.u8", ".satfinite", T_S32, T_S8, T_U8, 32, false, false},
    {"s32.u8.u8", ".satfinite", T_S32, T_U8, T_U8, 32, false, false},
    {"s32.b1.b1", ".and.popc", T_S32, T_B1, T_B1, 256, false, false},
};
enum { KINDS = sizeof kinds / sizeof kinds[0] };

static int bits_of_type(int t) {
    return t == T_B1 ? 1 : t == T_F16 || t == T_BF16 ? 16 : t == T_TF32 || t == T_F32 ? 32 : 8;
}

/* A product: `row` is the width of the swizzle of a and b (16: none). */
struct job {
    const struct kind *kind;
    int n, k; /* k: logical columns of a */
    bool registers, sparse, selector, across[2], negate[2];
    int scale_d; /* 0 or 1 as a constant, 2 or 3 as a predicate */
    int row[2];
    const char *model;
    double a[ROWS][MOST_K], b[MOST_K][MOST_N], d[ROWS][MOST_N];
    int stored[ROWS][MOST_K / 2]; /* sparse: column of each stored element */
};

/* ---- numbers ---- */

static double number(int t, uint64_t bits) {
    switch (t) {
    case T_S8:
        return (int8_t)bits;
    case T_U8:
    case T_B1:
        return (double)bits;
    case T_S32:
        return (int32_t)bits;
    case T_TF32:
        return float_decode(T_F32, bits & 0xffffe000);
    case T_E4M3: /* sign, four bits of exponent with bias 7, three of mantissa; 0x7f is NaN */
        if ((bits & 127) == 127)
            return NAN;
        return (bits & 128 ? -1 : 1) * (bits >> 3 & 15 ? ldexp(8 + (double)(bits & 7), (int)(bits >> 3 & 15) - 10)
                                                       : ldexp((double)(bits & 7), -9));
    case T_E5M2:
        return float_decode(T_F16, bits << 8);
    default:
        return float_decode((enum type)t, bits);
    }
}

/* Returns random bits of a number of type t. With `special`, any bits; otherwise integers so small that all sums are
 * exact. */
static uint64_t any_bits(uint64_t *g, int t, bool special) {
    const uint64_t r = test_random(g);
    const int v = (int)(r % 5) - 2;
    if (t == T_B1)
        return r >> 40 & 1;
    if (t == T_S8 || t == T_U8)
        return r & 255;
    if (special && t != T_TF32 && t != T_F32)
        return r & ((1u << bits_of_type(t)) - 1);
    if (special)
        return (r & 0x807fffff) | (120 + (r >> 40) % 14) << 23;
    if (t == T_E4M3) /* 1 is 0x38, 2 is 0x40 */
        return v == 0 ? 0 : (uint64_t)((v < 0 ? 128 : 0) | (v == 1 || v == -1 ? 0x38 : 0x40));
    if (t == T_E5M2)
        return v == 0 ? 0 : (uint64_t)((v < 0 ? 128 : 0) | (v == 1 || v == -1 ? 0x3c : 0x40));
    return float_encode(t == T_TF32 ? T_F32 : (enum type)t, v);
}

/* ---- matrices in shared memory ---- */

struct place {
    int base, leading, stride, row, bits; /* bytes, and bits of an element */
    bool across;
    int base_offset;
};

/* Returns the bit of the image where element (line, k) begins; line is a row of a or a column of b. */
static long place_of(const struct place *p, int line, int k) {
    const int t = 128 / p->bits, chunks = p->row / 16; /* elements in 128 bits; chunks in a row of the swizzle */
    /* chunk: number of units of 128 bits from the start; line_in_pattern: number of the line, of eight */
    long chunk, line_in_pattern;
    int within;
    if (p->across) { /* ((T,w,m),(8,k)) : ((1,T,LBO),(wT,SBO)); without swizzle ((T,1,m),(8,k)) : ((1,T,SBO),(T,LBO)) */
        const int x = line / t;
        within = line % t;
        line_in_pattern = k % 8;
        chunk = chunks == 1 ? (long)x * (p->stride / 16) + line_in_pattern + (long)(k / 8) * (p->leading / 16)
                            : x % chunks + (long)(x / chunks) * (p->leading / 16) + line_in_pattern * chunks +
                                  (long)(k / 8) * (p->stride / 16);
    } else { /* ((8,m),(T,2k)) : ((wT,SBO),(1,T)); without swizzle ((8,m),(T,2k)) : ((T,SBO),(1,LBO)) */
        const int x = k / t;
        within = k % t;
        line_in_pattern = line % 8;
        chunk = chunks == 1 ? line_in_pattern + (long)(line / 8) * (p->stride / 16) + (long)x * (p->leading / 16)
                            : x + line_in_pattern * chunks + (long)(line / 8) * (p->stride / 16);
    }
    /* the pattern: eight rows of 128 bytes; the chunk's number within the swizzled row is exchanged by the row */
    const long at = p->base / 16 + chunk, row = (at / 8 - p->base_offset + 8) % 8;
    const long low = at % chunks, exchanged = low ^ (row & (chunks - 1));
    return (at - low + exchanged) * 128 + (long)within * p->bits;
}

static void put_bits(unsigned char *image, long at, int bits, uint64_t v) {
    ck_assert_int_le(at + bits, 8L * IMAGE);
    if (bits == 1)
        image[at / 8] = (unsigned char)(image[at / 8] | v << at % 8);
    else
        memcpy(image + at / 8, &v, (size_t)bits / 8);
}

static uint64_t descriptor(const struct place *p) {
    const uint64_t mode = p->row == 128 ? 1 : p->row == 64 ? 2 : p->row == 32 ? 3 : 0;
    return (uint64_t)p->base >> 4 | (uint64_t)p->leading >> 4 << 16 | (uint64_t)p->stride >> 4 << 32 |
           (uint64_t)p->base_offset << 49 | mode << 62;
}

/* Chooses a layout without overlap for `lines` lines of `bytes` bytes of K. Gaps between the parts vary with `gap`. */
static struct place layout(int base, int lines, int k, int bits, bool across, int row, int gap, int base_offset) {
    const int t = 128 / bits, chunks = row / 16;
    struct place p = {base, 16, 16, row, bits, across, base_offset};
    if (across && chunks == 1) {
        p.stride = 128;                           /* next 8 elements along M or N */
        p.leading = 128 * (lines / t) + 16 * gap; /* next 8 along K */
    } else if (across) {
        p.stride = 8 * row; /* next 8 along K */
        p.leading = p.stride * (k / 8) + 1024 * (gap != 0);
    } else if (chunks == 1) {
        p.leading = 128; /* next 16 bytes along K */
        p.stride = 128 * (k / t) + 16 * gap;
    } else {
        p.stride = 8 * row + (lines > 64 ? 0 : 1024 * (gap != 0));
    }
    return p;
}

/* ---- the kernel ---- */

static void add_list(struct text *t, int first, int n) {
    for (int i = 0; i < n; i++)
        add(t, "%s%%r%d", i ? "," : "{", first + i);
    add(t, "}");
}

static int registers_of_d(const struct job *j) { return j->kind->d == T_F16 ? j->n / 4 : j->n / 2; }

/* Returns the bytes of shared memory: small products fit into every machine. */
static int image_of(const struct job *j) { return j->n > 64 ? IMAGE : SMALL_IMAGE; }

/* Registers of a thread in global memory: d, four of a, metadata. Word i of all threads is at 512 i. */
static void kernel_text(const struct job *j, struct text *t) {
    const int n = registers_of_d(j);
    t->n = 0;
    add(t,
        ".version 9.0\n.target sm_90a\n.address_size 64\n.visible .entry k(.param .u64 image, .param .u64 regs, "
        ".param .u64 da, .param .u64 db, .param .u32 p) {\n.shared .align 1024 .b8 s[%d];\n.reg .b64 %%d<8>;\n"
        ".reg .b32 %%r<160>, %%t<4>;\n.reg .pred %%p, %%q;\nld.param.u64 %%d0, [image]; ld.param.u64 %%d1, [regs];\n"
        "ld.param.u64 %%d2, [da]; ld.param.u64 %%d3, [db]; ld.param.u32 %%t1, [p]; setp.ne.u32 %%p, %%t1, 0;\n"
        "mov.u32 %%t0, %%tid.x; shl.b32 %%t0, %%t0, 2; cvt.u64.u32 %%d4, %%t0; add.u64 %%d1, %%d1, %%d4;\n"
        "mov.u32 %%t2, s; add.u32 %%t2, %%t2, %%t0; add.u64 %%d0, %%d0, %%d4;\nL: ld.global.u32 %%t3, [%%d0];"
        "st.shared.u32 [%%t2], %%t3; add.u64 %%d0, %%d0, 512; add.u32 %%t2, %%t2, 512; add.u32 %%t0, %%t0, 512;\n"
        "setp.lt.u32 %%q, %%t0, %d; @%%q bra L;\nfence.proxy.async; bar.sync 0;\n",
        image_of(j), image_of(j));
    for (int i = 0; i < n + 5; i++)
        add(t, "ld.global.u32 %%r%d, [%%d1+%d];\n", i, 512 * i);
    add(t, "wgmma.fence.sync.aligned;\nwgmma.mma_async%s.sync.aligned.m64n%dk%d.%s%s ", j->sparse ? ".sp" : "", j->n,
        j->k, j->kind->types, j->kind->after);
    add_list(t, 0, n);
    if (j->registers)
        add(t, ", "), add_list(t, n, 4);
    else
        add(t, ", %%d2");
    add(t, ", %%d3");
    if (j->sparse)
        add(t, ", %%r%d, %d", n + 4, j->selector);
    add(t, j->scale_d < 2 ? ", %d" : ", %%p", j->scale_d);
    if (j->kind->has_scales)
        add(t, ", %d, %d", j->negate[0] ? -1 : 1, j->negate[1] ? -1 : 1);
    if (j->kind->has_trans && !j->registers)
        add(t, ", %d", j->across[0]);
    if (j->kind->has_trans)
        add(t, ", %d", j->across[1]);
    add(t, ";\nwgmma.commit_group.sync.aligned;\nwgmma.wait_group.sync.aligned 0;\n");
    for (int i = 0; i < n; i++)
        add(t, "st.global.u32 [%%d1+%d], %%r%d;\n", 512 * i, i);
    add(t, "ret;\n}\n");
}

/* ---- operands ---- */

/* Returns the register and the first bit in it, of element (row, column) of d or of a in registers. */
static int register_of(int bits, bool is_d, int row, int column, int *thread, int *bit) {
    const int per = 32 / bits, g = row % 8, half = row % 16 / 8;
    int t, r;
    if (is_d) {
        t = column % 8 / 2;
        r = bits == 16 ? column / 8 * 2 + half : column / 8 * 4 + half * 2 + column % 2;
        *bit = bits == 16 ? 16 * (column % 2) : 0;
    } else {
        t = column / per % 4;
        r = half + 2 * (column / (4 * per));
        *bit = column % per * bits;
    }
    *thread = row / 16 * 32 + 4 * g + t;
    return r;
}

static void put_register(uint32_t words[][THREADS], int first, int bits, bool is_d, int row, int column, uint64_t v) {
    int thread, bit, r = register_of(bits, is_d, row, column, &thread, &bit);
    words[first + r][thread] |= (uint32_t)v << bit;
}

/* Stores the metadata of the two stored elements (tf32: one) of group `group` of a row. */
static void put_metadata(const struct job *j, uint32_t *meta, int row, int group, uint32_t nibble) {
    const int bits = bits_of_type(j->kind->a), g = row % 8, half = row % 16 / 8;
    /* for elements of 8 bits, the metadata of 8 groups of 4 columns are in thread half + 2 (columns / 32) of a quad */
    if (bits == 8)
        meta[row / 16 * 32 + 4 * g + half + 2 * (group / 8)] |= nibble << 4 * (group % 8);
    else
        meta[row / 16 * 32 + 4 * g + 2 * j->selector + group / 4] |= nibble << (16 * half + 4 * (group % 4));
}

static void fill_a(struct job *j, uint64_t *g, bool special, unsigned char *image, const struct place *p,
                   uint32_t words[][THREADS], int first) {
    const int bits = bits_of_type(j->kind->a), of = bits == 32 ? 2 : 4;
    for (int row = 0; row < ROWS; row++) {
        int stored = 0;
        for (int k = 0; k < j->k; k++)
            j->a[row][k] = 0;
        for (int group = 0; j->sparse && group < j->k / of; group++) {
            int x = (int)(test_random(g) % (bits == 32 ? 2 : 3)), y = x + 1 + (int)(test_random(g) % (unsigned)(3 - x));
            put_metadata(j, words[first + 4], row, group, bits == 32 ? (x ? 0xe : 0x4) : (uint32_t)(x | y << 2));
            j->stored[row][stored++] = of * group + x;
            if (bits != 32)
                j->stored[row][stored++] = of * group + y;
        }
        for (int s = 0; s < (j->sparse ? stored : j->k); s++) {
            const uint64_t v = any_bits(g, j->kind->a, special);
            j->a[row][j->sparse ? j->stored[row][s] : s] = number(j->kind->a, v);
            if (j->registers)
                put_register(words, first, bits, false, row, s, v);
            else
                put_bits(image, place_of(p, row, s), bits, v);
        }
    }
}

static void fill_b(struct job *j, uint64_t *g, bool special, unsigned char *image, const struct place *p) {
    for (int column = 0; column < j->n; column++)
        for (int k = 0; k < j->k; k++) {
            const uint64_t v = any_bits(g, j->kind->b, special);
            j->b[k][column] = number(j->kind->b, v);
            put_bits(image, place_of(p, column, k), bits_of_type(j->kind->b), v);
        }
}

static void fill_d(struct job *j, uint64_t *g, bool special, uint32_t words[][THREADS]) {
    for (int row = 0; row < ROWS; row++)
        for (int column = 0; column < j->n; column++) {
            uint64_t v = j->kind->d == T_S32 ? test_random(g) & 0xffffffff : any_bits(g, j->kind->d, special);
            if (j->kind->d == T_S32 && test_random(g) % 2)
                v = test_random(g) % 2 ? 0x7fffffff - v % 999 : 0x80000000 + v % 999;
            j->d[row][column] = number(j->kind->d, v);
            put_register(words, 0, j->kind->d == T_F16 ? 16 : 32, true, row, column, v);
        }
}

/* ---- comparison ---- */

static void compare(const struct job *j, bool special, uint32_t words[][THREADS], const char *text) {
    const bool clamp = strncmp(j->kind->after, ".s", 2) == 0, adds = j->scale_d & 1;
    for (int row = 0; row < ROWS; row++)
        for (int column = 0; column < j->n; column++) {
            long double sum = adds ? j->d[row][column] : 0, size = fabsl(sum);
            for (int k = 0; k < j->k; k++) {
                long double p = (long double)(j->negate[0] ? -j->a[row][k] : j->a[row][k]) *
                                (j->negate[1] ? -j->b[k][column] : j->b[k][column]);
                sum += p;
                size += fabsl(p);
            }
            int thread, bit, r = register_of(j->kind->d == T_F16 ? 16 : 32, true, row, column, &thread, &bit);
            const uint32_t word = words[r][thread] >> bit;
            const double have = number(j->kind->d, j->kind->d == T_F16 ? word & 0xffff : word);
            if (j->kind->d == T_S32) {
                long double want = clamp ? fminl(fmaxl(sum, INT32_MIN), INT32_MAX) : (int32_t)(uint32_t)(int64_t)sum;
                EXPECT(have == want, "row %d column %d: %g, not %Lg, of\n%s", row, column, have, want, text);
                continue;
            }
            if (isnan(sum) || isinf(sum)) {
                EXPECT(isnan(sum) ? isnan(have) : have == sum, "row %d column %d: %g, not %Lg, of\n%s", row, column,
                       have, sum, text);
                continue;
            }
            const long double half = j->kind->d == T_F16 ? 0x1p-11L : 0x1p-24L,
                              most = j->kind->d == T_F16 ? 65520 : 0x1p128L;
            long double bound = special ? fmaxl(half * fabsl(sum), j->kind->d == T_F16 ? 0x1p-25L : 0x1p-150L) +
                                              (j->k + 1) * 0x1p-53L * size
                                        : 0;
            if (fabsl(sum) > most - bound && isinf(have))
                continue;
            EXPECT(fabsl(have - sum) <= bound * 1.000001L, "row %d column %d: %.17g, not %.17Lg, of\n%s", row, column,
                   have, sum, text);
        }
}

static void run_job(struct heddle *h, struct job *j, uint64_t *g, bool special) {
    static struct text t;
    static unsigned char image[IMAGE];
    static uint32_t words[MOST_WORDS][THREADS];
    const int n = registers_of_d(j), bits = bits_of_type(j->kind->a), gap = (int)(test_random(g) % 3);
    const int offset = j->row[0] == 128 && j->row[1] == 128 ? (int)(test_random(g) % 3) : 0;
    /* with a base offset, a's pattern begins `offset` rows of 128 bytes beyond a multiple of 1024 */
    const struct place a =
        layout(1024 + 128 * offset, ROWS, j->sparse ? j->k / 2 : j->k, bits, j->across[0], j->row[0], gap, offset);
    const struct place b = layout(16384, j->n, j->k, bits_of_type(j->kind->b), j->across[1], j->row[1], gap, 0);
    memset(image, 0, sizeof image);
    memset(words, 0, sizeof words);
    fill_a(j, g, special, image, &a, words, n);
    fill_b(j, g, special, image, &b);
    fill_d(j, g, special, words);
    kernel_text(j, &t);
    uint64_t from = heddle_alloc(h, IMAGE), regs = heddle_alloc(h, sizeof words), da = descriptor(&a),
             db = descriptor(&b);
    uint32_t p = j->scale_d & 1;
    struct heddle_arg args[5] = {{&from, 8}, {&regs, 8}, {&da, 8}, {&db, 8}, {&p, 4}};
    heddle_write(h, from, image, sizeof image);
    heddle_write(h, regs, words, sizeof words);
    struct heddle_module *m = heddle_module_text(h, "t.ptx", t.at, t.n);
    EXPECT(m != NULL, "%s\n%s", heddle_error(h), t.at);
    struct heddle_dim one = {1, 1, 1}, group = {THREADS, 1, 1};
    EXPECT(heddle_launch(h, m, "k", one, group, 0, args, 5) == HEDDLE_OK, "%s\n%s", heddle_error(h), t.at);
    heddle_read(h, regs, words, sizeof words);
    compare(j, special, words, t.at);
    heddle_free(h, from);
    heddle_free(h, regs);
}

static struct heddle *open_model(const char *model) {
    char err[512];
    struct heddle *h = heddle_open(&(struct heddle_options){.model = model, .cycle_limit = 1000000}, err, sizeof err);
    ck_assert_msg(h != NULL, "%s", err);
    return h;
}

/* Chooses everything but the kind and n. */
static void draw(struct job *j, uint64_t *g) {
    static const int rows[] = {16, 32, 64, 128};
    const struct kind *kind = j->kind;
    j->registers = test_random(g) % 3 == 0;
    j->sparse = kind->a != T_B1 && test_random(g) % 3 == 0;
    j->k = kind->k * (j->sparse ? 2 : 1);
    j->selector = j->sparse && bits_of_type(kind->a) > 8 && test_random(g) % 2;
    j->scale_d = (int)(test_random(g) % 4);
    for (int x = 0; x < 2; x++) {
        j->across[x] = kind->has_trans && test_random(g) % 2;
        j->negate[x] = kind->has_scales && test_random(g) % 2;
        j->row[x] = rows[test_random(g) % 4];
    }
    /* If rows of the swizzle are along N, b must consist of whole rows. If they are along K and a is sparse, a row of b
     * needs 64 bytes. */
    if (j->across[1] && j->n % (j->row[1] / 2))
        j->row[1] = 16;
    if (j->sparse && !j->across[1] && j->row[1] == 32)
        j->row[1] = 64;
}

START_TEST(every_kind_and_layout) {
    static const int sizes[] = {8, 24, 64, 128, 16, 256, 48, 96};
    static struct job j;
    struct heddle *h = open_model("functional");
    uint64_t g = (uint64_t)_i * 1000 + 1;
    for (int i = 0; i < 9; i++) {
        j.kind = &kinds[_i];
        j.n = sizes[i % 8];
        draw(&j, &g);
        test_case("n %d k %d registers %d sparse %d across %d %d rows %d %d scale %d", j.n, j.k, j.registers, j.sparse,
                  j.across[0], j.across[1], j.row[0], j.row[1], j.scale_d);
        run_job(h, &j, &g, i % 2);
    }
    heddle_close(h);
}
END_TEST

/* For floating-point types, N may be any multiple of 8, not only the sizes of every_kind_and_layout. */
START_TEST(every_n) {
    static struct job j;
    struct heddle *h = open_model("functional");
    uint64_t g = 5;
    for (int n = 40; n <= 256; n += 48) {
        j = (struct job){.kind = &kinds[0], .n = n, .k = 16, .scale_d = 1, .row = {128, 64}};
        run_job(h, &j, &g, true);
    }
    heddle_close(h);
}
END_TEST

START_TEST(every_model_multiplies) {
    static struct job j;
    struct heddle *h = open_model(timed_models()->name[_i]);
    uint64_t g = 77;
    for (int k = 0; k < KINDS; k += 4) {
        j.kind = &kinds[k];
        j.n = 16;
        draw(&j, &g);
        run_job(h, &j, &g, true);
    }
    heddle_close(h);
}
END_TEST

SUITE(isa_exec_exec_wgmma) {
    TEST_LOOP(every_kind_and_layout, 0, KINDS);
    TEST(every_n);
    TEST_LOOP(every_model_multiplies, 0, timed_models()->n);
}
