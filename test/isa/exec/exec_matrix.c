/* Tests wmma: loads, multiplies and stores matrices, and compares the product with a triple loop in C.
 * - All shapes, types and layouts are tested; strides as immediates, in registers, and omitted; global, generic and
 *   shared memory.
 * - Products of small integers are exact in all types and in any order, so they must match bit for bit.
 * - Products of random numbers must match a sum in f64. The error may be the rounding error of d's type, plus one f64
 *   rounding for each product. */
#include "host/heddle.h"
#include "test/every_model.h"
#include "test/isa/exec/float_ref.h"
#include "test/isa/exec/text.h"
#include <math.h>
#include <stdio.h>

enum { MOST = 64 * 64 };

static const struct shape {
    const char *name;
    int m, n, k;
} shapes[] = {{"m16n16k16", 16, 16, 16},
              {"m32n8k16", 32, 8, 16},
              {"m8n32k16", 8, 32, 16},
              {"m16n16k8", 16, 16, 8},
              {"m8n8k4", 8, 8, 4}};

/* Types of a and b (`ab`), of c and of d, and the type suffix of wmma.mma (`mma`). `shapes` has one bit for each
 * supported shape. */
static const struct kind {
    const char *ab, *c, *d, *mma;
    unsigned shapes;
} kinds[] = {
    {"f16", "f32", "f32", "f32.f32", 7},
    {"f16", "f16", "f16", "f16.f16", 7},
    {"f16", "f16", "f32", "f32.f16", 7},
    {"f16", "f32", "f16", "f16.f32", 7},
    {"bf16", "f32", "f32", "f32.bf16.bf16.f32", 7},
    {"s8", "s32", "s32", "s32.s8.s8.s32", 7},
    {"u8", "s32", "s32", "s32.u8.u8.s32", 7},
    {"s8", "s32", "s32", "s32.s8.s8.s32.satfinite", 7},
    {"u8", "s32", "s32", "s32.u8.u8.s32.satfinite", 7},
    {"tf32", "f32", "f32", "f32.tf32.tf32.f32", 8},
    {"f64", "f64", "f64", "f64.f64.f64.f64", 16},
};
enum { SHAPE_COUNT = sizeof shapes / sizeof shapes[0], KIND_COUNT = sizeof kinds / sizeof kinds[0] };

static int bytes_of(const char *t) {
    return strcmp(t, "f64") == 0 ? 8 : strcmp(t, "f16") == 0 || strcmp(t, "bf16") == 0 ? 2 : strlen(t) == 2 ? 1 : 4;
}

/* Returns the number of registers of a fragment. By PTX ISA 9.7.14.3, f16 matrices a and b always have eight registers.
 * Other matrices have as many registers as their elements fill. */
static int registers_of(const char *t, int elements, bool factor) {
    return strcmp(t, "f16") == 0 && factor ? 8 : elements * bytes_of(t) / 32 / (strcmp(t, "f64") == 0 ? 8 : 4);
}

static enum type type_of_name(const char *name) {
    char dotted[8];
    snprintf(dotted, sizeof dotted, ".%s", name);
    return type_named(dotted);
}
/* Returns the memory representation of a number. tf32 is stored as f32, whose lower bits are ignored. */
static uint64_t bits_of(const char *name, double v) {
    enum type t = type_of_name(name);
    return type_class(t) == 'f' ? float_encode(t == T_TF32 ? T_F32 : t, v) : (uint64_t)(int64_t)v;
}
static double number_of(const char *name, uint64_t bits) {
    enum type t = type_of_name(name);
    if (type_class(t) == 'f')
        return float_decode(t == T_TF32 ? T_F32 : t, t == T_TF32 ? bits & 0xffffe000 : bits);
    return t == T_S32 ? (int32_t)bits : t == T_S8 ? (int8_t)bits : (uint8_t)bits;
}

static void add_registers(struct text *t, const char *type, char which, int n) {
    add(t, "{");
    for (int i = 0; i < n; i++)
        add(t, "%s%%%c%c%d", i ? "," : "", strcmp(type, "f64") == 0 ? 'd' : 'r', which, i);
    add(t, "}");
}

/* A matrix product: the matrices with their types, layouts and strides (0: the stride is omitted). */
struct job {
    const struct shape *s;
    const struct kind *k;
    bool col[4]; /* a, b, c, d */
    int stride[4];
    enum { CONSTANT, REGISTER } how;
    const char *space;     /* "", ".global", ".shared" */
    double value[3][MOST]; /* elements of a, b and c, row by row */
};
static int rows_of(const struct job *j, int x) { return x == 1 ? j->s->k : j->s->m; }
static int columns_of(const struct job *j, int x) { return x == 0 ? j->s->k : j->s->n; }
static const char *type_of(const struct job *j, int x) { return x < 2 ? j->k->ab : x == 2 ? j->k->c : j->k->d; }
static int stride_of(const struct job *j, int x) {
    return j->stride[x] ? j->stride[x] : j->col[x] ? rows_of(j, x) : columns_of(j, x);
}
static int place_of(const struct job *j, int x, int row, int column) {
    return j->col[x] ? column * stride_of(j, x) + row : row * stride_of(j, x) + column;
}

static void add_access(struct text *t, const struct job *j, int x) {
    const char *type = type_of(j, x);
    const int n = registers_of(type, rows_of(j, x) * columns_of(j, x), x < 2);
    char stride[16] = "";
    if (j->stride[x])
        snprintf(stride, sizeof stride, j->how == CONSTANT ? ", %d" : ", %%s%d", j->how == CONSTANT ? j->stride[x] : x);
    add(t, "wmma.%s.%c.sync.aligned.%s.%s%s.%s ", x == 3 ? "store" : "load", "abcd"[x], j -> col[x] ? "col" : "row",
        j->s->name, j->space, type);
    if (x == 3)
        add(t, "[%%p3], ");
    add_registers(t, type, "abcd"[x], n);
    if (x != 3)
        add(t, ", [%%p%d]", x);
    add(t, "%s;\n", stride);
}

enum { AREA = 8192, ALL = 4 * AREA }; /* bytes of one matrix, and of all four matrices */

/* Adds a loop in which the lanes of the warp together copy all matrices to shared memory (if `in`) or back. */
static void add_copy(struct text *t, const char *from, const char *to, bool in, int label) {
    add(t,
        "mov.u32 %%x0, %%laneid; shl.b32 %%x0, %%x0, 2;\nL%d: cvt.u64.u32 %%q0, %%x0; add.u64 %%q1, %s, %%q0; "
        "add.u64 %%q2, %s, %%q0;\n ld.%s.u32 %%x1, [%%q1]; st.%s.u32 [%%q2], %%x1; add.u32 %%x0, %%x0, 128; "
        "setp.lt.u32 %%p, %%x0, %d; @%%p bra L%d; bar.warp.sync -1;\n",
        label, from, to, in ? "global" : "shared", in ? "shared" : "global", ALL, label);
}

static void kernel_text(const struct job *j, struct text *t) {
    const bool shared = strcmp(j->space, ".shared") == 0;
    t->n = 0;
    add(t, ".version 7.8\n.target sm_80\n.address_size 64\n.extern .shared .align 128 .b8 s[];\n"
           ".visible .entry k(.param .u64 p, .param .u32 s0, .param .u32 s1, .param .u32 s2, .param .u32 s3) {\n"
           ".reg .b64 %%p<4>, %%q<4>; .reg .b32 %%s<4>, %%x<4>; .reg .pred %%p;\n"
           ".reg .b32 %%ra<8>, %%rb<8>, %%rc<8>, %%rd<8>; .reg .f64 %%da<2>, %%db<2>, %%dc<2>, %%dd<2>;\n"
           "ld.param.u64 %%p0, [p];\n");
    for (int x = 0; x < 4; x++)
        add(t, "ld.param.u32 %%s%d, [s%d];\n", x, x);
    if (shared)
        add(t, "mov.u64 %%q3, %%p0; mov.u64 %%p0, s;\n");
    if (shared)
        add_copy(t, "%q3", "%p0", true, 0);
    for (int x = 1; x < 4; x++)
        add(t, "add.u64 %%p%d, %%p0, %d;\n", x, x * AREA);
    for (int x = 0; x < 3; x++)
        add_access(t, j, x);
    add(t, "wmma.mma.sync.aligned.%s.%s.%s.%s ", j->col[0] ? "col" : "row", j->col[1] ? "col" : "row", j->s->name,
        j->k->mma);
    for (int x = 3; x >= 0; x = x == 3 ? 0 : x == 2 ? -1 : x + 1) {
        add_registers(t, type_of(j, x), "abcd"[x],
                      registers_of(type_of(j, x), rows_of(j, x) * columns_of(j, x), x < 2));
        add(t, x == 2 ? ";\n" : ", ");
    }
    add_access(t, j, 3);
    if (shared)
        add_copy(t, "%p0", "%q3", false, 1);
    add(t, "ret;\n}\n");
}

static void fill(const struct job *j, int x, unsigned char *memory) {
    for (int r = 0; r < rows_of(j, x); r++)
        for (int c = 0; c < columns_of(j, x); c++) {
            uint64_t bits = bits_of(type_of(j, x), j->value[x][r * columns_of(j, x) + c]);
            int bytes = bytes_of(type_of(j, x)), at = place_of(j, x, r, c) * bytes;
            ck_assert_int_le(at + bytes, AREA);
            memcpy(memory + x * AREA + at, &bits, (size_t)bytes);
        }
}

/* Compares each element with a sum in long double. The allowed error is proportional to the sum of the magnitudes. */
static void compare(const struct job *j, const unsigned char *memory, bool exact, const char *text) {
    const struct shape *s = j->s;
    const bool clamp = strstr(j->k->mma, "satfinite"), whole = strcmp(j->k->d, "s32") == 0;
    for (int r = 0; r < s->m; r++)
        for (int c = 0; c < s->n; c++) {
            long double sum = j->value[2][r * s->n + c], size = fabsl(sum);
            for (int k = 0; k < s->k; k++) {
                long double p = (long double)j->value[0][r * s->k + k] * j->value[1][k * s->n + c];
                sum += p;
                size += fabsl(p);
            }
            uint64_t bits = 0;
            int bytes = bytes_of(j->k->d);
            memcpy(&bits, memory + 3 * AREA + place_of(j, 3, r, c) * bytes, (size_t)bytes);
            double have = number_of(j->k->d, bits), want = (double)sum;
            if (whole && clamp)
                want = want > INT32_MAX ? INT32_MAX : want < INT32_MIN ? INT32_MIN : want;
            else if (whole)
                want = (int32_t)(uint32_t)(int64_t)want;
            long double half = strcmp(j->k->d, "f16") == 0   ? 0x1p-11L
                               : strcmp(j->k->d, "f32") == 0 ? 0x1p-24L
                                                             : 0x1p-53L;
            /* a result below the normal f16 numbers may be wrong by half of the smallest f16 number */
            long double least = strcmp(j->k->d, "f16") == 0 ? 0x1p-25L : 0;
            long double bound = exact ? 0 : fmaxl(half * fabsl(sum), least) + (s->k + 1) * 0x1p-53L * size;
            EXPECT(fabsl(have - (exact || whole ? (long double)want : sum)) <= bound * 1.000001L,
                   "row %d column %d: %.17g, not %.17g, of\n%s", r, c, have, want, text);
        }
}

static void run_job(struct heddle *h, struct job *j, bool exact) {
    static struct text t;
    static unsigned char memory[ALL];
    uint64_t p = heddle_alloc(h, ALL);
    uint32_t stride[4];
    struct heddle_arg args[5] = {{&p, 8}};
    kernel_text(j, &t);
    memset(memory, 0xa5, sizeof memory);
    for (int x = 0; x < 4; x++) {
        stride[x] = (uint32_t)stride_of(j, x);
        args[x + 1] = (struct heddle_arg){&stride[x], 4};
        if (x < 3)
            fill(j, x, memory);
    }
    heddle_write(h, p, memory, sizeof memory);
    struct heddle_module *m = heddle_module_text(h, "t.ptx", t.at, t.n);
    EXPECT(m != NULL, "%s\n%s", heddle_error(h), t.at);
    struct heddle_dim one = {1, 1, 1}, warp = {32, 1, 1};
    uint64_t shared = strcmp(j->space, ".shared") == 0 ? ALL : 0;
    EXPECT(heddle_launch(h, m, "k", one, warp, shared, args, 5) == HEDDLE_OK, "%s\n%s", heddle_error(h), t.at);
    heddle_read(h, p, memory, sizeof memory);
    compare(j, memory, exact, t.at);
    heddle_free(h, p);
}

/* Fills in integers from -7 to 7, so that sums of products stay below 2^11 and are exact in f16. If the elements of a
 * and b have one byte, they get any value of their type, and about half of c's elements are near the limits of s32. */
static void whole_values(uint64_t *g, struct job *j) {
    const bool is_unsigned = j->k->ab[0] == 'u', integer = bytes_of(j->k->ab) == 1;
    for (int x = 0; x < 3; x++)
        for (int i = 0; i < rows_of(j, x) * columns_of(j, x); i++) {
            double v = (double)(test_random(g) % 15) - 7;
            if (integer && x < 2)
                v = (double)(test_random(g) % 256) - (is_unsigned ? 0 : 128);
            if (integer && x == 2 && test_random(g) % 2)
                v = (test_random(g) % 2 ? 2147483647.0 - (double)(test_random(g) % 9)
                                        : -2147483648.0 + (double)(test_random(g) % 9));
            j->value[x][i] = v;
        }
}

static void any_values(uint64_t *g, struct job *j) {
    for (int x = 0; x < 3; x++)
        for (int i = 0; i < rows_of(j, x) * columns_of(j, x); i++) {
            const char *type = type_of(j, x);
            int bits = strcmp(type, "f64") == 0    ? 53
                       : strcmp(type, "f16") == 0  ? 11
                       : strcmp(type, "bf16") == 0 ? 8
                                                   : 24;
            double v = ldexp((double)(test_random(g) >> (64 - bits)), -bits - (int)(test_random(g) % 8));
            v = test_random(g) % 2 ? -v : v;
            j->value[x][i] = number_of(type_of(j, x), bits_of(type_of(j, x), v));
        }
}

static struct heddle *open_model(const char *model) {
    char err[512];
    struct heddle *h = heddle_open(&(struct heddle_options){.model = model, .cycle_limit = 1000000}, err, sizeof err);
    ck_assert_msg(h != NULL, "%s", err);
    return h;
}

/* Tests all kinds with all their shapes, and all layouts of a, b, c and d. */
START_TEST(every_shape_type_and_layout) {
    static const char *const spaces[] = {"", ".global", ".shared"};
    static struct job j;
    struct heddle *h = open_model("functional");
    uint64_t g = (uint64_t)_i + 1;
    int n = 0;
    for (int s = 0; s < SHAPE_COUNT; s++)
        for (int layouts = 0; layouts < 16 && kinds[_i].shapes >> s & 1; layouts++, n++) {
            j = (struct job){
                .s = &shapes[s], .k = &kinds[_i], .how = n % 5 < 3 ? CONSTANT : REGISTER, .space = spaces[n % 3]};
            for (int x = 0; x < 4; x++) {
                j.col[x] = layouts >> x & 1;
                /* One case of four omits the stride (0), and one has a stride of 16 elements more than a row or column.
                 * In the other two, the stride is the length of a row or column. */
                j.stride[x] = n % 4 == 3 ? 0 : (j.col[x] ? rows_of(&j, x) : columns_of(&j, x)) + 16 * (n % 2);
            }
            whole_values(&g, &j);
            run_job(h, &j, true);
            if (bytes_of(kinds[_i].ab) > 1) {
                any_values(&g, &j);
                run_job(h, &j, false);
            }
        }
    ck_assert_int_ge(n, 16);
    heddle_close(h);
}
END_TEST

START_TEST(every_model_multiplies) {
    static struct job j;
    struct heddle *h = open_model(timed_models()->name[_i]);
    uint64_t g = 77;
    for (int k = 0; k < KIND_COUNT; k++) {
        j = (struct job){.s = &shapes[kinds[k].shapes == 7   ? k % 3
                                      : kinds[k].shapes == 8 ? 3
                                                             : 4],
                         .k = &kinds[k],
                         .how = REGISTER,
                         .space = k % 2 ? ".shared" : "",
                         .col = {k & 1, k & 2, k & 4, k & 8},
                         .stride = {32, 48, 32, 48}};
        whole_values(&g, &j);
        run_job(h, &j, true);
    }
    heddle_close(h);
}
END_TEST

SUITE(isa_exec_exec_matrix) {
    TEST_LOOP(every_shape_type_and_layout, 0, KIND_COUNT);
    TEST_LOOP(every_model_multiplies, 0, timed_models()->n);
}
