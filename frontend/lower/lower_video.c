/* Lowers video instructions. The selectors (%r1.b0, %r2.h10) and signs of operands become one constant
 * (isa/exec/video.h). */
#include "isa/exec/video.h"
#include "lower.h"
#include <string.h>

/* Splits an operand such as "%r1.b0" into register and selector, and encodes the selector in `word`. Returns the
 * operand without the selector. An operand without a selector is returned unchanged. */
static struct operand without_selector(struct lower *l, const struct operand *o, char which, uint32_t *word) {
    struct operand bare = *o;
    if (o->kind != OPD_NAME || names_find(&l->names, o->name))
        return bare;
    const char *dot = strrchr(o->name->text, '.');
    if (!dot || dot == o->name->text)
        return bare;
    const struct word *reg = names_word(&l->names, o->name->text, (uint32_t)(dot - o->name->text));
    if (!reg)
        return bare;
    if (!video_select(l->dec->row->op, which, dot + 1, word))
        diag_error(l->d, o->loc, "'%s' has no selector '%s' for this operand", opcode_text(l), dot);
    bare.name = reg;
    return bare;
}

static opnd_t video_source(struct lower *l, const struct operand *o, char which, enum type t, uint32_t *word) {
    static const uint32_t negate[] = {VIDEO_NEGATE_A, VIDEO_NEGATE_B, VIDEO_NEGATE_C};
    const struct operand *inner = o;
    if (o->kind == OPD_NEG && l->dec->row->op == OP_VMAD) {
        *word ^= negate[which - 'a'];
        inner = o->sub;
    }
    struct operand bare = *inner;
    if (which != 'c')
        bare = without_selector(l, inner, which, word);
    return source(l, &bare, t);
}

void lower_video(struct lower *l) {
    const struct isa_row *row = l->dec->row;
    uint32_t word = video_default(row->op), plain = word;
    if (!operand_count(l, 4 - row->optional_sources, 4))
        return;
    const struct operand *o = l->st->insn.operands, *a = o->next, *b = a->next, *c = b->next;
    struct operand result = without_selector(l, o, 'd', &word);
    if (word != plain && !c)
        diag_error(l->d, l->st->insn.opcode_loc, "'%s' with a part of '%s' as destination takes a fourth operand",
                   opcode_text(l), o->name->text);
    opnd_t from[3] = {OPND_ZERO, OPND_ZERO, OPND_ZERO};
    from[0] = video_source(l, a, 'a', row->a, &word);
    from[1] = video_source(l, b, 'b', row->b, &word);
    if (c)
        from[2] = video_source(l, c, 'c', row->c, &word);
    opnd_t d = dest(l, &result, row->d);
    struct inst *in = emit(l, row);
    in->d = d;
    in->a = from[0];
    in->b = from[1];
    in->c = from[2];
    in->e = ir_constant(l->ir, RC_32, word, 0);
    emit_done(l);
}
