/* Messages about wrong opcodes. explain_no_row() explains why an opcode is not an instruction although all of its words
 * are known. Its message names the first word whose change or removal makes the opcode match a row of the instruction
 * table. If there is no such word, the message names a missing word or type. If nothing is missing either, it names the
 * row with the fewest differences. */
#include "decode_parts.h"
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* A sentence under construction. Text beyond its size is cut. */
struct text {
    char *out;
    size_t size, len;
};

static void add(struct text *t, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
static void add(struct text *t, const char *fmt, ...) {
    va_list ap;
    va_start(ap, fmt);
    int n = vsnprintf(t->out + t->len, t->size - t->len, fmt, ap);
    va_end(ap);
    if (n > 0 && (size_t)n >= t->size - t->len && t->size > 4)
        memcpy(t->out + t->size - 4, "...", 4);
    if (n > 0)
        t->len += (size_t)n < t->size - t->len ? (size_t)n : t->size - t->len - 1;
}

bool decode_refuse(struct decode_error *why, uint32_t begin, uint32_t end, const char *fmt, ...) {
    va_list ap;
    va_start(ap, fmt);
    why->begin = begin;
    why->end = end;
    why->help[0] = '\0';
    if (vsnprintf(why->message, sizeof why->message, fmt, ap) >= (int)sizeof why->message)
        memcpy(why->message + sizeof why->message - 4, "...", 4);
    va_end(ap);
    return false;
}

/* A list of words without duplicates: ".u16, .u32 or .u64". */
struct choice {
    const char *words[40];
    int n;
    bool nothing; /* true if the word may also be left out */
};

static void offer(struct choice *c, const char *word) {
    for (int i = 0; i < c->n; i++)
        if (strcmp(c->words[i], word) == 0)
            return;
    if (c->n < (int)(sizeof c->words / sizeof c->words[0]))
        c->words[c->n++] = word;
}

static void add_choice(struct text *t, const struct choice *c) {
    for (int i = 0; i < c->n; i++)
        add(t, "%s.%s", i == 0 ? "" : i + 1 == c->n ? " or " : ", ", c->words[i]);
}

/* Returns the word of a type, without its dot. */
static const char *type_word(unsigned type) { return type_name(type) + (type != T_NONE); }

static int count_types(const struct isa_row *r) {
    int n = 0;
    while (n < MAX_TYPES && r->types[n] != T_NONE)
        n++;
    return n;
}

/* Returns the form of the opcode as written, without the optional categories (parts_free()) that row `r` leaves open.
 * The opcode matches row `r` if the result equals the row's form. */
static uint64_t bound_form(const struct parts *p, const struct isa_row *r) {
    uint64_t bits = parts_free(p->op), form = p->form;
    for (int c = 0; c < N_CATEGORIES; c++)
        if (form_put(c, 1) & bits && form_get(r->form, c) == 0)
            form &= ~form_put(c, form_get(form, c));
    return form;
}

static uint64_t without(uint64_t form, enum category c) { return form & ~form_put(c, form_get(form, c)); }
static bool same_types(const struct parts *p, const struct isa_row *r) {
    return memcmp(p->types, r->types, sizeof p->types) == 0;
}

/* Appends the written opcode without its part `skip`. */
static void add_spelling(struct text *t, const struct parts *p, int skip) {
    uint32_t begin = p->part[skip].begin;
    add(t, "'%.*s%.*s'", (int)begin, p->text, (int)(p->len - p->part[skip].end), p->text + p->part[skip].end);
}

struct rows {
    const struct isa_row *at;
    uint32_t n;
};

/* Appends the types that make the opcode valid if they replace one of its types. */
static void add_types_instead(struct text *t, const struct parts *p, struct rows rows) {
    struct choice types = {.n = 0};
    for (uint32_t k = 0; k < rows.n; k++) {
        const struct isa_row *r = &rows.at[k];
        int differ = 0, at = 0;
        for (int i = 0; i < MAX_TYPES; i++)
            if (r->types[i] != p->types[i]) {
                differ++;
                at = i;
            }
        if (differ == 1 && p->types[at] != T_NONE && r->types[at] != T_NONE && bound_form(p, r) == r->form)
            offer(&types, type_word(r->types[at]));
    }
    if (types.n == 0)
        return;
    add(t, "it exists for ");
    add_choice(t, &types);
}

static bool blame_selector(const struct parts *p, struct rows rows, int i, struct text *message, struct text *help) {
    enum category c = p->part[i].word->category;
    struct choice instead = {.n = 0};
    for (uint32_t k = 0; k < rows.n; k++) {
        const struct isa_row *r = &rows.at[k];
        if (!same_types(p, r) || without(bound_form(p, r), c) != without(r->form, c))
            continue;
        unsigned value = form_get(r->form, c);
        if (value)
            offer(&instead, word_of(c, value));
        else
            instead.nothing = true;
    }
    if (instead.n == 0 && !instead.nothing)
        return false;
    add(message, "'.%s' does not go with ", p->part[i].word->text);
    add_spelling(message, p, i);
    if (instead.n) {
        add(help, "%s ", instead.nothing ? "leave it out, or write" : "in its place:");
        add_choice(help, &instead);
    } else {
        add_types_instead(help, p, rows);
    }
    return true;
}

/* Reports a missing word if there are rows that have all written words and one word more. */
static bool blame_missing_word(const struct parts *p, struct rows rows, struct text *message, struct text *help) {
    struct choice missing = {.n = 0};
    for (uint32_t k = 0; k < rows.n; k++) {
        const struct isa_row *r = &rows.at[k];
        uint64_t form = bound_form(p, r);
        int more = -1;
        for (int c = 0; c < N_CATEGORIES && same_types(p, r); c++)
            if (form_get(form, c) == 0 && without(r->form, c) == form)
                more = c;
        if (more >= 0)
            offer(&missing, word_of(more, form_get(r->form, more)));
    }
    if (missing.n == 0)
        return false;
    add(message, "'%.*s' is incomplete", (int)p->len, p->text);
    add(help, "add ");
    add_choice(help, &missing);
    return true;
}

static bool blame_type(const struct parts *p, struct rows rows, int i, int nth, struct text *message,
                       struct text *help) {
    struct choice instead = {.n = 0};
    for (uint32_t k = 0; k < rows.n; k++) {
        const struct isa_row *r = &rows.at[k];
        bool others = bound_form(p, r) == r->form && count_types(r) == p->n_types;
        for (int t = 0; t < p->n_types; t++)
            others &= t == nth || r->types[t] == p->types[t];
        if (others)
            offer(&instead, type_word(r->types[nth]));
    }
    if (instead.n == 0)
        return false;
    add_spelling(message, p, i);
    add(message, " does not exist for '%s'", type_name(p->types[nth]));
    add(help, "it exists for ");
    add_choice(help, &instead);
    return true;
}

static bool blame_extra_type(const struct parts *p, struct rows rows, int i, int nth, struct text *message) {
    uint8_t types[MAX_TYPES] = {T_NONE};
    for (int t = 0, n = 0; t < p->n_types; t++)
        if (t != nth)
            types[n++] = p->types[t];
    for (uint32_t k = 0; k < rows.n; k++)
        if (memcmp(rows.at[k].types, types, sizeof types) == 0 && bound_form(p, &rows.at[k]) == rows.at[k].form) {
            add(message, "'%s' does not go with ", type_name(p->types[nth]));
            add_spelling(message, p, i);
            return true;
        }
    return false;
}

static bool blame_missing_type(const struct parts *p, struct rows rows, struct text *message, struct text *help) {
    struct choice missing = {.n = 0};
    for (uint32_t k = 0; k < rows.n; k++) {
        const struct isa_row *r = &rows.at[k];
        if (count_types(r) == p->n_types + 1 && memcmp(r->types, p->types, (size_t)p->n_types) == 0 &&
            bound_form(p, r) == r->form)
            offer(&missing, type_word(r->types[p->n_types]));
    }
    if (missing.n == 0)
        return false;
    add(message, "'%.*s' lacks a type", (int)p->len, p->text);
    add(help, "add ");
    add_choice(help, &missing);
    return true;
}

/* Returns a distance between the written opcode and row `r`: 1 for each category with another value, plus 2 for each
 * other type. */
static int row_distance(const struct parts *p, const struct isa_row *r) {
    uint64_t form = bound_form(p, r);
    int n = 0;
    for (int c = 0; c < N_CATEGORIES; c++)
        n += form_get(form, c) != form_get(r->form, c);
    for (int t = 0; t < MAX_TYPES; t++)
        n += 2 * (p->types[t] != r->types[t]);
    return n;
}

/* Names the row with the fewest differences. Returns the first written part that this row lacks, or -1 if it has all of
 * them. */
static int blame_nearest(const struct parts *p, struct rows rows, struct text *message, struct text *help) {
    const struct isa_row *nearest = rows.at;
    char name[128];
    for (uint32_t k = 1; k < rows.n; k++)
        if (row_distance(p, &rows.at[k]) < row_distance(p, nearest))
            nearest = &rows.at[k];
    isa_row_name(nearest, name, sizeof name);
    add(message, "'%.*s' does not exist", (int)p->len, p->text);
    add(help, "the nearest form is '%s'", name);
    for (int i = 0, t = 0; i < p->n; i++) {
        const struct isa_word *w = p->part[i].word;
        if (w->kind == WORD_SELECTS && form_get(bound_form(p, nearest), w->category) == w->value &&
            form_get(nearest->form, w->category) != w->value)
            return i;
        if (w->kind == WORD_TYPE && nearest->types[t++] != w->value)
            return i;
    }
    return -1;
}

/* Returns the part that the message names; -1: the whole opcode. */
static int blame(const struct parts *p, struct rows rows, struct text *message, struct text *help) {
    for (int i = 0; i < p->n; i++)
        if (p->part[i].word->kind == WORD_SELECTS && blame_selector(p, rows, i, message, help))
            return i;
    if (blame_missing_word(p, rows, message, help) || blame_missing_type(p, rows, message, help))
        return -1;
    for (int i = 0, nth = 0; i < p->n; i++)
        if (p->part[i].word->kind == WORD_TYPE) {
            if (blame_type(p, rows, i, nth, message, help) || blame_extra_type(p, rows, i, nth, message))
                return i;
            nth++;
        }
    return blame_nearest(p, rows, message, help);
}

void explain_no_row(const struct parts *p, struct decode_error *why) {
    struct text message = {why->message, sizeof why->message, 0}, help = {why->help, sizeof why->help, 0};
    struct rows rows = {NULL, 0};
    why->message[0] = why->help[0] = '\0';
    why->begin = 0;
    why->end = p->len;
    rows.at = isa_op_rows((enum op_id)(p->op - isa_ops), &rows.n);
    if (!rows.at) {
        add(&message, "'%s' is not supported", p->op->mnemonic);
        why->end = p->n ? p->part[0].begin : p->len;
        return;
    }
    int i = blame(p, rows, &message, &help);
    if (i >= 0) {
        why->begin = p->part[i].begin;
        why->end = p->part[i].end;
    }
}
