/* Finds the row of the instruction table for a written opcode. The text before the first dot is the opcode. Each word
 * after a dot is a type, selects a row, or is a hint; one look-up then finds the row. The order of words is not
 * checked, since compilers of different age write them differently. */
#include "bulk.h"
#include "decode_parts.h"
#include <assert.h>
#include <stdio.h>
#include <string.h>

static bool find_op(struct parts *p, uint32_t end, struct decode_error *why) {
    p->op = op_find(p->text, end);
    if (!p->op && end == 0)
        return decode_refuse(why, 0, p->len, "an instruction is missing before the dot");
    if (!p->op) {
        decode_refuse(why, 0, end, "unknown instruction '%.*s'", (int)end, p->text);
        const char *near = op_suggest(p->text, end);
        if (near)
            snprintf(why->help, sizeof why->help, "did you mean '%s'?", near);
        return false;
    }
    if (p->op->takes & IS_REFUSED)
        return decode_refuse(why, 0, end, "%s: %s is not supported", p->op->mnemonic, p->op->help);
    return true;
}

static bool unknown_word(const struct parts *p, const struct part *at, struct decode_error *why) {
    const char *text = p->text + at->begin + 1;
    uint32_t len = at->end - at->begin - 1;
    const char *near = word_suggest(p->op, text, len);
    if (len == 0)
        return decode_refuse(why, at->begin, at->end, "a word is missing after the dot");
    if (word_known(text, len))
        return decode_refuse(why, at->begin, at->end, "'%s' does not take '.%.*s'", p->op->mnemonic, (int)len, text);
    decode_refuse(why, at->begin, at->end, "unknown suffix '.%.*s' of '%s'", (int)len, text, p->op->mnemonic);
    if (near)
        snprintf(why->help, sizeof why->help, "did you mean '.%s'?", near);
    return false;
}

static bool add_type(struct parts *p, const struct part *at, struct decode_error *why) {
    if (p->n_types == MAX_TYPES)
        return decode_refuse(why, at->begin, at->end, "'%s' has too many types", p->op->mnemonic);
    p->types[p->n_types++] = at->word->value;
    return true;
}

static bool add_selector(struct parts *p, const struct part *at, struct decode_error *why) {
    const struct isa_word *w = at->word;
    unsigned before = form_get(p->form, w->category);
    if (before == w->value)
        return decode_refuse(why, at->begin, at->end, "'.%s' is written twice", w->text);
    if (before)
        return decode_refuse(why, at->begin, at->end, "'.%s' contradicts '.%s'", w->text, word_of(w->category, before));
    p->form |= form_put(w->category, w->value);
    return true;
}

static bool add_part(struct parts *p, uint32_t begin, uint32_t end, struct decoded *out, struct decode_error *why) {
    struct part *at = &p->part[p->n];
    *at = (struct part){begin, end, word_find(p->op, p->text + begin + 1, end - begin - 1)};
    if (!at->word)
        return unknown_word(p, at, why);
    p->n++;
    switch ((enum word_kind)at->word->kind) {
    case WORD_TYPE:
        return add_type(p, at, why);
    case WORD_SELECTS:
        return add_selector(p, at, why);
    case WORD_HINT:
        out->hints |= at->word->value;
        return true;
    case WORD_CACHE:
        if (out->cache_op)
            return decode_refuse(why, begin, end, "'.%s' is a second cache operator", at->word->text);
        out->cache_op = at->word->value;
        return true;
    case WORD_ORDER:
        out->order |= at->word->value;
        if (at->word->value & ORDER_STRONG)
            out->hints |= HINT_VOLATILE;
        return true;
    case WORD_NOTHING:
        return true;
    case WORD_LAYOUT:
        if (out->n_layouts == sizeof out->layout)
            return decode_refuse(why, begin, end, "'.%s' is a third layout", at->word->text);
        out->layout[out->n_layouts++] = at->word->value;
        return true;
    case WORD_SCALE:
        if (out->scale & at->word->value)
            return decode_refuse(why, begin, end, "'.%s' is written twice", at->word->text);
        out->scale |= at->word->value;
        return true;
    }
    return true;
}

static uint32_t part_end(const struct parts *p, uint32_t from) {
    const char *dot = memchr(p->text + from, '.', p->len - from);
    return dot ? (uint32_t)(dot - p->text) : p->len;
}

/* Decodes an instruction of bulk.h, whose form is not a row of the table. */
static bool decode_bulk(const char *opcode, uint32_t len, struct decoded *out, struct decode_error *why) {
    struct bulk_form f;
    uint32_t n;
    if (!bulk_decode(opcode, len, &f, why))
        return false;
    const enum op_id op = f.what == BULK_COMMIT ? OP_BULK_COMMIT : f.what == BULK_WAIT ? OP_BULK_WAIT : OP_BULK;
    out->op = &isa_ops[op];
    out->row = isa_op_rows(op, &n);
    out->row_index = isa_row_index(out->row);
    out->vec = 1;
    out->bulk = bulk_pack(&f);
    return true;
}

/* Checks the modifiers of scaled blocks: .block_scale, the type of the scales, and their number, which .mxf8f6f4 and
 * .mxf4 may leave out. If the number is left out, sets it. */
static bool check_scale(const struct parts *p, struct decoded *out, struct decode_error *why) {
    static const struct {
        uint8_t types, vectors, implied;
    } of[] = {
        [KIND_MXF8F6F4] = {SCALE_UE8M0, SCALE_1X, SCALE_1X},
        [KIND_MXF4] = {SCALE_UE8M0, SCALE_2X, SCALE_2X},
        [KIND_MXF4NVF4] = {SCALE_UE8M0 | SCALE_UE4M3, SCALE_2X | SCALE_4X, 0},
    };
    const unsigned kind = form_get(p->form, CAT_KIND), type = out->scale & (SCALE_UE8M0 | SCALE_UE4M3);
    unsigned vectors = out->scale & (SCALE_1X | SCALE_2X | SCALE_4X);
    if (kind < KIND_MXF8F6F4 || kind > KIND_MXF4NVF4)
        return !out->scale ||
               decode_refuse(why, 0, p->len, "'%.*s': scales go with .kind::mxf8f6f4, .mxf4 and .mxf4nvf4 only",
                             (int)p->len, p->text);
    if (!vectors)
        out->scale |= (uint8_t)(vectors = of[kind].implied);
    if (out->scale & SCALE_BLOCK && (type == SCALE_UE8M0 || type == SCALE_UE4M3) && type & of[kind].types &&
        vectors & of[kind].vectors && !(vectors & (vectors - 1)) && !(type == SCALE_UE4M3 && vectors == SCALE_2X))
        return true;
    decode_refuse(why, 0, p->len, "'%.*s' does not exist", (int)p->len, p->text);
    snprintf(why->help, sizeof why->help,
             "write .block_scale, and .ue8m0 at the end; .scale_vec:: is 1X for mxf8f6f4, 2X for mxf4; mxf4nvf4 has 2X "
             "or 4X, and with 4X also .ue4m3");
    return false;
}

bool isa_decode(const char *opcode, uint32_t len, struct decoded *out, struct decode_error *why) {
    struct parts p = {.text = opcode, .len = len};
    uint32_t at = part_end(&p, 0);
    memset(out, 0, sizeof *out);
    if (bulk_is(opcode, len))
        return decode_bulk(opcode, len, out, why);
    if (!find_op(&p, at, why))
        return false;
    while (at < len) {
        if (p.n == MAX_PARTS)
            return decode_refuse(why, at, len, "'%s' has too many suffixes", p.op->mnemonic);
        uint32_t end = part_end(&p, at + 1);
        if (!add_part(&p, at, end, out, why))
            return false;
        at = end;
    }
    const struct isa_row *row = parts_match(p.op, p.types, p.form);
    if (!row) {
        explain_no_row(&p, why);
        return false;
    }
    if (!check_scale(&p, out, why))
        return false;
    out->op = p.op;
    out->row = row;
    out->row_index = isa_row_index(row);
    out->n_types = p.n_types;
    for (int i = 0; i < MAX_TYPES; i++)
        out->types[i] = p.types[i];
    out->form = p.form;
    out->space = form_get(p.form, CAT_SPACE);
    out->vec = (uint8_t)(1u << form_get(p.form, CAT_VEC));
    return true;
}
