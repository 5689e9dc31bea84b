/* Tests constant expressions and initialisers of variables. Random expressions are checked against an evaluator of the
 * rules of PTX ISA 4.5, which works on the syntax tree of the printed text, and against ptxas. */
#include "frontend_help.h"
#include "test/test.h"
#include <elf.h>
#include <math.h>
#include <stdio.h>
#include <unistd.h>

#define HEAD ".version 8.3\n.target sm_75\n.address_size 64\n"
enum { VARIABLES = 400, SEEDS = 20 };

/* The value of an expression: 64 bits, and a flag that is set if they are an unsigned number. */
struct value {
    uint64_t bits;
    bool is_unsigned, is_real, bad; /* bad: the expression divides by zero, or makes ptxas crash */
    double real;
};

static struct value whole(uint64_t bits, bool is_unsigned) {
    return (struct value){bits, is_unsigned, false, false, 0};
}

enum { OPERATORS = 18 };
static const struct {
    const char *text;
    int level; /* level of precedence: an operator of a higher level binds more tightly */
} operators[OPERATORS] = {{"*", 10}, {"/", 10}, {"%", 10}, {"+", 9},  {"-", 9},  {"<<", 8},
                          {">>", 8}, {"<", 7},  {">", 7},  {"<=", 7}, {">=", 7}, {"==", 6},
                          {"!=", 6}, {"&", 5},  {"^", 4},  {"|", 3},  {"&&", 2}, {"||", 1}};
enum { SELECT = 0, UNARY = 11 };

static int ordered(struct value a, struct value b) {
    if (a.is_real)
        return (a.real > b.real) - (a.real < b.real);
    if (a.is_unsigned || b.is_unsigned)
        return (a.bits > b.bits) - (a.bits < b.bits);
    return ((int64_t)a.bits > (int64_t)b.bits) - ((int64_t)a.bits < (int64_t)b.bits);
}

static struct value real_of(char op, struct value a, struct value b) {
    double d = op == '+'   ? a.real + b.real
               : op == '-' ? a.real - b.real
               : op == '*' ? a.real * b.real
                           : a.real / b.real;
    return (struct value){.is_real = true, .real = d, .bad = (op == '/' && b.real == 0) || !isfinite(d)};
}

static struct value quotient(char op, struct value a, struct value b) {
    struct value v = whole(0, a.is_unsigned || b.is_unsigned || op == '%');
    if (b.bits == 0 || (!v.is_unsigned && a.bits == (uint64_t)INT64_MIN && b.bits == UINT64_MAX))
        v.bad = true;
    else if (op == '%')
        v.bits = a.bits % b.bits;
    else
        v.bits = v.is_unsigned ? a.bits / b.bits : (uint64_t)((int64_t)a.bits / (int64_t)b.bits);
    return v;
}

static struct value apply(const char *op, struct value a, struct value b) {
    bool u = a.is_unsigned || b.is_unsigned, two = op[1] != '\0';
    struct value v = whole(0, false);
    if (strchr("<>=!", op[0]) && !(two && op[1] == op[0] && op[0] != '=')) {
        int order = ordered(a, b);
        v.bits = op[0] == '<'   ? order < 0 || (two && order == 0)
                 : op[0] == '>' ? order > 0 || (two && order == 0)
                 : op[0] == '=' ? order == 0
                                : order != 0;
    } else if (two && (op[0] == '&' || op[0] == '|')) {
        v.bits = op[0] == '&' ? a.bits && b.bits : a.bits || b.bits;
    } else if (two) {
        unsigned by = b.bits % 64;
        v.is_unsigned = a.is_unsigned;
        v.bits = op[0] == '<' ? a.bits << by : a.is_unsigned ? a.bits >> by : (uint64_t)((int64_t)a.bits >> by);
    } else if (a.is_real) {
        v = real_of(op[0], a, b);
    } else if (op[0] == '/' || op[0] == '%') {
        v = quotient(op[0], a, b);
    } else {
        v = whole(op[0] == '+'   ? a.bits + b.bits
                  : op[0] == '-' ? a.bits - b.bits
                  : op[0] == '*' ? a.bits * b.bits
                  : op[0] == '&' ? a.bits & b.bits
                  : op[0] == '|' ? a.bits | b.bits
                                 : a.bits ^ b.bits,
                  u);
    }
    v.bad |= a.bad || b.bad;
    return v;
}

struct writer {
    uint64_t rng;
    FILE *out;
};

static uint32_t below(struct writer *w, uint32_t n) { return (uint32_t)(test_random(&w->rng) % n); }

static struct value literal(struct writer *w, bool real) {
    static const uint64_t special[] = {0,  1,   2,          3,          7,          31,        63,         64,
                                       65, 255, 0x7fffffff, 0x80000000, 0xffffffff, INT64_MAX, 1ull << 63, UINT64_MAX};
    if (real) { /* a multiple of 1/4, because decimal digits represent it exactly */
        struct value v = {.is_real = true, .real = below(w, 2000) / 4.0};
        fprintf(w->out, below(w, 2) ? "%.2f" : "%.6e", v.real);
        return v;
    }
    uint64_t bits = test_random(&w->rng);
    switch (below(w, 3)) {
    case 0:
        bits = special[bits % (sizeof special / sizeof *special)];
        break;
    case 1:
        bits %= 100;
        break;
    default:
        break;
    }
    const char *u = below(w, 4) ? "" : "U";
    switch (below(w, 4)) {
    case 0:
        fprintf(w->out, "0x%llx%s", (unsigned long long)bits, u);
        break;
    case 1:
        fprintf(w->out, "0%llo%s", (unsigned long long)bits, u);
        break;
    default:
        fprintf(w->out, "%llu%s", (unsigned long long)bits, u);
    }
    return whole(bits, *u || bits > INT64_MAX);
}

/* Writes a random expression and returns its value. The text has the parentheses that it needs as an operand of an
 * operator of level `above`, and sometimes unnecessary ones. */
static struct value expression(struct writer *w, int depth, int above, bool real);

static struct value unary(struct writer *w, int depth, bool real) {
    static const char *const spelling[] = {"- ", "+", "~", "!", "(.u64) ", "(.s64)"};
    uint32_t op = below(w, real ? 2 : 6);
    fputs(spelling[op], w->out);
    struct value a = expression(w, depth - 1, UNARY, real);
    switch (op) {
    case 0:
        a.real = -a.real;
        a.bits = -a.bits;
        break;
    case 2:
        a.bits = ~a.bits;
        a.is_unsigned = true;
        break;
    case 3:
        a.bits = a.bits == 0;
        a.is_unsigned = false;
        break;
    case 4:
    case 5:
        a.is_unsigned = op == 4;
        break;
    default:
        break;
    }
    return a;
}

static struct value choice(struct writer *w, int depth) {
    struct value c = expression(w, depth - 1, SELECT + 1, false);
    fputs(" ? ", w->out);
    struct value a = expression(w, depth - 1, SELECT, false);
    fputs(" : ", w->out);
    struct value b = expression(w, depth - 1, SELECT, false);
    struct value v = c.bits ? a : b;
    v.bad = a.bad || b.bad || c.bad;
    return v;
}

static struct value binary(struct writer *w, int depth, int k, bool real) {
    const char *op = operators[k].text;
    bool compares = operators[k].level == 6 || operators[k].level == 7;
    real |= compares && below(w, 4) == 0;
    struct value a = expression(w, depth - 1, operators[k].level, real);
    fprintf(w->out, " %s ", op);
    struct value b = expression(w, depth - 1, operators[k].level + 1, real);
    return apply(op, a, b);
}

static struct value expression(struct writer *w, int depth, int above, bool real) {
    static const int of_reals[] = {0, 1, 3, 4};
    enum { LITERAL, SIGN, CHOICE, BINARY } what = depth == 0 ? LITERAL : below(w, 10) < 2 ? SIGN : BINARY;
    if (what == BINARY && !real && below(w, 8) == 0)
        what = CHOICE;
    int k = real ? of_reals[below(w, 4)] : (int)below(w, OPERATORS);
    int level = what == BINARY ? operators[k].level : what == CHOICE ? SELECT : UNARY;
    bool group = level < above || below(w, 8) == 0;
    if (group)
        fputc('(', w->out);
    struct value v = what == LITERAL  ? literal(w, real)
                     : what == SIGN   ? unary(w, depth, real)
                     : what == CHOICE ? choice(w, depth)
                                      : binary(w, depth, k, real);
    if (group)
        fputc(')', w->out);
    return v;
}

/* A variable and the bytes that its initial content must begin with. */
struct sample {
    const char *type;
    unsigned bytes;
    uint64_t bits;
};
static const struct sample kinds[] = {{".u64", 8, 0}, {".s64", 8, 0}, {".b64", 8, 0}, {".u32", 4, 0}, {".s32", 4, 0},
                                      {".b32", 4, 0}, {".u16", 2, 0}, {".s16", 2, 0}, {".b16", 2, 0}, {".u8", 1, 0},
                                      {".s8", 1, 0},  {".b8", 1, 0},  {".f64", 8, 0}, {".f32", 4, 0}, {".b128", 16, 0}};

static uint64_t bits_of(const struct sample *s, struct value v) {
    uint64_t bits = v.bits;
    float single = (float)v.real;
    if (v.is_real && s->bytes == 8)
        memcpy(&bits, &v.real, 8);
    if (v.is_real && s->bytes == 4) {
        bits = 0;
        memcpy(&bits, &single, 4);
    }
    return s->bytes < 8 ? bits & ((1ull << 8 * s->bytes) - 1) : bits;
}

/* Returns the text of a module with variables v0, v1, ... of all types. The caller frees it. */
static char *random_variables(uint64_t seed, struct sample out[VARIABLES]) {
    char *text, *value;
    size_t len, value_len;
    FILE *to = open_memstream(&text, &len);
    struct writer w = {.rng = seed};
    ck_assert_ptr_nonnull(to);
    fputs(HEAD, to);
    for (int i = 0; i < VARIABLES;) {
        struct sample *s = &out[i];
        *s = kinds[below(&w, sizeof kinds / sizeof *kinds)];
        w.out = open_memstream(&value, &value_len);
        ck_assert_ptr_nonnull(w.out);
        struct value v = expression(&w, (int)below(&w, 5), SELECT, s->type[1] == 'f');
        fclose(w.out);
        s->bits = bits_of(s, v);
        if (!v.bad && value_len < 2000)
            fprintf(to, ".visible .global %s v%d = %s;\n", s->type, i++, value);
        free(value);
    }
    fputs(".visible .entry k() { ret; }\n", to);
    fclose(to);
    return text;
}

static const char *line_of(const char *text, int variable, int *len) {
    for (int i = 0; i < variable + 3; i++)
        text = strchr(text, '\n') + 1;
    *len = (int)strcspn(text, "\n");
    return text;
}

/* Compares the initial content of a variable with the expected bytes. */
static void same_bytes(const char *who, const char *text, int i, const struct sample *s, const unsigned char *bytes) {
    uint64_t got = 0, high = 0;
    int len;
    memcpy(&got, bytes, s->bytes < 8 ? s->bytes : 8);
    if (s->bytes == 16)
        memcpy(&high, bytes + 8, 8);
    if (got == s->bits && high == 0)
        return;
    const char *line = line_of(text, i, &len);
    ck_abort_msg("%s: %.*s\nis %#llx, not %#llx", who, len, line, (unsigned long long)got, (unsigned long long)s->bits);
}

START_TEST(random_expressions) {
    struct sample s[VARIABLES];
    char *text = random_variables((uint64_t)_i, s), said[1000];
    struct lowered *l = lower_text(text, NULL);
    ck_assert_str_eq(lowered_errors(l, said, sizeof said), "");
    ck_assert_int_eq(l->image->n_variables, VARIABLES);
    for (int i = 0; i < VARIABLES; i++)
        same_bytes("heddle", text, i, &s[i], l->image->variables[i].init);
    lowered_free(l);
    free(text);
}
END_TEST

static const char *ptxas(void) {
    static const char *const places[] = {"/usr/local/cuda/bin/ptxas", "/opt/cuda/bin/ptxas", "/usr/bin/ptxas"};
    for (size_t i = 0; i < sizeof places / sizeof *places; i++)
        if (access(places[i], X_OK) == 0)
            return places[i];
    return NULL;
}

/* Returns the object file that ptxas makes from the text; NULL when ptxas reports an error. The caller frees it. */
static unsigned char *assembled(const char *text) {
    char folder[] = "/tmp/heddle-ptxas-XXXXXX", command[400], path[100];
    ck_assert_ptr_nonnull(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/a.ptx", folder);
    FILE *f = fopen(path, "w");
    ck_assert_ptr_nonnull(f);
    fputs(text, f);
    fclose(f);
    snprintf(command, sizeof command, "%s -arch=sm_75 %s/a.ptx -o %s/a.out", ptxas(), folder, folder);
    bool good = system(command) == 0;
    unsigned char *object = NULL;
    snprintf(path, sizeof path, "%s/a.out", folder);
    f = good ? fopen(path, "rb") : NULL;
    if (f) {
        fseek(f, 0, SEEK_END);
        long len = ftell(f);
        rewind(f);
        object = malloc((size_t)len);
        ck_assert(object && fread(object, 1, (size_t)len, f) == (size_t)len);
        fclose(f);
    }
    snprintf(command, sizeof command, "rm -r %s", folder);
    ck_assert_int_eq(system(command), 0);
    return object;
}

/* Returns the initial bytes of a variable in the object file; NULL when they are zeros. */
static const unsigned char *initial_bytes(const unsigned char *object, const char *name) {
    const Elf64_Ehdr *head = (const void *)object;
    const Elf64_Shdr *sections = (const void *)(object + head->e_shoff);
    for (int k = 0; k < head->e_shnum; k++) {
        if (sections[k].sh_type != SHT_SYMTAB)
            continue;
        const Elf64_Sym *symbols = (const void *)(object + sections[k].sh_offset);
        const char *names = (const char *)object + sections[sections[k].sh_link].sh_offset;
        for (uint64_t i = 0; i < sections[k].sh_size / sizeof *symbols; i++)
            if (strcmp(names + symbols[i].st_name, name) == 0) {
                const Elf64_Shdr *home = &sections[symbols[i].st_shndx];
                return home->sh_type == SHT_NOBITS ? NULL : object + home->sh_offset + symbols[i].st_value;
            }
    }
    ck_abort_msg("the object has no '%s'", name);
}

START_TEST(ptxas_agrees) {
    if (!ptxas()) {
        if (_i == 1)
            fprintf(stderr, "frontend_constants: no ptxas here; its constants are not compared\n");
        return;
    }
    static const unsigned char zeros[16];
    struct sample s[VARIABLES];
    char *text = random_variables((uint64_t)_i, s), name[16];
    unsigned char *object = assembled(text);
    ck_assert_ptr_nonnull(object);
    for (int i = 0; i < VARIABLES; i++) {
        snprintf(name, sizeof name, "v%d", i);
        const unsigned char *bytes = initial_bytes(object, name);
        same_bytes("ptxas", text, i, &s[i], bytes ? bytes : zeros);
    }
    free(object);
    free(text);
}
END_TEST

/* Initialisers of each type and the first element that ptxas of CUDA 13 makes from them. */
static const struct {
    const char *declaration;
    uint64_t bits;
} initial[] = {
    {".u8 g = 256", 0},
    {".u8 g = -129", 0x7f},
    {".s8 g = 200", 0xc8},
    {".u16 g[2] = {65536, 65537}", 0x10000},
    {".s16 g = -40000", 0x63c0},
    {".u32 g = 0x1122334455667788", 0x55667788},
    {".s32 g = -2147483649", 0x7fffffff},
    {".u64 g = (~1) / 3", 0x5555555555555554},
    {".b32 g = 1.5", 0x3fc00000},
    {".b32 g = 0f3FC00000", 0x3fc00000},
    {".b64 g = 1.5", 0x3ff8000000000000},
    {".b64 g = 0f3F800000", 0x3f800000},
    /* a 0f literal gives the bits of the variable directly; they are not converted to a double */
    {".f64 g = 0f3F800000", 0x3f800000},
    {".f32 g = 0d3FF8000000000000", 0x3fc00000},
    {".f32 g = 1e300", 0x7f800000},
    {".f32 g = 0.1", 0x3dcccccd},
    {".b128 g = -1", UINT64_MAX},
    {".u8 g[2][3] = {{1, 2}, {-1, 300}}", 0x2cff000201},
    {".u32 g[2] = {-1, WARP_SZ}", 0x20ffffffff},
    {".v2 .u16 g = {-1, 65537}", 0x1ffff},
};

START_TEST(initial_values) {
    char text[300], said[1000];
    snprintf(text, sizeof text, HEAD ".global %s;\n.entry k() { ret; }\n", initial[_i].declaration);
    struct lowered *l = lower_text(text, NULL);
    ck_assert_str_eq(lowered_errors(l, said, sizeof said), "");
    const struct image_variable *v = &l->image->variables[0];
    uint64_t bits = 0;
    memcpy(&bits, v->init, v->bytes < 8 ? v->bytes : 8);
    ck_assert_msg(bits == initial[_i].bits, "%#llx, not %#llx", (unsigned long long)bits,
                  (unsigned long long)initial[_i].bits);
    lowered_free(l);
}
END_TEST

SUITE(frontend_constants) {
    TEST_LOOP(random_expressions, 0, SEEDS);
    TEST_LOOP(ptxas_agrees, 1, 4);
    TEST_LOOP(initial_values, 0, sizeof initial / sizeof *initial);
}
