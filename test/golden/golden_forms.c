#include "golden_forms.h"
#include "isa/decode.h"
#include "test/random/random_kernel.h"
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LOP3_TABLE = 0x1b }; /* a truth table whose result depends on each of a, b and c */

static struct {
    uint32_t *row; /* maps the index of a form to the index of its table row */
    uint32_t n;
} forms;
static pthread_once_t once = PTHREAD_ONCE_INIT;

/* Returns whether a table row is a tested form: its result is exact and depends only on its operands, and its name
 * tells the operand types. Excluded are internal rows ('#'), approximate rows, video instructions (their selectors are
 * part of the operands), cvta (it converts addresses), and cvt.rs with four sources (it has two table rows). */
static bool is_form(const struct isa_row *r) {
    const char *mnemonic = isa_ops[r->op].mnemonic;
    bool four = r->op == OP_CVT && form_get(r->form, CAT_RND) == RND_RS && r->d != T_F16X2 && r->d != T_BF16X2;
    return (r->kind == K_LANE || r->kind == K_CVT) && mnemonic[0] != '#' && mnemonic[0] != 'v' && r->op != OP_CVTA &&
           !r->bound && !four && r->d != T_NONE && r->a != T_NONE && r->a != T_B128 && r->d != T_B128;
}

static void find_forms(void) {
    uint32_t n;
    const struct isa_row *rows = isa_all_rows(&n);
    forms.row = calloc(n, sizeof *forms.row);
    if (!forms.row)
        abort();
    for (uint32_t i = 0; i < n; i++)
        if (is_form(&rows[i]))
            forms.row[forms.n++] = i;
}

uint32_t golden_count(void) {
    pthread_once(&once, find_forms);
    return forms.n;
}

static const struct isa_row *row_of(uint32_t form) {
    uint32_t n;
    pthread_once(&once, find_forms);
    return &isa_rows(&n)[forms.row[form]];
}

static bool is_lop3(const struct isa_row *r) { return strcmp(isa_ops[r->op].mnemonic, "lop3") == 0; }

int golden_key(uint32_t form, char key[GOLDEN_KEY]) {
    const struct isa_row *r = row_of(form);
    const uint8_t types[] = {r->d, r->d2, r->a, r->b, r->c, r->e};
    int n = isa_row_name(r, key, GOLDEN_KEY);
    for (int i = 0; i < 6; i++)
        if (types[i] != T_NONE)
            n += snprintf(key + n, (size_t)(GOLDEN_KEY - n), " %s", type_name((enum type)types[i]));
    return (int)strcspn(key, ". ");
}

/* ---- inputs ---- */

/* The most important values come first: a form with three operands uses the first ten values, a form with four operands
 * the first five. */
static const uint64_t integers[] = {0,  1,   ~0ull, 2,   31, 32, 8,  7,          63,
                                    64, 255, 128,   127, 16, 24, 33, 0x12345678, 0xdeadbeef};
static const uint32_t floats[] = {
    0x00000000, 0x3f800000, 0x7fc00000, 0x7f800000, 0x80000001, 0xbf800000, 0x80000000, 0x7f7fffff,
    0x00800000, 0x3f000000, 0xff800000, 0x00000001, 0x007fffff, 0xff7fffff, 0x40490fdb, 0x3fc00000,
    0x40200000, 0xbf000000, 0x4effffff, 0x4f000000, 0xcf000000, 0x4f800000, 0x5f000000, 0xdf000000,
    0x5f800000, 0x3f7fffff, 0x3f800001, 0x43800000, 0xc3000000, 0x33800000, 0x7f800001, 0xffffffff,
};
static const uint16_t halves[] = {0x0000, 0x3c00, 0x7e00, 0x7c00, 0x8001, 0xbc00, 0x8000, 0x7bff,
                                  0x0400, 0x3800, 0xfc00, 0x0001, 0x03ff, 0xfbff, 0x4248, 0x3e00,
                                  0x4100, 0xb800, 0x5bff, 0x6400, 0x3bff, 0x3c01};

static uint64_t integer_special(unsigned bits, uint32_t k) {
    uint64_t top = 1ull << (bits - 1);
    const uint64_t edges[] = {top, top - 1, top + 1, ~top, top >> 1, 1ull << bits / 2, (1ull << bits / 2) - 1};
    uint32_t n = sizeof integers / sizeof integers[0];
    if (k == 3 || k == 4) /* the top bit and the maximum must be among the first five values */
        return edges[k - 3];
    return k < n ? integers[k] : edges[(k - n) % (sizeof edges / sizeof edges[0])];
}

/* Returns a special value of f64: one of `edges`, or an f32 special value converted to f64. */
static uint64_t f64_special(uint32_t k) {
    static const uint64_t edges[] = {0, 0x3ff0000000000000, 0x7ff8000000000000, 0x7ff0000000000000, 0x8000000000000001};
    uint32_t word = floats[k % (sizeof floats / sizeof floats[0])];
    float f;
    memcpy(&f, &word, sizeof f);
    double d = f;
    uint64_t bits;
    memcpy(&bits, &d, sizeof bits);
    return k < 5 ? edges[k] : k == 7 ? 0x7fefffffffffffff : k == 8 ? 0x0010000000000000 : k == 11 ? 1 : bits;
}

static uint32_t n_specials(enum type t, uint32_t wanted) {
    uint32_t n = t == T_PRED ? 2 : t == T_F16 || t == T_F16X2 ? sizeof halves / sizeof halves[0] : 25;
    if (t == T_F32 || t == T_F32X2 || t == T_TF32 || t == T_F64 || t == T_BF16 || t == T_BF16X2)
        n = sizeof floats / sizeof floats[0];
    return n < wanted ? n : wanted;
}

static uint64_t special(enum type t, uint32_t k) {
    switch (t) {
    case T_PRED:
        return k & 1;
    case T_F32:
    case T_TF32:
        return floats[k];
    case T_F64:
        return f64_special(k);
    case T_F16:
        return halves[k];
    case T_F16X2:
        return halves[k] | (uint32_t)halves[(k * 7 + 3) % (sizeof halves / sizeof halves[0])] << 16;
    case T_BF16:
        return floats[k] >> 16;
    case T_F32X2:
        return floats[k] | (uint64_t)floats[(k * 7 + 3) % (sizeof floats / sizeof floats[0])] << 32;
    case T_BF16X2:
        return floats[k] >> 16 | (floats[(k * 7 + 3) % (sizeof floats / sizeof floats[0])] & 0xffff0000);
    default:
        return integer_special(8 * type_bytes(t), k);
    }
}

/* Returns random bits. Half of the floating-point numbers have an exponent near that of 1, so that not all sums and
 * products overflow. Half of the integers are small. */
static uint64_t random_value(enum type t, uint64_t *rng) {
    uint64_t v = test_random(rng);
    bool near = test_random(rng) & 1;
    switch (t) {
    case T_PRED:
        return v & 1;
    case T_F32:
    case T_TF32:
        return near ? (v & 0x83ffffff) + 0x3e000000 : v;
    case T_F64:
        return near ? (v & 0x803fffffffffffff) + 0x3fe0000000000000 : v;
    case T_F16:
        return near ? (v & 0x8fff) + 0x3400 : v;
    case T_F16X2:
        return near ? (v & 0x8fff8fff) + 0x34003400 : v;
    case T_BF16:
        return near ? (v & 0x83ff) + 0x3e00 : v;
    case T_BF16X2:
        return near ? (v & 0x83ff83ff) + 0x3e003e00 : v;
    case T_F32X2:
        return near ? (v & 0x83ffffff83ffffff) + 0x3e0000003e000000 : v;
    default:
        return near ? v & 0x3f : v;
    }
}

static uint64_t cut(enum type t, uint64_t v) {
    unsigned bytes = type_bytes(t);
    return t == T_PRED ? v & 1 : bytes && bytes < 8 ? v & ((1ull << 8 * bytes) - 1) : v;
}

/* Returns whether a table row divides integers. For these rows operand b must not be 0, since division by zero has no
 * defined result. */
static bool divides(const struct isa_row *r) {
    const char *m = isa_ops[r->op].mnemonic;
    return (strcmp(m, "div") == 0 || strcmp(m, "rem") == 0) && type_class((enum type)r->b) != 'f';
}

void golden_inputs(uint32_t form, struct golden_input in[GOLDEN_INPUTS]) {
    /* number of special values per operand, by the number of operands: 32^2, 10^3, 5^4 <= GOLDEN_CROSSED */
    static const uint32_t wanted[] = {32, 32, 32, 10, 5};
    const struct isa_row *r = row_of(form);
    const enum type t[4] = {(enum type)r->a, (enum type)r->b, (enum type)r->c, (enum type)r->e};
    int operands = 0;
    for (int k = 0; k < 4; k++)
        operands += t[k] != T_NONE;
    char key[GOLDEN_KEY];
    golden_key(form, key);
    uint64_t rng = 0;
    for (const char *c = key; *c;
         c++) /* seeded by the form's key, so that new table rows do not change other forms' inputs */
        rng = (rng ^ (unsigned char)*c) * 0x100000001b3;
    for (uint32_t i = 0; i < GOLDEN_INPUTS; i++) {
        uint32_t rest = i;
        for (int k = 0; k < 4; k++) {
            uint32_t n = t[k] == T_NONE ? 1 : n_specials(t[k], wanted[operands]);
            uint64_t v = t[k] == T_NONE ? 0 : i < GOLDEN_CROSSED ? special(t[k], rest % n) : random_value(t[k], &rng);
            rest /= n;
            in[i].operand[k] = cut(t[k], v);
        }
        if (rest && i < GOLDEN_CROSSED) /* all combinations are used, so this input is random */
            for (int k = 0; k < 4; k++)
                in[i].operand[k] = t[k] == T_NONE ? 0 : cut(t[k], random_value(t[k], &rng));
        if (divides(r) && in[i].operand[1] == 0)
            in[i].operand[1] = 1;
        if (is_lop3(r))
            in[i].operand[3] = LOP3_TABLE;
    }
}

/* ---- PTX ---- */

/* Returns the type of a register. */
static const char *register_type(enum type t) {
    switch (t) {
    case T_PRED:
        return ".pred";
    case T_F32:
        return ".f32";
    case T_F64:
        return ".f64";
    case T_E2M1X2:
        return ".b8";
    default:
        return type_bytes(t) <= 2 ? ".b16" : type_bytes(t) == 4 ? ".b32" : ".b64";
    }
}

static const char *memory_type(enum type t) {
    if (type_bytes(t) == 1)
        return t == T_S8 ? ".s8" : ".u8";
    return register_type(t);
}

struct text {
    char *at;
    size_t left;
};
static void put(struct text *t, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
static void put(struct text *t, const char *fmt, ...) {
    va_list args;
    va_start(args, fmt);
    int n = vsnprintf(t->at, t->left, fmt, args);
    va_end(args);
    if (n < 0 || (size_t)n >= t->left)
        abort();
    t->at += n;
    t->left -= (size_t)n;
}

/* Returns whether a form has a second result. In PTX, setp on a single f16 or bf16 has one result; setp on a pair has
 * two. */
static bool writes_second(const struct isa_row *r) {
    return r->d2 != T_NONE && !(r->d2_optional && (r->a == T_F16 || r->a == T_BF16));
}

static bool reads_carry(const struct isa_row *r) {
    const char *m = isa_ops[r->op].mnemonic;
    return strcmp(m, "addc") == 0 || strcmp(m, "subc") == 0 || strcmp(m, "madc") == 0;
}

static void put_load(struct text *t, char name, enum type type, int slot) {
    if (type == T_NONE)
        return;
    if (type == T_PRED)
        put(t, ".reg .pred %%%c; ld.global.u32 %%w, [%%in+%d]; setp.ne.u32 %%%c, %%w, 0; ", name, 8 * slot, name);
    else
        put(t, ".reg %s %%%c; ld.global%s %%%c, [%%in+%d]; ", register_type(type), name, memory_type(type), name,
            8 * slot);
}

static void put_store(struct text *t, const char *name, enum type type, int slot) {
    if (type == T_PRED)
        put(t, "selp.u32 %%w, 1, 0, %%%s; st.global.u32 [%%out+%d], %%w; ", name, 8 * slot);
    else
        put(t, "st.global%s [%%out+%d], %%%s; ", type_bytes(type) == 1 ? ".u8" : memory_type(type), 8 * slot, name);
}

void golden_ptx(uint32_t form, char text[GOLDEN_TEXT]) {
    const struct isa_row *r = row_of(form);
    struct text t = {text, GOLDEN_TEXT};
    char name[128];
    const bool writes = form_get(r->form, CAT_CC) != 0, reads = reads_carry(r);
    isa_row_name(r, name, sizeof name);
    put(&t, ".visible .entry f%u(.param .u64 in, .param .u64 out) { .reg .b64 %%in, %%out; .reg .b32 %%w, %%i; ", form);
    put(&t, "ld.param.u64 %%in, [in]; ld.param.u64 %%out, [out]; mov.u32 %%w, %%ctaid.x; mov.u32 %%i, %%ntid.x; ");
    put(&t, "mul.lo.u32 %%w, %%w, %%i; mov.u32 %%i, %%tid.x; add.u32 %%i, %%i, %%w; ");
    put(&t, "mad.wide.u32 %%in, %%i, 32, %%in; mad.wide.u32 %%out, %%i, 16, %%out; ");
    put_load(&t, 'a', (enum type)r->a, 0);
    put_load(&t, 'b', (enum type)r->b, 1);
    put_load(&t, 'c', (enum type)r->c, 2);
    if (!is_lop3(r))
        put_load(&t, 'e', (enum type)r->e, 3);
    put(&t, ".reg %s %%d; ", register_type((enum type)r->d));
    if (reads) /* sets the carry flag if %e is true: 1 + 0xffffffff carries */
        put(&t, "selp.u32 %%w, 1, 0, %%e; add.cc.u32 %%w, %%w, 0xffffffff; ");
    if (writes_second(r) && !writes)
        put(&t, ".reg %s %%d2; %s %%d|%%d2", register_type((enum type)r->d2), name);
    else
        put(&t, "%s %%d", name);
    put(&t, ", %%a%s%s", r->b != T_NONE ? ", %b" : "", r->c != T_NONE ? ", %c" : "");
    if (is_lop3(r))
        put(&t, ", %d", LOP3_TABLE);
    else if (r->e != T_NONE && !reads)
        put(&t, ", %%e");
    put(&t, "; ");
    if (writes) /* reads the flag by 0 + 0 + carry */
        put(&t, "addc.u32 %%w, 0, 0; st.global.u32 [%%out+8], %%w; ");
    put_store(&t, "d", (enum type)r->d, 0);
    if (writes_second(r) && !writes)
        put_store(&t, "d2", (enum type)r->d2, 1);
    put(&t, "ret; }");
}

/* ---- results ---- */

union lanes {
    uint8_t b1[WARP_LANES];
    uint16_t b2[WARP_LANES];
    uint32_t b4[WARP_LANES];
    uint64_t b8[2 * WARP_LANES];
    uint32_t mask;
};

static void lane_put(union lanes *u, enum type t, int lane, uint64_t v) {
    switch (t == T_PRED ? 0 : type_bytes(t)) {
    case 0:
        u->mask = (u->mask & ~(1u << lane)) | (uint32_t)(v & 1) << lane;
        break;
    case 1:
        u->b1[lane] = (uint8_t)v;
        break;
    case 2:
        u->b2[lane] = (uint16_t)v;
        break;
    case 4:
        u->b4[lane] = (uint32_t)v;
        break;
    default:
        u->b8[lane] = v;
    }
}

static uint64_t lane_get(const union lanes *u, enum type t, int lane) {
    switch (t == T_PRED ? 0 : type_bytes(t)) {
    case 0:
        return t == T_PRED ? u->mask >> lane & 1 : 0;
    case 1:
        return u->b1[lane];
    case 2:
        return u->b2[lane];
    case 4:
        return u->b4[lane];
    default:
        return u->b8[lane];
    }
}

void golden_execute(uint32_t form, const struct golden_input *in, struct golden_result *out, uint32_t n) {
    const struct isa_row *r = row_of(form);
    const enum type t[4] = {(enum type)r->a, (enum type)r->b, (enum type)r->c, (enum type)r->e};
    for (uint32_t first = 0; first < n; first += WARP_LANES) {
        _Alignas(64) union lanes s[4], d, d2;
        memset(s, 0, sizeof s);
        memset(&d, 0, sizeof d);
        memset(&d2, 0, sizeof d2);
        for (int l = 0; l < WARP_LANES && first + (uint32_t)l < n; l++)
            for (int k = 0; k < 4; k++)
                if (t[k] != T_NONE)
                    lane_put(&s[k], t[k], l, in[first + (uint32_t)l].operand[k]);
        r->fn.lane(&d, &d2, &s[0], &s[1], &s[2], &s[3]);
        for (int l = 0; l < WARP_LANES && first + (uint32_t)l < n; l++)
            out[first + (uint32_t)l] = (struct golden_result){
                lane_get(&d, (enum type)r->d, l), writes_second(r) ? lane_get(&d2, (enum type)r->d2, l) : 0};
    }
}

static uint64_t one_nan(uint64_t v, uint64_t magnitude, uint64_t infinity, uint64_t nan) {
    return (v & magnitude) > infinity ? nan : v;
}

static uint64_t canonical(enum type t, uint64_t v) {
    switch (t) {
    case T_F32:
    case T_TF32:
        return one_nan(v, 0x7fffffff, 0x7f800000, 0x7fffffff);
    case T_F64:
        return one_nan(v, 0x7fffffffffffffff, 0x7ff0000000000000, 0x7fffffffffffffff);
    case T_F16:
        return one_nan(v, 0x7fff, 0x7c00, 0x7fff);
    case T_BF16:
        return one_nan(v, 0x7fff, 0x7f80, 0x7fff);
    case T_F16X2:
        return canonical(T_F16, v & 0xffff) | canonical(T_F16, v >> 16) << 16;
    case T_BF16X2:
        return canonical(T_BF16, v & 0xffff) | canonical(T_BF16, v >> 16) << 16;
    case T_F32X2:
        return canonical(T_F32, v & UINT32_MAX) | canonical(T_F32, v >> 32) << 32;
    case T_E4M3X2:
        return one_nan(v & 0xff, 0x7f, 0x7e, 0x7f) | one_nan(v >> 8, 0x7f, 0x7e, 0x7f) << 8;
    case T_E5M2X2:
        return one_nan(v & 0xff, 0x7f, 0x7c, 0x7f) | one_nan(v >> 8, 0x7f, 0x7c, 0x7f) << 8;
    default:
        return v;
    }
}

void golden_canonical(uint32_t form, struct golden_result *r, uint32_t n) {
    const struct isa_row *row = row_of(form);
    for (uint32_t i = 0; i < n; i++)
        r[i] = (struct golden_result){canonical((enum type)row->d, r[i].d), canonical((enum type)row->d2, r[i].d2)};
}

uint32_t golden_hash(const struct golden_result *r, uint32_t n) {
    uint64_t h = 0xcbf29ce484222325;
    for (uint32_t i = 0; i < n; i++) {
        h = (h ^ r[i].d) * 0x9e3779b97f4a7c15;
        h = ((h ^ h >> 32) ^ r[i].d2) * 0x9e3779b97f4a7c15;
        h ^= h >> 29;
    }
    return (uint32_t)(h >> 32);
}

uint32_t golden_raw(uint32_t k) { return k * (GOLDEN_CROSSED / GOLDEN_RAW) + k % (GOLDEN_CROSSED / GOLDEN_RAW); }
