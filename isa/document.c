/* Prints the table of supported instructions. Rows of the instruction table that differ in one type or modifier become
 * one line. The notation is exact: every combination of the types and modifiers in a line exists. */
#include "document.h"
#include "compound.h"
#include "words.h"
#include <assert.h>
#include <string.h>

enum { MAX_OP_ROWS = 8192 };

/* The rows of one opcode, and which of them are printed already. */
struct rest {
    const struct isa_row *at;
    uint32_t n;
    bool done[MAX_OP_ROWS];
};

static bool same_text(const char *a, const char *b) { return a == b || (a && b && strcmp(a, b) == 0); }
static bool same_class(const struct isa_row *a, const struct isa_row *b) {
    return a->latency == b->latency && same_text(a->bound, b->bound);
}
static bool same_types(const struct isa_row *a, const struct isa_row *b) {
    return memcmp(a->types, b->types, sizeof a->types) == 0;
}

/* Returns true if row `i` has the types and class of `key` and is not printed yet. */
static bool is_like(const struct rest *r, uint32_t i, const struct isa_row *key) {
    return !r->done[i] && same_types(&r->at[i], key) && same_class(&r->at[i], key);
}

/* A set of forms: all combinations of the allowed values of each category (bit v: value v is allowed). */
struct product {
    uint64_t values[N_CATEGORIES];
};

static uint64_t combinations(const struct product *p) {
    uint64_t n = 1;
    for (int c = 0; c < N_CATEGORIES; c++)
        n *= (uint64_t)__builtin_popcountll(p->values[c]);
    return n;
}
static bool contains(const struct product *p, uint64_t form) {
    for (int c = 0; c < N_CATEGORIES; c++)
        if (!(p->values[c] >> form_get(form, c) & 1))
            return false;
    return true;
}
static uint64_t count_like(const struct rest *r, const struct isa_row *key, const struct product *p) {
    uint64_t n = 0;
    for (uint32_t i = 0; i < r->n; i++)
        n += is_like(r, i, key) && contains(p, r->at[i].form);
    return n;
}

/* Returns a large product of forms that contains the form of `key`. Each form in it exists with the types of `key`. The
 * function starts with the form of `key` and adds one value at a time. */
static struct product grow(const struct rest *r, const struct isa_row *key) {
    struct product p;
    for (int c = 0; c < N_CATEGORIES; c++)
        p.values[c] = (uint64_t)1 << form_get(key->form, c);
    for (uint32_t i = 0; i < r->n; i++) {
        if (!is_like(r, i, key))
            continue;
        for (int c = 0; c < N_CATEGORIES; c++) {
            const uint64_t old = p.values[c], more = old | (uint64_t)1 << form_get(r->at[i].form, c);
            p.values[c] = more;
            if (more != old && count_like(r, key, &p) != combinations(&p))
                p.values[c] = old;
        }
    }
    return p;
}

/* Returns true if each instruction that the product stands for exists with the types of `other`. */
static bool covers(const struct rest *r, const struct isa_row *other, const struct isa_row *key,
                   const struct product *p) {
    return same_class(other, key) && count_like(r, other, p) == combinations(p);
}

/* Prints text in a table cell; a | is escaped, since it would end the cell. */
static void print_cell(FILE *out, const char *text) {
    for (; *text; text++)
        fprintf(out, *text == '|' ? "\\|" : "%c", *text);
}

/* Prints a product of forms: ".lo .hi, [.sat]". */
static void print_product(FILE *out, const struct product *p) {
    const char *between = "";
    bool sync = false;
    for (unsigned i = 0; category_in_order(i) != N_CATEGORIES; i++) {
        const enum category c = category_in_order(i);
        if (p->values[c] == 1 || (c == CAT_SYNC && sync))
            continue;
        sync |= c == CAT_SYNC;
        const bool optional = p->values[c] & 1;
        fprintf(out, "%s%s", between, optional ? "[" : "");
        const char *space = "";
        for (unsigned v = 1; v < 64; v++)
            if (p->values[c] >> v & 1) {
                fprintf(out, "%s.%s", space, word_of(c, v));
                space = " ";
            }
        fputs(optional ? "]" : "", out);
        between = ", ";
    }
}

/* A set of type lists, each with one to four types. */
struct tuples {
    uint8_t at[MAX_OP_ROWS][ISA_MAX_TYPES];
    uint32_t n;
};

static bool has_tuple(const struct tuples *t, const uint8_t *from, unsigned n, uint8_t first, const uint8_t *rest) {
    for (uint32_t i = 0; i < t->n; i++)
        if (memcmp(t->at[i], from, n) == 0 && t->at[i][n] == first &&
            memcmp(&t->at[i][n + 1], rest, sizeof t->at[i] - n - 1) == 0)
            return true;
    return false;
}
/* Returns true if, after the `n` types `from`, type `a` and type `b` may be followed by the same types. */
static bool same_rest(const struct tuples *t, const uint8_t *from, unsigned n, uint8_t a, uint8_t b) {
    for (uint32_t i = 0; i < t->n; i++) {
        const uint8_t *x = t->at[i];
        if (memcmp(x, from, n) == 0 && ((x[n] == a && !has_tuple(t, from, n, b, x + n + 1)) ||
                                        (x[n] == b && !has_tuple(t, from, n, a, x + n + 1))))
            return false;
    }
    return true;
}

/* Prints the types that may be at position `n`, after the types `from`. Types with the same continuations share a
 * group: "(.u32 .s32)(.b16 .b32), .f16.f16". `prefix` is the part of the group that is already printed. */
static void print_tuples(FILE *out, const struct tuples *t, const uint8_t *from, unsigned n, const char *prefix,
                         const char **between) {
    bool seen[N_TYPES] = {false};
    for (uint32_t i = 0; i < t->n; i++) {
        const uint8_t first = t->at[i][n];
        if (memcmp(t->at[i], from, n) != 0 || seen[first])
            continue;
        char group[512];
        int members = 0;
        size_t len = 0;
        group[0] = '\0';
        for (uint32_t k = i; k < t->n; k++) {
            const uint8_t other = t->at[k][n];
            if (memcmp(t->at[k], from, n) != 0 || seen[other] || !same_rest(t, from, n, first, other))
                continue;
            seen[other] = true;
            len += (size_t)snprintf(group + len, sizeof group - len, "%s%s", members++ ? " " : "", type_name(other));
            assert(len < sizeof group);
        }
        char text[1024];
        const bool alone = n == 0 && t->at[0][1] == T_NONE; /* types without continuations need no brackets */
        snprintf(text, sizeof text, members > 1 && !alone ? "%s(%s)" : "%s%s", prefix, group);
        uint8_t next[ISA_MAX_TYPES];
        memcpy(next, from, n);
        next[n] = first;
        if (n + 1 < ISA_MAX_TYPES && t->at[i][n + 1] != T_NONE) {
            print_tuples(out, t, next, n + 1, text, between);
        } else {
            fprintf(out, "%s%s", *between, text);
            *between = ", ";
        }
    }
}

/* Prints one line: a product of forms, and all types that have it. */
static void print_line(FILE *out, struct rest *r, const struct isa_row *key) {
    const struct product p = grow(r, key);
    const char *between = "";
    struct tuples types = {.n = 0};
    fputs("| | ", out);
    print_product(out, &p);
    fputs(" | ", out);
    for (uint32_t i = 0; i < r->n; i++) {
        const struct isa_row *other = &r->at[i];
        if (r->done[i] || !covers(r, other, key, &p))
            continue;
        memcpy(types.at[types.n++], other->types, sizeof other->types);
        /* this loop marks the other rows of these types that the line covers; row i is marked after it */
        for (uint32_t k = 0; k < r->n; k++)
            if (k != i && is_like(r, k, other) && contains(&p, r->at[k].form))
                r->done[k] = true;
        if (contains(&p, other->form))
            r->done[i] = true;
    }
    print_tuples(out, &types, (const uint8_t[ISA_MAX_TYPES]){0}, 0, "", &between);
    fprintf(out, " | %s | ", latency_name(key->latency));
    print_cell(out, key->bound ? key->bound : "");
    fputs(" |\n", out);
}

static void print_takes(FILE *out, unsigned takes) {
    static const char *const names[] = {"a state space",
                                        ".v2 .v4 .v8",
                                        "cache operators and hints",
                                        "memory order and scope",
                                        ".uni",
                                        ".sync, .aligned",
                                        "proxies",
                                        "",
                                        "",
                                        ".row, .col"};
    const char *between = "; takes ";
    for (unsigned i = 0; i < sizeof names / sizeof names[0]; i++)
        if (takes >> i & 1 && names[i][0]) {
            fprintf(out, "%s%s", between, names[i]);
            between = ", ";
        }
}

/* Prints a row for each compound instruction. */
static void print_compounds(FILE *out, const struct compound_ops *const *compounds) {
    for (const struct compound_ops *c; (c = *compounds); compounds++)
        fprintf(out, "| **`%s`** | %s | | | |\n| |  |  | %s |  |\n", c->name, c->help, latency_name(c->latency));
}

static void print_op(FILE *out, enum op_id op, const struct compound_ops *const *compounds) {
    if (op == OP_COMPOUND) {
        print_compounds(out, compounds);
        return;
    }
    struct rest r = {.n = 0};
    r.at = isa_op_rows(op, &r.n);
    assert(r.n <= MAX_OP_ROWS);
    fprintf(out, "| **`%s`** | ", isa_ops[op].mnemonic);
    print_cell(out, isa_ops[op].help);
    print_takes(out, isa_ops[op].takes);
    fputs(r.n ? " | | | |\n" : "; not supported | | | |\n", out);
    for (uint32_t i = 0; i < r.n; i++)
        while (!r.done[i])
            print_line(out, &r, &r.at[i]);
}

static void print_chapter(FILE *out, const char *title) {
    fprintf(out, "\n## %s\n\n| instruction | modifiers | types | latency | error bound |\n|---|---|---|---|---|\n",
            title);
}

void isa_document(FILE *out, const struct compound_ops *const *compounds) {
    uint32_t n, n_compounds = 0;
    isa_rows(&n);
    while (compounds[n_compounds])
        n_compounds++;
    fprintf(
        out,
        "# Instructions\n\n"
        "The %u instructions that exist, printed from the table that decodes and executes them:\n"
        "`heddle list instructions --markdown`.\n"
        "A line stands for every combination of the modifiers and types in it; [.word]: may be left out; (.u32 .s32): "
        "either.\n"
        "Loading a module refuses all other instructions, with a message that names the existing forms.\n"
        "\n"
        "The PTX ISA manual, read strictly, decides which forms exist. As in NVIDIA's assembler, these are mistakes:\n"
        "\n"
        "- a modifier without an effect: `.sat` where nothing can saturate, or on bf16\n"
        "- a missing modifier that the manual requires: `.noftz` of atomics on halves, `.satfinite` of the small "
        "formats\n"
        "- a vector of a type that has no vectors\n"
        "\n"
        "Heddle accepts more than that assembler where PTX of another version or another target had the form:\n"
        "\n"
        "- `mad.f32` and `mad.f64` without rounding (sm_1x)\n"
        "- 32-bit registers for small operands of `cvt`\n"
        "- `.u32` or `.s64` of an atomic whose bits do not depend on the type\n"
        "- modifiers in any order\n"
        "- every form on every `.target`, except `wgmma`, `tcgen05`, and `mma`, `ldmatrix` and `stmatrix` of small "
        "types\n"
        "\n"
        "Newer modules cannot use forms that an old PTX version had and a later one removed.\n",
        n - 1 + n_compounds);
#define CHAPTER(title)                  print_chapter(out, title);
#define OP(id, mnemonic, takes_, help_) print_op(out, OP_##id, compounds);
#include "opcodes.def"
#undef OP
}
