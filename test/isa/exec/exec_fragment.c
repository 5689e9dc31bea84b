/* Tests which lane and register holds which matrix element in mma, ldmatrix, stmatrix and movmatrix. The expected
 * positions come from the formulas and figures of the PTX ISA, 9.7.14.5 (implemented in lower_matrix.c and lower_tile.c
 * in frontend/lower). Also tests diverged warps, and forms that PTX does not have. */
#include "host/heddle.h"
#include "test/every_model.h"
#include "test/isa/exec/float_ref.h"
#include "test/test.h"
#include <stdarg.h>
#include <stdio.h>

enum { LANES = 32, WORDS = 64 * LANES, TEXT = 8192 };

/* Register contents before and after the kernel: register r of lane l is word r * 32 + l. */
static uint32_t in[WORDS], out[WORDS];

static char kernel_at[TEXT];
/* Returns a kernel that loads the registers r0 to r23 (for f64 the two-word registers d0 to d11), executes `body`, and
 * stores r24 to r31 (d12 to d15). */
static const char *kernel(const char *body, bool wide) {
    size_t n = 0;
#define ADD(...) n += (size_t)snprintf(kernel_at + n, TEXT - n, __VA_ARGS__)
    ADD(".version 7.8\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u64 p, .param .u64 q) {\n"
        ".reg .b64 %%p, %%q, %%t, %%d<16>; .reg .b32 %%l, %%r<32>, %%s; .reg .pred %%low; .shared .align 16 .b8 "
        "s[2048];\n"
        "ld.param.u64 %%p,[p]; ld.param.u64 %%q,[q]; mov.u32 %%l,%%laneid; mul.wide.u32 %%t,%%l,%d; add.u64 "
        "%%p,%%p,%%t; "
        "add.u64 %%q,%%q,%%t; setp.lt.u32 %%low,%%l,16;\n",
        wide ? 8 : 4);
    for (int r = 0; r < (wide ? 12 : 24); r++)
        ADD(wide ? "ld.global.u64 %%d%d,[%%p+%d];\n" : "ld.global.u32 %%r%d,[%%p+%d];\n", r, r * (wide ? 256 : 128));
    ADD("%s\n", body);
    for (int r = 0; r < (wide ? 4 : 8); r++)
        ADD(wide ? "st.global.u64 [%%q+%d],%%d%d;\n" : "st.global.u32 [%%q+%d],%%r%d;\n", r * (wide ? 256 : 128),
            r + (wide ? 12 : 24));
    ADD("ret;\n}\n");
    ck_assert_uint_lt(n, TEXT);
    return kernel_at;
}

static enum heddle_status run_with(const char *text, const char *model, uint32_t threads, char error[1024]) {
    char err[512];
    struct heddle *h = heddle_open(&(struct heddle_options){.model = model, .cycle_limit = 100000}, err, sizeof err);
    ck_assert_msg(h != NULL, "%s", err);
    uint64_t p = heddle_alloc(h, sizeof in), q = heddle_alloc(h, sizeof out);
    struct heddle_arg args[] = {{&p, 8}, {&q, 8}};
    struct heddle_dim one = {1, 1, 1}, block = {threads, 1, 1};
    heddle_write(h, p, in, sizeof in);
    heddle_clear(h, q, sizeof out);
    struct heddle_module *m = heddle_module_text(h, "t.ptx", text, strlen(text));
    enum heddle_status s = m ? heddle_launch(h, m, "k", one, block, 0, args, 2) : HEDDLE_USAGE;
    snprintf(error, 1024, "%s", s == HEDDLE_OK ? "" : heddle_error(h));
    heddle_read(h, q, out, sizeof out);
    heddle_close(h);
    return s;
}

static void run(const char *text) {
    char error[1024];
    ck_assert_msg(run_with(text, "functional", 32, error) == HEDDLE_OK, "%s\n%s", error, text);
}

/* ---- mma ---- */

/* Row and column of element i of a lane's fragment. Elements are numbered through the lane's registers, as in the PTX
 * ISA. */
struct place {
    int row, column;
};
struct form {
    const char *opcode, *ab, *c; /* `ab` is the type of a and b, `c` the type of c and d */
    int m, k;
    struct place (*a)(int lane, int i), (*b)(int lane, int i), (*c_at)(int lane, int i);
    int b_row, a_col; /* of m8n8k4 on f16 */
};
#define PLACE(name, row_, column_)                                                                                     \
    static struct place name(int lane, int i) {                                                                        \
        int g = lane >> 2, t = lane % 4;                                                                               \
        (void)g, (void)t, (void)i;                                                                                     \
        return (struct place){row_, column_};                                                                          \
    }
/* The following rows are the positions of PTX ISA 9.7.14.5.3 to 9.7.14.5.10. */
PLACE(c_m16, i < 2 ? g : g + 8, t * 2 + (i & 1))
PLACE(c_m8, g, t * 2 + (i & 1))
PLACE(a_f16_k8, i < 2 ? g : g + 8, t * 2 + (i & 1))
PLACE(b_f16_k8, t * 2 + i, g)
PLACE(a_f16_k16, (i >= 0 && i < 2) || (i >= 4 && i < 6) ? g : g + 8, i < 4 ? t * 2 + (i & 1) : t * 2 + (i & 1) + 8)
PLACE(b_f16_k16, i < 2 ? t * 2 + (i & 1) : t * 2 + (i & 1) + 8, g)
PLACE(a_tf32_k4, i == 0 ? g : g + 8, t)
PLACE(b_tf32_k4, t, g)
PLACE(a_tf32_k8, i == 0 || i == 2 ? g : g + 8, i < 2 ? t : t + 4)
PLACE(b_tf32_k8, i == 0 ? t : t + 4, g)
PLACE(a_m8k4, g, t)
PLACE(b_m8k4, t, g)
PLACE(a_s8_m8, g, t * 4 + i)
PLACE(b_s8_k16, t * 4 + i, g)
PLACE(a_s8_k16, i < 4 ? g : g + 8, t * 4 + (i & 3))
PLACE(a_s8_k32, i < 4 || (i >= 8 && i < 12) ? g : g + 8, i < 8 ? t * 4 + (i & 3) : t * 4 + (i & 3) + 16)
PLACE(b_s8_k32, i < 4 ? t * 4 + (i & 3) : t * 4 + (i & 3) + 16, g)

static const struct form forms[] = {
    {"m16n8k8.row.col.f32.f16.f16.f32", "f16", "f32", 16, 8, a_f16_k8, b_f16_k8, c_m16, 0, 0},
    {"m16n8k8.row.col.f16.f16.f16.f16", "f16", "f16", 16, 8, a_f16_k8, b_f16_k8, c_m16, 0, 0},
    {"m16n8k16.row.col.f32.f16.f16.f32", "f16", "f32", 16, 16, a_f16_k16, b_f16_k16, c_m16, 0, 0},
    {"m16n8k16.row.col.f16.f16.f16.f16", "f16", "f16", 16, 16, a_f16_k16, b_f16_k16, c_m16, 0, 0},
    {"m16n8k8.row.col.f32.bf16.bf16.f32", "bf16", "f32", 16, 8, a_f16_k8, b_f16_k8, c_m16, 0, 0},
    {"m16n8k16.row.col.f32.bf16.bf16.f32", "bf16", "f32", 16, 16, a_f16_k16, b_f16_k16, c_m16, 0, 0},
    {"m16n8k4.row.col.f32.tf32.tf32.f32", "tf32", "f32", 16, 4, a_tf32_k4, b_tf32_k4, c_m16, 0, 0},
    {"m16n8k8.row.col.f32.tf32.tf32.f32", "tf32", "f32", 16, 8, a_tf32_k8, b_tf32_k8, c_m16, 0, 0},
    {"m8n8k4.row.col.f64.f64.f64.f64", "f64", "f64", 8, 4, a_m8k4, b_m8k4, c_m8, 0, 0},
    {"m16n8k4.row.col.f64.f64.f64.f64", "f64", "f64", 16, 4, a_tf32_k4, b_tf32_k4, c_m16, 0, 0},
    {"m16n8k8.row.col.rz.f64.f64.f64.f64", "f64", "f64", 16, 8, a_tf32_k8, b_tf32_k8, c_m16, 0, 0},
    {"m8n8k16.row.col.s32.s8.s8.s32", "s8", "s32", 8, 16, a_s8_m8, b_s8_k16, c_m8, 0, 0},
    {"m8n8k16.row.col.s32.u8.u8.s32", "u8", "s32", 8, 16, a_s8_m8, b_s8_k16, c_m8, 0, 0},
    {"m16n8k16.row.col.satfinite.s32.s8.s8.s32", "s8", "s32", 16, 16, a_s8_k16, b_s8_k16, c_m16, 0, 0},
    {"m16n8k32.row.col.s32.s8.s8.s32", "s8", "s32", 16, 32, a_s8_k32, b_s8_k32, c_m16, 0, 0},
    {"m16n8k32.row.col.s32.u8.u8.s32", "u8", "s32", 16, 32, a_s8_k32, b_s8_k32, c_m16, 0, 0},
};
enum { N_FORMS = sizeof forms / sizeof forms[0] };

static int bits_of(const char *t) {
    return !strcmp(t, "f64") ? 64 : !strcmp(t, "f16") || !strcmp(t, "bf16") ? 16 : strlen(t) == 2 ? 8 : 32;
}

static uint64_t encode(const char *t, int v) {
    enum type type = !strcmp(t, "f64") ? T_F64 : !strcmp(t, "f16") ? T_F16 : !strcmp(t, "bf16") ? T_BF16 : T_F32;
    return t[0] == 's' || t[0] == 'u' ? (uint64_t)(int64_t)v : float_encode(type, v);
}

/* Stores element i of a lane in the lane's registers, which start at register `first`. */
static void put(const char *t, int first, int lane, int i, int v) {
    int bits = bits_of(t), per = bits == 64 ? 1 : 32 / bits;
    uint64_t value = encode(t, v);
    if (bits == 64) {
        memcpy(&in[((first + i) * LANES + lane) * 2], &value, 8);
        return;
    }
    uint32_t mask = bits == 32 ? 0xffffffff : (1u << bits) - 1;
    in[(first + i / per) * LANES + lane] |= ((uint32_t)value & mask) << i % per * bits;
}

static int registers(const char *t, int elements) {
    return elements * bits_of(t) / (bits_of(t) == 64 ? 64 : 32) / LANES;
}

static int add_vector(char *to, char which, int first, int n) {
    int len = sprintf(to, "{");
    for (int i = 0; i < n; i++)
        len += sprintf(to + len, "%s%%%c%d", i ? "," : "", which, first + i);
    return len + sprintf(to + len, "}");
}

/* Each element of c is 1000 row + column if the type can represent this number exactly. a and b have small random
 * numbers. */
START_TEST(fragments_are_as_in_the_manual) {
    const struct form *f = &forms[_i];
    const bool wide = bits_of(f->ab) == 64, integer = f->ab[0] == 's' || f->ab[0] == 'u';
    int a[16][32], b[32][8], c[16][8];
    uint64_t g = (uint64_t)_i + 99;
    memset(in, 0, sizeof in);
    for (int r = 0; r < f->m; r++)
        for (int x = 0; x < f->k; x++)
            a[r][x] = (int)test_random_below(&g, integer ? 100 : 9) - (f->ab[0] == 'u' ? 0 : 4);
    for (int r = 0; r < f->k; r++)
        for (int x = 0; x < 8; x++)
            b[r][x] = (int)test_random_below(&g, integer ? 100 : 9) - (f->ab[0] == 'u' ? 0 : 4);
    for (int r = 0; r < f->m; r++)
        for (int x = 0; x < 8; x++)
            c[r][x] = r * 8 + x;
    int n_a = registers(f->ab, f->m * f->k), n_b = registers(f->ab, f->k * 8), n_c = registers(f->c, f->m * 8);
    for (int l = 0; l < LANES; l++) {
        for (int i = 0; i < f->m * f->k / LANES; i++)
            put(f->ab, 0, l, i, a[f->a(l, i).row][f->a(l, i).column]);
        for (int i = 0; i < f->k * 8 / LANES; i++)
            put(f->ab, n_a, l, i, b[f->b(l, i).row][f->b(l, i).column]);
        for (int i = 0; i < f->m * 8 / LANES; i++)
            put(f->c, n_a + n_b, l, i, c[f->c_at(l, i).row][f->c_at(l, i).column]);
    }
    char body[512];
    int n = sprintf(body, "mma.sync.aligned.%s ", f->opcode);
    n += add_vector(body + n, wide ? 'd' : 'r', wide ? 12 : 24, n_c);
    n += sprintf(body + n, ",");
    n += add_vector(body + n, wide ? 'd' : 'r', 0, n_a);
    n += sprintf(body + n, ",");
    n += add_vector(body + n, wide ? 'd' : 'r', n_a, n_b);
    n += sprintf(body + n, ",");
    n += add_vector(body + n, wide ? 'd' : 'r', n_a + n_b, n_c);
    sprintf(body + n, ";");
    run(kernel(body, wide));
    for (int l = 0; l < LANES; l++)
        for (int i = 0; i < f->m * 8 / LANES; i++) {
            int row = f->c_at(l, i).row, column = f->c_at(l, i).column, want = c[row][column];
            for (int k = 0; k < f->k; k++)
                want += a[row][k] * b[k][column];
            uint64_t have, must = encode(f->c, want);
            int bits = bits_of(f->c);
            if (bits == 64)
                memcpy(&have, &out[(i * LANES + l) * 2], 8);
            else
                have = out[i * bits / 32 * LANES + l] >> (bits == 16 ? i % 2 * 16 : 0) & (bits == 16 ? 0xffff : ~0u);
            must = bits == 64 ? must : bits == 16 ? must & 0xffff : must & 0xffffffff;
            EXPECT(have == must, "%s: element %d of lane %d: %llx, not %llx", f->opcode, i, l, (unsigned long long)have,
                   (unsigned long long)must);
        }
}
END_TEST

/* Layout of m8n8k4 on f16, PTX ISA 9.7.14.5.1. Lanes 0-3 and 16-19 compute the first of four products, lanes 4-7 and
 * 20-23 the second, and so on.
 * - a: element i is in row lane % 4 (plus 4 in lanes 16-31), column i; with .col in row i % 4 (plus 4 in lanes 16-31),
 *   column lane % 4
 * - b is the transpose of this layout
 * - f32 results: row X or X + 4 with X = (lane & 1) + (i & 2), column (i & 4) + (lane & 2) + (i & 1) */
START_TEST(four_products_of_m8n8k4) {
    const bool a_col = _i & 1, b_row = _i & 2, narrow = _i & 4;
    int a[4][8][4], b[4][4][8], c[4][8][8];
    uint64_t g = (uint64_t)_i + 5;
    memset(in, 0, sizeof in);
    for (int p = 0; p < 4; p++)
        for (int r = 0; r < 8; r++)
            for (int x = 0; x < 8; x++) {
                if (x < 4)
                    a[p][r][x] = (int)test_random_below(&g, 9) - 4;
                if (r < 4)
                    b[p][r][x] = (int)test_random_below(&g, 9) - 4;
                c[p][r][x] = p * 64 + r * 8 + x;
            }
    for (int l = 0; l < LANES; l++) {
        int p = l % 16 / 4, up = l < 16 ? 0 : 4;
        for (int i = 0; i < 4; i++) {
            put("f16", 0, l, i, a_col ? a[p][i % 4 + up][l % 4] : a[p][l % 4 + up][i]);
            put("f16", 2, l, i, b_row ? b[p][l % 4][i + up] : b[p][i][l % 4 + up]);
        }
        for (int i = 0; i < 8; i++)
            put(narrow ? "f16" : "f32", 4, l, i,
                narrow ? c[p][l % 4 + up][i] : c[p][(l & 1) + (i & 2) + up][(i & 4) + (l & 2) + (i & 1)]);
    }
    char body[512];
    snprintf(body, sizeof body, "mma.sync.aligned.m8n8k4.%s.%s.%s {%s},{%%r0,%%r1},{%%r2,%%r3},{%s};",
             a_col ? "col" : "row", b_row ? "row" : "col", narrow ? "f16.f16.f16.f16" : "f32.f16.f16.f32",
             narrow ? "%r24,%r25,%r26,%r27" : "%r24,%r25,%r26,%r27,%r28,%r29,%r30,%r31",
             narrow ? "%r4,%r5,%r6,%r7" : "%r4,%r5,%r6,%r7,%r8,%r9,%r10,%r11");
    run(kernel(body, false));
    for (int l = 0; l < LANES; l++)
        for (int i = 0; i < 8; i++) {
            int p = l % 16 / 4, up = l < 16 ? 0 : 4, row = narrow ? l % 4 + up : (l & 1) + (i & 2) + up,
                column = narrow ? i : (i & 4) + (l & 2) + (i & 1), want = c[p][row][column];
            for (int k = 0; k < 4; k++)
                want += a[p][row][k] * b[p][k][column];
            uint32_t word = out[(narrow ? i / 2 : i) * LANES + l];
            uint32_t have = narrow ? word >> i % 2 * 16 & 0xffff : word;
            EXPECT(have == encode(narrow ? "f16" : "f32", want), "layouts %d: element %d of lane %d: %x, not of %d", _i,
                   i, l, have, want);
        }
}
END_TEST

/* ---- 8 x 8 matrices ---- */

/* Shared array s holds 4 matrices, one after another, with rows of 16 bytes. Element (r, c) of matrix m is 1000 m + 10
 * r + c. Lane l has the address of row l % 8 of matrix l / 8, which is row l of the array. */
static const char fill[] =
    "mov.u32 %s,s; mad.lo.u32 %s,%l,16,%s; st.shared.u32 [%s],%r0; st.shared.u32 [%s+4],%r1; st.shared.u32 [%s+8],%r2; "
    "st.shared.u32 [%s+12],%r3; bar.warp.sync -1;\n";
static uint32_t element(int m, int r, int c) { return (uint32_t)(1000 * m + 10 * r + c); }
static void put_rows(void) {
    memset(in, 0, sizeof in);
    for (int l = 0; l < LANES; l++)
        for (int c = 0; c < 8; c++)
            in[c / 2 * LANES + l] |= element(l / 8, l % 8, c) << c % 2 * 16;
}
/* Returns the two elements of matrix m that lane 4 g + t holds: (g, 2 t) and (g, 2 t + 1), or transposed (2 t, g) and
 * (2 t + 1, g). */
static uint32_t held(int m, int lane, bool trans) {
    int g = lane / 4, t = lane % 4;
    return trans ? element(m, 2 * t, g) | element(m, 2 * t + 1, g) << 16
                 : element(m, g, 2 * t) | element(m, g, 2 * t + 1) << 16;
}

START_TEST(ldmatrix_gives_quads_a_row) {
    static const char *const vectors[] = {"{%r24}", "{%r24,%r25}", "{%r24,%r25,%r26,%r27}"};
    const int n = 1 << _i / 2;
    const bool trans = _i % 2;
    char body[1024];
    for (int generic = 0; generic < 2; generic++) {
        snprintf(body, sizeof body, "%s %s ldmatrix.sync.aligned.m8n8.x%d%s%s.b16 %s,[%s];", fill,
                 generic ? "cvt.u64.u32 %t,%s; cvta.shared.u64 %t,%t;" : "", n, trans ? ".trans" : "",
                 generic ? "" : ".shared", vectors[_i / 2], generic ? "%t" : "%s");
        put_rows();
        run(kernel(body, false));
        for (int m = 0; m < n; m++)
            for (int l = 0; l < LANES; l++)
                EXPECT(out[m * LANES + l] == held(m, l, trans), "matrix %d, lane %d: %u", m, l, out[m * LANES + l]);
    }
}
END_TEST

/* stmatrix stores the registers of ldmatrix 1024 bytes further, which copies the matrix. The result of ldmatrix may
 * overwrite its address register. */
START_TEST(stmatrix_inverts_ldmatrix) {
    static const char *const vectors[] = {"{%s}", "{%s,%r25}", "{%s,%r25,%r26,%r27}"};
    const char *trans = _i % 2 ? ".trans" : "", *vector = vectors[_i / 2];
    const int n = 1 << _i / 2;
    char body[1024];
    snprintf(body, sizeof body,
             "%s mov.u32 %%r10,%%s; ldmatrix.sync.aligned.m8n8.x%d%s.shared.b16 %s,[%%s];\n"
             "stmatrix.sync.aligned.m8n8.x%d%s.shared.b16 [%%r10+1024],%s; bar.warp.sync -1;\n"
             "ld.shared.v4.u32 {%%r24,%%r25,%%r26,%%r27},[%%r10+1024];",
             fill, n, trans, vector, n, trans, vector);
    put_rows();
    run(kernel(body, false));
    for (int w = 0; w < 4; w++)
        for (int l = 0; l < 8 * n; l++)
            EXPECT(out[w * LANES + l] == in[w * LANES + l], "word %d of row %d: %x", w, l, out[w * LANES + l]);
}
END_TEST

START_TEST(movmatrix_transposes) {
    for (int l = 0; l < LANES; l++)
        in[l] = held(1, l, false);
    run(kernel("movmatrix.sync.aligned.m8n8.trans.b16 %r24,%r0;", false));
    for (int l = 0; l < LANES; l++)
        ck_assert_uint_eq(out[l], held(1, l, true));
}
END_TEST

/* ---- whole warps ---- */

#define MMA "mma.sync.aligned.m8n8k16.row.col.s32.s8.s8.s32 {%r24,%r25},{%r0},{%r1},{%r2,%r3};"

/* Two halves of a warp reach one mma on different paths. They must reconverge at the mma, in every model. */
START_TEST(paths_meet_at_a_matrix_instruction) {
    char error[1024];
    for (int r = 0; r < 4; r++)
        for (int l = 0; l < LANES; l++)
            in[r * LANES + l] = r < 2 ? 0x01010101 : (uint32_t)l;
    const char *text = kernel("@%low bra A; add.u32 %r2,%r2,100; A: " MMA, false);
    ck_assert_msg(run_with(text, timed_models()->name[_i], 32, error) == HEDDLE_OK, "%s", error);
    for (uint32_t l = 0; l < LANES; l++)
        ck_assert_uint_eq(out[l], 16 + l + (l < 16 ? 0 : 100));
}
END_TEST

static const struct {
    const char *name, *body;
    uint32_t threads;
    enum heddle_status status;
    const char *says;
} parts_of_warps[] = {
    {"a warp of 16 threads", MMA, 16, HEDDLE_FAULT, "an .aligned instruction is executed by all 32 lanes"},
    {"half has exited", "@%low ret; " MMA, 32, HEDDLE_FAULT, "by lanes 0xffff0000 alone"},
    {"a load", "wmma.load.a.sync.aligned.row.m16n16k16.global.s8 {%r0,%r1},[%p],16;", 16, HEDDLE_FAULT, "partial warp"},
    {"a guard", "@%low " MMA, 32, HEDDLE_FAULT, "0x0000ffff alone"},
};

START_TEST(diverged_warps_are_reported) {
    static const char *const models[] = {"functional", "spe", "its", "dpe"};
    char error[1024];
    for (int m = 0; m < 4; m++) {
        const char *text = kernel(parts_of_warps[_i].body, false);
        enum heddle_status s = run_with(text, models[m], parts_of_warps[_i].threads, error);
        bool stuck = strstr(error, "deadlock") && strcmp(parts_of_warps[_i].name, "a guard") == 0;
        ck_assert_msg(stuck || (s == parts_of_warps[_i].status && strstr(error, parts_of_warps[_i].says)),
                      "%s in %s: %d %s", parts_of_warps[_i].name, models[m], s, error);
    }
}
END_TEST

/* ptxas of CUDA 13.0 also rejects these forms. */
static const struct {
    const char *statement, *says;
} wrong[] = {
    {"mma.sync.aligned.m16n8k8.row.row.f32.f16.f16.f32 {%r0,%r1,%r2,%r3},{%r4,%r5},{%r6},{%r0,%r1,%r2,%r3};",
     "a is .row and b is .col in all but mma.m8n8k4 on f16"},
    {"mma.sync.aligned.m16n8k8.row.f32.f16.f16.f32 {%r0,%r1,%r2,%r3},{%r4,%r5},{%r6},{%r0,%r1,%r2,%r3};",
     "takes two layouts"},
    {"mma.sync.m8n8k16.row.col.s32.s8.s8.s32 {%r24,%r25},{%r0},{%r1},{%r2,%r3};", "add .aligned after .sync"},
    {"mma.sync.aligned.m8n8k16.row.col.s32.s8.s8.s32 {%r24,%r25},%r0,%r1,{%r2,%r3};",
     "takes a vector of 1 register here"},
    {"mma.sync.aligned.m8n8k16.row.col.s32.s8.s8.s32 {%r24,%r25},{5},{%r1},{%r2,%r3};",
     "'mma.sync.aligned.m8n8k16.row.col.s32.s8.s8.s32' expects a register of type .b32, found an integer"},
    {"mma.sync.aligned.m8n8k16.row.col.s32.s8.s8.s32 {%r24},{%r0},{%r1},{%r2,%r3};",
     "takes a vector of 2 registers here"},
    {"wmma.load.a.sync.aligned.m16n16k16.s8 {%r0,%r1},[%p];", "takes one layout, .row or .col"},
    {"wmma.load.a.sync.aligned.row.m16n16k16.local.s8 {%r0,%r1},[%p];", "accesses .global or .shared memory"},
    {"wmma.load.a.sync.aligned.row.m16n16k16.s8 {%r0,%r1},[%p],%q;", "'%q'"},
    {"wmma.load.a.sync.aligned.row.m16n16k16.s8 {%r0,%r1,%r2,%r3},[%p];",
     "takes a vector of 2 registers here, found 4"},
    {"ldmatrix.sync.aligned.m8n8.x2.global.b16 {%r0,%r1},[%p];", "accesses .shared memory"},
    {"ldmatrix.sync.aligned.m8n8.x1.shared.b16 %r0,[s];", "takes a vector of 1 register here"},
    {"movmatrix.sync.aligned.m8n8.b16 %r0,%r1;", "add .trans"},
};
enum { N_WRONG = sizeof wrong / sizeof wrong[0] };

START_TEST(wrong_forms_are_rejected) {
    char error[1024];
    ck_assert_int_eq(run_with(kernel(wrong[_i].statement, false), "functional", 32, error), HEDDLE_USAGE);
    ck_assert_msg(strstr(error, wrong[_i].says) != NULL, "%s", error);
}
END_TEST

SUITE(isa_exec_exec_fragment) {
    TEST_LOOP(fragments_are_as_in_the_manual, 0, N_FORMS);
    TEST_LOOP(four_products_of_m8n8k4, 0, 8);
    TEST_LOOP(ldmatrix_gives_quads_a_row, 0, 6);
    TEST_LOOP(stmatrix_inverts_ldmatrix, 0, 6);
    TEST(movmatrix_transposes);
    TEST_LOOP(paths_meet_at_a_matrix_instruction, 0, timed_models()->n);
    TEST_LOOP(diverged_warps_are_reported, 0, (int)(sizeof parts_of_warps / sizeof parts_of_warps[0]));
    TEST_LOOP(wrong_forms_are_rejected, 0, N_WRONG);
}
