/* Decides how an instruction executes, from the tags of its operands alone, before it executes. */
#include "cae_parts.h"
#include "isa/compound.h"
#include "isa/decode.h"

/* Sets the widths from which cvt, mul.wide and mad.wide extend their operands. */
static void note_widths(struct cae_inst *c, const struct inst *in) {
    uint32_t n;
    const struct isa_row *r = &isa_rows(&n)[in->row];
    c->is_signed = type_class(r->a) == 's';
    if (c->rule == RULE_MUL_WIDE || c->rule == RULE_MAD_WIDE) {
        c->widens = (uint8_t)type_bytes(r->a);
    } else if (c->rule == RULE_WIDEN) {
        uint8_t from = (uint8_t)type_bytes(r->a), to = (uint8_t)type_bytes(r->d);
        c->widens = from < to ? from : 0;
        c->narrow = in->kind == K_CVT && to < in->rsize ? to : 0;
        c->narrow_signed = in->is_signed;
    }
}

struct cae_inst cae_inst_of(const struct cae_map *m, const struct program *p, uint32_t pc) {
    const struct inst *in = &p->code[pc];
    const struct program_compound *compound = compound_of(p, in);
    struct cae_inst c = {
        .source = {cae_number(m, in->a), cae_number(m, in->b), cae_number(m, in->c), cae_number(m, in->e)},
        .guard = in->guard == NO_GUARD ? CAE_CONSTANT : cae_number(m, in->guard << 1),
        .rule = (uint8_t)affine_rule_of(in),
        .branch = in->kind == K_BRANCH && !(in->hints & HINT_APART),
        .parts = compound && compound->selects && in->d2 != OPND_SINK,
    };
    if (c.rule != RULE_NONE && in->kind != K_LOAD)
        note_widths(&c, in);
    return c;
}

static const struct cae_tag constant = {.class = CLASS_SCALAR}, vector = {.class = CLASS_VECTOR};

static const struct cae_tag *tag(const struct cae *u, uint32_t warp, uint16_t number) {
    return number == CAE_CONSTANT ? &constant : number == CAE_NO_TAG ? &vector : &cae_tags(u, warp)[number];
}

/* Returns true if extension keeps the compact form of the operand. In a product, the affine factor must keep its form.
 * A scalar always keeps it. */
static bool in_range(const struct cae *u, uint32_t warp, const struct cae_inst *c, rowmask_t lanes) {
    struct cae_tag t = *tag(u, warp, c->source[0]);
    if (c->rule != RULE_WIDEN && t.class == CLASS_SCALAR)
        t = *tag(u, warp, c->source[1]);
    if (t.class == CLASS_SCALAR)
        return true;
    return (!c->widens || cae_tag_widen(&t, c->widens, c->is_signed, lanes)) &&
           (!c->narrow || cae_tag_widen(&t, c->narrow, c->narrow_signed, lanes));
}

/* Returns true if the result is compact. A predicate, min, max or rem is compact only if its operands are the same in
 * all lanes. */
static bool is_compact(const struct cae_inst *c, enum affine_class class) {
    bool predicate = c->rule == RULE_SETP || c->rule == RULE_PRED;
    return class == CLASS_SCALAR ||
           (class == CLASS_AFFINE && !predicate && !affine_rule_selects((enum affine_rule)c->rule));
}

static struct cae_choice no(enum cae_why why, bool full) {
    return (struct cae_choice){.why = (uint8_t)why, .class = CLASS_VECTOR, .full = full};
}

struct cae_choice cae_choose(const struct cae *u, uint32_t warp, uint32_t pc, rowmask_t lanes) {
    const struct cae_inst *c = &u->inst[pc];
    bool memory = sm_get_program(u->sm)->inst[pc].flags & TIMED_MEMORY;
    bool guarded = tag(u, warp, c->guard)->class != CLASS_SCALAR,
         full = lanes == sm_get_warp(u->sm, warp)->live && !guarded;
    enum affine_class source[4], class;
    if (c->rule == RULE_NONE && (!c->branch || !u->cfg->cae.branches))
        return no(memory ? CAE_MEMORY : CAE_RULE, full && !c->parts);
    if (!full)
        return no(memory ? CAE_MEMORY : guarded ? CAE_SOURCE : CAE_DIVERGENT, false);
    if (c->branch)
        return (struct cae_choice){.why = CAE_FITS, .class = CLASS_SCALAR, .full = true};
    for (int i = 0; i < 4; i++)
        source[i] = (enum affine_class)tag(u, warp, c->source[i])->class;
    for (int i = 0; i < 4; i++)
        if (source[i] == CLASS_VECTOR)
            return no(memory ? CAE_MEMORY : CAE_SOURCE, true);
    class = affine_result((enum affine_rule)c->rule, source);
    if (!is_compact(c, class))
        return no(memory ? CAE_MEMORY : CAE_RULE, true);
    if ((c->widens || c->narrow) && class == CLASS_AFFINE && !in_range(u, warp, c, lanes))
        return no(CAE_RANGE, true);
    return (struct cae_choice){.why = memory ? CAE_MEMORY : CAE_FITS, .class = (uint8_t) class, .full = true};
}
