/* Tests every form of mma in test/data/matrix_forms.txt, which is what ptxas accepts, except f64 and the oldest shape
 * (exec_fragment.c). The reference in this file places elements by the figures of the PTX ISA, 9.7.14.5 and 9.7.14.6,
 * decodes them with ldexp(), and adds products in the order of k by fma() in f64: the rule of docs/matrices.md.
 * Results must be equal bit for bit, for ordinary numbers, any bits, and special values. */
#include "host/heddle.h"
#include "isa/decode.h"
#include "test/isa/exec/text.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { LANES = 32, MOST_FORMS = 512, GROUP = 64, SOURCES = 24, EXACT = 3, MODES };

struct form {
    char opcode[128], target[8], type[4][8]; /* the first .target that has it; types of d, a, b, c */
    int m, k, sparse, scales, ue4m3, packed;
    bool is_xor, clamp, bits, f64, oldest;
};
static struct form forms[MOST_FORMS];
static int n_forms;

static bool is_type(const char *word) {
    static const char *const types[] = {"f16", "bf16", "tf32", "f32",  "f64",  "s32",  "s8",   "u8",
                                        "s4",  "u4",   "b1",   "e4m3", "e5m2", "e3m2", "e2m3", "e2m1"};
    for (size_t i = 0; i < sizeof types / sizeof types[0]; i++)
        if (strcmp(types[i], word) == 0)
            return true;
    return false;
}

static void parse_form(struct form *f, const char *opcode) {
    char text[128], *word[24];
    int n = 0, n_types = 0;
    *f = (struct form){.m = 16};
    snprintf(f->opcode, sizeof f->opcode, "%s", opcode);
    snprintf(text, sizeof text, "%s", opcode);
    for (char *at = strtok(text, "."); at && n < 24; at = strtok(NULL, "."))
        word[n++] = at;
    for (int i = 1; i < n; i++) {
        int m, k, vector;
        if (sscanf(word[i], "m%dn8k%d", &m, &k) == 2)
            f->m = m, f->k = k;
        else if (sscanf(word[i], "scale_vec::%dX", &vector) == 1)
            f->scales = vector;
        else if (strcmp(word[i], "ue4m3") == 0)
            f->ue4m3 = 1;
        else if (n_types < 4 && is_type(word[i]))
            snprintf(f->type[n_types++], 8, "%s", word[i]);
    }
    ck_assert_msg(n_types == 4, "%s: %d types", opcode, n_types);
    f->sparse = strncmp(opcode, "mma.sp", 6) == 0;
    f->packed = strstr(opcode, "kind::mxf4") != NULL;
    if (!f->scales && strstr(opcode, "block_scale"))
        f->scales = f->packed ? 2 : 1;
    f->is_xor = strstr(opcode, ".xor");
    f->clamp = strstr(opcode, ".satfinite");
    f->bits = strcmp(f->type[1], "b1") == 0;
    f->f64 = strcmp(f->type[1], "f64") == 0;
    f->oldest = f->k == 4 && strcmp(f->type[1], "f16") == 0;
}

static void read_forms(void) {
    char line[160], opcode[128], target[8];
    FILE *in = fopen("test/data/matrix_forms.txt", "r");
    ck_assert_ptr_nonnull(in);
    n_forms = 0;
    while (fgets(line, sizeof line, in)) {
        if (line[0] == '#' || sscanf(line, "%7s %127s", target, opcode) != 2 || strncmp(opcode, "mma.", 4) != 0)
            continue;
        ck_assert_int_lt(n_forms, MOST_FORMS);
        parse_form(&forms[n_forms], opcode);
        memcpy(forms[n_forms++].target, target, sizeof target);
    }
    fclose(in);
}

/* ---- numbers ---- */

/* A floating-point format: bits of exponent and mantissa. `specials`: 2: infinities and NaN, as in IEEE 754; 1: all
 * ones is NaN (e4m3); 0: every code is a number. */
struct format {
    const char *name;
    int exponent, mantissa, specials;
};
static const struct format formats[] = {{"f16", 5, 10, 2}, {"bf16", 8, 7, 2}, {"tf32", 8, 10, 2},
                                        {"f32", 8, 23, 2}, {"e4m3", 4, 3, 1}, {"e5m2", 5, 2, 2},
                                        {"e3m2", 3, 2, 0}, {"e2m3", 2, 3, 0}, {"e2m1", 2, 1, 0}};
static const struct format *format_of(const char *type) {
    for (size_t i = 0; i < sizeof formats / sizeof formats[0]; i++)
        if (strcmp(formats[i].name, type) == 0)
            return &formats[i];
    return NULL;
}
static int width_of(const char *type) {
    const struct format *f = format_of(type);
    return f ? 1 + f->exponent + f->mantissa : atoi(type + 1);
}

static double value_of(const char *type, uint32_t bits) {
    const struct format *f = format_of(type);
    const int width = width_of(type);
    if (!f) {
        int64_t v = bits & (width == 32 ? 0xffffffffu : (1u << width) - 1);
        return (double)(type[0] == 's' && v >> (width - 1) ? v - ((int64_t)1 << width) : v);
    }
    const int e = (int)(bits >> f->mantissa) & ((1 << f->exponent) - 1), bias = (1 << (f->exponent - 1)) - 1;
    const uint32_t m = bits & ((1u << f->mantissa) - 1), ones = (1u << f->mantissa) - 1;
    const bool top = e == (1 << f->exponent) - 1;
    double v = e ? ldexp(1 + ldexp(m, -f->mantissa), e - bias) : ldexp(m, 1 - bias - f->mantissa);
    if (top && f->specials == 2)
        v = m ? NAN : INFINITY;
    else if (top && f->specials == 1 && m == ones)
        v = NAN;
    return bits >> (width - 1) & 1 ? -v : v;
}

/* Returns the bits of a random number. Mode 0: ordinary numbers; 1: any bits; 2: special values; EXACT: 1 and -1. */
static uint32_t draw(uint64_t *g, const char *type, int mode) {
    const struct format *f = format_of(type);
    const int width = width_of(type);
    const uint32_t any = (uint32_t)test_random(g), all = width == 32 ? 0xffffffffu : (1u << width) - 1;
    if (!f)
        return mode < 2         ? any & all
               : (any & 3) == 0 ? 0
               : (any & 3) == 1 ? all
               : (any & 3) == 2 ? all >> 1
                                : all / 2 + 1;
    const uint32_t sign = any & 1u << (width - 1), mantissa = any & ((1u << f->mantissa) - 1);
    const uint32_t one = (uint32_t)((1 << (f->exponent - 1)) - 1) << f->mantissa;
    const uint32_t top = ((1u << f->exponent) - 1) << f->mantissa, greatest = f->specials == 2   ? top - 1
                                                                              : f->specials == 1 ? (all >> 1) - 1
                                                                                                 : all >> 1;
    if (mode == 0)
        return sign |
               (one + (test_random_below(g, 3) << f->mantissa >> (f->exponent < 3)) -
                (one >> 1 > 0 && f->exponent > 3 ? 1u << f->mantissa : 0)) |
               mantissa;
    if (mode == EXACT)
        return sign | one;
    if (mode == 1)
        return any & all;
    switch (test_random_below(g, f->specials ? 40 : 24)) {
    case 24: /* an infinity or a NaN */
        return sign | (f->specials == 2 ? top | (any >> 9 & 1) : all >> 1);
    case 0 ... 5:
        return sign;
    case 6 ... 11:
        return sign | 1;
    case 12 ... 17:
        return sign | greatest;
    default:
        return sign | mantissa; /* a subnormal */
    }
}

/* Returns the bits of a sum as d: one rounding, to nearest even. */
static uint32_t result_bits(const char *type, double sum) {
    if (strcmp(type, "f32") == 0) {
        const float f = (float)sum;
        uint32_t bits;
        memcpy(&bits, &f, 4);
        return sum != sum ? 0x7fffffff : bits;
    }
    if (sum != sum)
        return 0x7fff;
    const uint32_t sign = signbit(sum) ? 0x8000 : 0;
    const double x = fabs(sum);
    int e = x < 0x1p-14 ? -14 : isinf(x) ? 16 : ilogb(x);
    double units = isinf(x) ? 0 : nearbyint(ldexp(x, 10 - e)); /* number of units of the last bit */
    if (units >= 2048)
        e++, units = 1024;
    if (e > 15)
        return sign | 0x7c00;
    return sign | (units < 1024 ? (uint32_t)units : (uint32_t)(e + 15) << 10 | ((uint32_t)units - 1024));
}

/* ---- one case ---- */

struct data {
    uint32_t in[SOURCES][LANES], out[8][LANES];
    int n_a, n_b, n_c, n_d, selector, byte_a, pair_a, byte_b, thread_b;
};

static int bits_in_register(const struct form *f, int x) {
    const int width = width_of(f->type[x]);
    return strcmp(f->type[x], "tf32") == 0                       ? 32
           : strcmp(f->type[x], "e2m1") == 0 && f->packed        ? 4
           : width == 6 || (width == 4 && format_of(f->type[x])) ? 8
                                                                 : width;
}
/* Returns the position of the lowest bit of a number in its field of the register: an e2m1 is in the middle of its
 * byte, and a tf32 is at the top of its word. */
static int low_bit(const struct form *f, int x) {
    return strcmp(f->type[x], "tf32") == 0 ? 13 : strcmp(f->type[x], "e2m1") == 0 && !f->packed ? 2 : 0;
}
static int per_register(const struct form *f, int x) { return 32 / bits_in_register(f, x); }

/* Returns the bits of element `i` of register `r` in a lane. */
static uint32_t get(const struct form *f, const uint32_t in[][LANES], int x, int r, int lane, int i) {
    const int bits = bits_in_register(f, x), width = width_of(f->type[x]);
    const uint32_t v = in[r][lane] >> (i * bits + low_bit(f, x));
    return width == 32 ? v : v & ((1u << width) - 1);
}

static void draw_registers(const struct form *f, uint64_t *g, struct data *d, int first, int n, int x, int mode) {
    const int bits = bits_in_register(f, x), width = width_of(f->type[x]);
    for (int r = first; r < first + n; r++)
        for (int l = 0; l < LANES; l++) {
            d->in[r][l] = mode ? (uint32_t)test_random(g) : 0; /* bits between the numbers have no meaning */
            for (int i = 0; i < 32 / bits; i++) {
                const int at = i * bits + low_bit(f, x);
                const uint32_t mask = (width == 32 ? 0xffffffffu : (1u << width) - 1) << at;
                d->in[r][l] = (d->in[r][l] & ~mask) | draw(g, f->type[x], mode) << at;
            }
        }
}

/* Lanes of a quad that hold metadata (PTX ISA 9.7.14.6.1): one, a pair, or all four. */
static int metadata_lanes(const struct form *f) {
    const int bits = bits_in_register(f, 1);
    return bits == 32 ? f->k / 8 : bits == 16 ? f->k / 16 : bits == 8 ? f->k / 16 : f->k / 32;
}

static void draw_case(const struct form *f, uint64_t *g, struct data *d, int mode) {
    static const uint8_t pairs[] = {0x4, 0x8, 0xc, 0x9, 0xd, 0xe};
    const int in_a = f->m * f->k / (f->sparse ? 2 : 1) / LANES, in_b = 8 * f->k / LANES, in_c = f->m * 8 / LANES;
    d->n_a = in_a / per_register(f, 1);
    d->n_b = in_b / per_register(f, 2);
    d->n_c = in_c / per_register(f, 3);
    d->n_d = in_c / per_register(f, 0);
    draw_registers(f, g, d, 0, d->n_a, 1, f->bits && mode == 2 ? 1 : mode);
    draw_registers(f, g, d, d->n_a, d->n_b, 2, f->bits && mode == 2 ? 1 : mode);
    draw_registers(f, g, d, d->n_a + d->n_b, d->n_c, 3, mode);
    d->selector = f->sparse ? (int)test_random_below(g, (uint32_t)(4 / metadata_lanes(f))) : 0;
    const int step = f->scales ? f->scales : 1;
    d->byte_a = (int)test_random_below(g, 4) / step * step % 4;
    d->byte_b = (int)test_random_below(g, 4) / step * step % 4;
    d->pair_a = (int)test_random_below(g, 2);
    d->thread_b = (int)test_random_below(g, 4);
    uint32_t *metadata = d->in[d->n_a + d->n_b + d->n_c], *scales = metadata + LANES * f->sparse;
    for (int l = 0; l < LANES; l++) {
        for (int i = 0; i < 8 && f->sparse; i++)
            metadata[l] =
                (i ? metadata[l] : 0) | (uint32_t)(bits_in_register(f, 1) == 32 ? test_random_below(g, 2) ? 0xe : 0x4
                                                                                : pairs[test_random_below(g, 6)])
                                            << 4 * i;
        for (int s = 0; s < 2 && f->scales; s++)
            for (int i = 0; i < 4; i++) {
                const uint32_t byte = mode == EXACT
                                          ? (f->ue4m3 ? 0x30 : 126) + test_random_below(g, 3) * (f->ue4m3 ? 8 : 1)
                                      : f->ue4m3  ? test_random_below(g, 127)
                                      : mode == 0 ? 121 + test_random_below(g, 13)
                                                  : test_random_below(g, mode == 1 && l == 5 ? 256 : 255);
                scales[s * LANES + l] = (i ? scales[s * LANES + l] : 0) | byte << 8 * i;
            }
    }
}

/* Returns the number of the column of a whose element is the j-th element of row r in the registers. */
static int column_of(const struct form *f, const struct data *d, int r, int j) {
    const int bits = bits_in_register(f, 1),
              group = bits == 32  ? 2
                      : bits == 4 ? 8
                                  : 4,
              q = j / (group / 2), i = j % (group / 2);
    if (!f->sparse)
        return j;
    const int lane = r % 8 * 4 + d->selector * metadata_lanes(f) + (bits >= 16 ? q / 4 : r / 8 + q / 8 * 2),
              at = bits >= 16 ? r / 8 * 16 + q % 4 * 4 : q % 8 * 4;
    const uint32_t metadata = d->in[d->n_a + d->n_b + d->n_c][lane] >> at & 15;
    if (bits == 32) /* the metadata 0100 select the first of two columns, 1110 the second */
        return q * 2 + (metadata == 0xe);
    if (bits == 4) /* positions of pairs */
        return q * 8 + (int)(metadata >> i / 2 * 2 & 3) * 2 + i % 2;
    return q * 4 + (int)(metadata >> i * 2 & 3);
}

static double scale_of(const struct form *f, const struct data *d, bool of_b, int index, int column) {
    const uint32_t *words = d->in[d->n_a + d->n_b + d->n_c + f->sparse + of_b];
    const int lane = of_b ? index * 4 + d->thread_b : index % 8 * 4 + d->pair_a * 2 + index / 8,
              byte = (of_b ? d->byte_b : d->byte_a) + column / (f->k / f->scales);
    const uint32_t v = words[lane] >> 8 * byte & 255;
    return f->ue4m3 ? value_of("e4m3", v) : v == 255 ? NAN : ldexp(1, (int)v - 127);
}

/* Returns element j of row r of a, and element k of column n of b, as doubles (PTX ISA 9.7.14.5: rows g and g + 8 are
 * in alternate registers of a; along k, each of the four lanes of a quad holds one register of adjacent elements). */
static double a_at(const struct form *f, const struct data *d, int r, int j) {
    const int per = per_register(f, 1), piece = j / (4 * per), t = j / per % 4, halves = f->m / 8;
    return value_of(f->type[1], get(f, d->in, 1, piece * halves + r / 8, r % 8 * 4 + t, j % per));
}
static double b_at(const struct form *f, const struct data *d, int k, int n) {
    const int per = per_register(f, 2);
    return value_of(f->type[2], get(f, d->in, 2, d->n_a + k / (4 * per), n * 4 + k / per % 4, k % per));
}

/* The matrices as doubles, multiplied by their scales. Element j of row r of a is in column column[r][j]. */
struct matrices {
    double a[16][256], b[256][8];
    int column[16][256];
};

static void decode_matrices(const struct form *f, const struct data *d, struct matrices *x) {
    for (int r = 0; r < f->m; r++)
        for (int j = 0; j < f->k / (f->sparse ? 2 : 1); j++) {
            const int k = x->column[r][j] = column_of(f, d, r, j);
            x->a[r][j] = a_at(f, d, r, j) * (f->scales ? scale_of(f, d, false, r, k) : 1);
        }
    for (int k = 0; k < f->k; k++)
        for (int n = 0; n < 8; n++)
            x->b[k][n] = b_at(f, d, k, n) * (f->scales ? scale_of(f, d, true, n, k) : 1);
}

static uint32_t sum_at(const struct form *f, const struct data *d, const struct matrices *x, int r, int n) {
    const int per_c = per_register(f, 3), lane = r % 8 * 4 + n / 2;
    const uint32_t c =
        get(f, d->in, 3, d->n_a + d->n_b + (per_c == 2 ? r / 8 : r / 8 * 2 + n % 2), lane, per_c == 2 ? n % 2 : 0);
    const bool whole = strcmp(f->type[0], "s32") == 0;
    double sum = value_of(f->type[3], c);
    int64_t integer = (int32_t)c;
    for (int j = 0; j < f->k / (f->sparse ? 2 : 1); j++) {
        const double a = x->a[r][j], b = x->b[x->column[r][j]][n];
        if (f->bits)
            integer += f->is_xor ? a != b : a != 0 && b != 0;
        else if (whole)
            integer += (int64_t)(a * b);
        else
            sum = fma(a, b, sum);
    }
    if (!whole)
        return result_bits(f->type[0], sum);
    if (f->clamp)
        integer = integer > INT32_MAX ? INT32_MAX : integer < INT32_MIN ? INT32_MIN : integer;
    return (uint32_t)integer;
}

static void compare(const struct form *f, const struct data *d, int mode) {
    static struct matrices x;
    const int per = per_register(f, 0);
    decode_matrices(f, d, &x);
    for (int r = 0; r < f->m; r++)
        for (int n = 0; n < 8; n++) {
            const uint32_t have = get(f, d->out, 0, per == 2 ? r / 8 : r / 8 * 2 + n % 2, r % 8 * 4 + n / 2,
                                      per == 2 ? n % 2 : 0),
                           want = sum_at(f, d, &x, r, n);
            EXPECT(have == want, "%s, mode %d: row %d column %d: %x, not %x", f->opcode, mode, r, n, have, want);
        }
}

/* ---- kernels ---- */

static void add_vector(struct text *t, const char *before, int first, int n) {
    for (int i = 0; i < n; i++)
        add(t, "%s%%r%d", i ? "," : before, first + i);
    add(t, "}");
}

/* Adds a kernel that loads the sources into r0 ..., executes the mma, and stores r24 to r27. The selectors of scales
 * are constants or, if `in_registers`, registers. */
static void add_kernel(struct text *t, const struct form *f, const struct data *d, int number, bool in_registers) {
    const int n = d->n_a + d->n_b + d->n_c + f->sparse + (f->scales ? 2 : 0);
    const int select[4] = {d->byte_a, d->pair_a, d->byte_b, d->thread_b};
    add(t,
        ".visible .entry k%d(.param .u64 p) { .reg .b64 %%p; .reg .b32 %%l, %%r<28>; .reg .b16 %%h<4>;\n"
        "ld.param.u64 %%p,[p]; mov.u32 %%l,%%laneid; mad.wide.u32 %%p,%%l,4,%%p;\n",
        number);
    for (int r = 0; r < n; r++)
        add(t, "ld.global.u32 %%r%d,[%%p+%d];\n", r, r * 4 * LANES);
    for (int i = 0; i < 4 && in_registers; i++)
        add(t, "mov.u16 %%h%d,%d;", i, select[i]);
    add(t, "%s ", f->opcode);
    add_vector(t, "{", 24, d->n_d);
    add_vector(t, ",{", 0, d->n_a);
    add_vector(t, ",{", d->n_a, d->n_b);
    add_vector(t, ",{", d->n_a + d->n_b, d->n_c);
    if (f->sparse)
        add(t, ",%%r%d,%d", d->n_a + d->n_b + d->n_c, d->selector);
    for (int i = 0; i < 2 && f->scales; i++)
        add(t, in_registers ? ",%%r%d,{%%h%d,%%h%d}" : ",%%r%d,{%d,%d}", n - 2 + i,
            in_registers ? 2 * i : select[2 * i], in_registers ? 2 * i + 1 : select[2 * i + 1]);
    add(t, ";\n");
    for (int i = 0; i < d->n_d; i++)
        add(t, "st.global.u32 [%%p+%d],%%r%d;", (SOURCES + i) * 4 * LANES, 24 + i);
    add(t, "ret;}\n");
}

static struct heddle *open_machine(bool card) {
    static const char *const set[] = {"gpu.mma_accuracy=card", "gpu.capability=12.0", NULL};
    char err[512];
    struct heddle *h =
        heddle_open(&(struct heddle_options){.model = "functional", .set = card ? set : NULL}, err, sizeof err);
    ck_assert_msg(h != NULL, "%s", err);
    return h;
}

/* Each form runs in one mode, or with HEDDLE_EVERY in all modes but EXACT; with `card`, it runs in mode EXACT. */
static bool runs(int i, int mode, bool card) {
    const bool wanted = card ? mode == EXACT : mode != EXACT && (test_every() || mode == i % EXACT);
    return !forms[i].f64 && !forms[i].oldest && wanted;
}

static void run_group(int group, bool card) {
    static struct text t;
    static struct data d[GROUP * MODES];
    read_forms();
    const int first = group * GROUP, last = first + GROUP < n_forms ? first + GROUP : n_forms;
    uint64_t g = (uint64_t)group + 31;
    t.n = 0;
    add(&t, ".version 9.0\n.target sm_120a\n.address_size 64\n");
    for (int i = first; i < last; i++)
        for (int mode = 0; mode < MODES; mode++) {
            const int at = (i - first) * MODES + mode;
            if (!runs(i, mode, card))
                continue;
            draw_case(&forms[i], &g, &d[at], mode);
            add_kernel(&t, &forms[i], &d[at], at, i % 2);
        }
    struct heddle *h = open_machine(card);
    struct heddle_module *m = heddle_module_text(h, "t.ptx", t.at, t.n);
    EXPECT(m != NULL, "%s", heddle_error(h));
    uint64_t p = heddle_alloc(h, sizeof d[0]);
    struct heddle_arg arg = {&p, 8};
    struct heddle_dim one = {1, 1, 1}, warp = {LANES, 1, 1};
    for (int i = first; i < last; i++)
        for (int mode = 0; mode < MODES; mode++) {
            const int at = (i - first) * MODES + mode;
            char kernel[16];
            if (!runs(i, mode, card))
                continue;
            snprintf(kernel, sizeof kernel, "k%d", at);
            heddle_write(h, p, &d[at], sizeof d[at]);
            EXPECT(heddle_launch(h, m, kernel, one, warp, 0, &arg, 1) == HEDDLE_OK, "%s", heddle_error(h));
            heddle_read(h, p, &d[at], sizeof d[at]);
            compare(&forms[i], &d[at], mode);
        }
    heddle_close(h);
}

START_TEST(every_form_is_computed_as_documented) { run_group(_i, false); }
END_TEST

/* Sums that need few bits are the same with gpu.mma_accuracy=card as with exact sums. */
START_TEST(cards_compute_exact_sums) { run_group(_i, true); }
END_TEST

/* The list has a form for each row of mma. A form with .ue8m0 and a form with .ue4m3 can have the same row, and so can
 * a form with .scale_vec and a form without it. */
START_TEST(no_form_is_missing_from_the_list) {
    uint32_t n;
    const struct isa_row *rows = isa_op_rows(OP_MMA, &n);
    static bool seen[4096];
    read_forms();
    memset(seen, 0, sizeof seen);
    for (int i = 0; i < n_forms; i++) {
        struct decoded d;
        struct decode_error why;
        EXPECT(isa_decode(forms[i].opcode, (uint32_t)strlen(forms[i].opcode), &d, &why), "%s: %s", forms[i].opcode,
               why.message);
        seen[d.row - rows] = true;
    }
    for (uint32_t i = 0; i < n; i++) {
        char name[128];
        isa_row_name(&rows[i], name, sizeof name);
        /* ptxas knows only rn and rz of f64 */
        EXPECT(seen[i] || strstr(name, ".f64"), "%s is not in the list", name);
    }
}
END_TEST

/* Returns the newest target that is older than `target` and lacks the forms of mma that begin with `target`. Returns
 * NULL for a target whose forms Heddle accepts for all targets. */
static const char *target_before(const char *target) {
    return strcmp(target, "89") == 0     ? "sm_86"
           : strcmp(target, "100a") == 0 ? "sm_100"
           : strcmp(target, "120a") == 0 ? "sm_103a"
                                         : NULL;
}

/* Heddle refuses forms of small types for the same targets as ptxas. */
START_TEST(targets_have_their_forms) {
    static struct text t;
    struct data d;
    uint64_t g = 3;
    int n = 0;
    struct heddle *h = open_machine(false);
    uint64_t p = heddle_alloc(h, sizeof d);
    struct heddle_arg arg = {&p, 8};
    struct heddle_dim one = {1, 1, 1}, warp = {LANES, 1, 1};
    read_forms();
    for (int i = 0; i < n_forms; i++) {
        const char *before = target_before(forms[i].target);
        if (!before)
            continue;
        draw_case(&forms[i], &g, &d, 0);
        for (int right = 0; right < 2; right++) {
            t.n = 0;
            add(&t, ".version 9.0\n.target %s%s\n.address_size 64\n", right ? "sm_" : "",
                right ? forms[i].target : before);
            add_kernel(&t, &forms[i], &d, 0, false);
            struct heddle_module *m = heddle_module_text(h, "t.ptx", t.at, t.n);
            const bool ran = m && heddle_launch(h, m, "k0", one, warp, 0, &arg, 1) == HEDDLE_OK;
            EXPECT(ran == right && (right || strstr(heddle_error(h), "does not exist on .target")), "%s on %s: %s",
                   forms[i].opcode, right ? forms[i].target : before, heddle_error(h));
            n++;
        }
    }
    ck_assert_int_gt(n, 40);
    heddle_close(h);
}
END_TEST

SUITE(isa_exec_exec_mma) {
    TEST(targets_have_their_forms);
    TEST_LOOP(every_form_is_computed_as_documented, 0, 7);
    TEST_LOOP(cards_compute_exact_sums, 0, 7);
    TEST(no_form_is_missing_from_the_list);
}
