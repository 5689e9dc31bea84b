/* Properties, disassembly and checks of fused instructions. isa/exec/exec_fused.c executes them. */
#include "fused.h"
#include "decode.h"

unsigned fused_units(const struct fused *c, unsigned which) {
    unsigned n = 0;
    for (unsigned k = which ? c->split : 0; k < (which ? c->n : c->split); k++)
        n += c->part[k].units;
    return n;
}

unsigned fused_depth(const struct fused *c) {
    unsigned first = fused_units(c, 0), second = fused_units(c, 1);
    return first > second ? first : second;
}

static void print_parts(const struct compound_printer *p, const struct fused *c, unsigned from, unsigned to) {
    uint32_t n;
    for (unsigned k = from; k < to; k++) {
        char name[64];
        isa_row_name(&isa_rows(&n)[c->part[k].row], name, sizeof name);
        p->text(p->ctx, k > from ? " -> " : "");
        p->text(p->ctx, name);
        for (unsigned i = 0; i < c->part[k].n_src; i++) {
            p->text(p->ctx, i ? ", " : "(");
            if (c->part[k].src[i] == FUSED_PREVIOUS)
                p->text(p->ctx, "#");
            else
                p->operand(p->ctx, p->list[c->part[k].src[i]], T_F32);
        }
        p->text(p->ctx, ")");
    }
}

void fused_print(const struct compound_printer *p, const struct inst *in, const void *what) {
    const struct fused *c = what;
    p->text(p->ctx, " ");
    if (c->folded) {
        p->operand(p->ctx, in->c, T_PRED);
        p->text(p->ctx, " ? ");
    }
    p->operand(p->ctx, in->d, T_F32);
    p->text(p->ctx, " = ");
    print_parts(p, c, 0, c->split);
    if (c->split == c->n)
        return;
    p->text(p->ctx, c->folded ? " : " : ", ");
    p->operand(p->ctx, c->folded && in->d2 == OPND_SINK ? in->d : in->d2, T_F32);
    p->text(p->ctx, " = ");
    print_parts(p, c, c->split, c->n);
}

/* Checks a fused instruction. Returns the reason why it is invalid, or NULL if it is valid. Every source must be in the
 * list, or be the result of the previous part of the same sequence. Both sequences together have at most FUSED_LENGTH
 * FPUs. */
const char *fused_wrong(const struct inst *in, const void *what) {
    const struct fused *c = what;
    if (!c->split || c->split > c->n || c->n > FUSED_PARTS || (c->folded && c->split == c->n))
        return "it has no parts";
    for (unsigned k = 0; k < c->n; k++)
        for (unsigned i = 0; i < c->part[k].n_src; i++) {
            bool first = k == 0 || k == c->split;
            if (c->part[k].src[i] == FUSED_PREVIOUS ? first : c->part[k].src[i] >= in->n_list)
                return "a part takes a source that is not there";
        }
    return fused_units(c, 0) + fused_units(c, 1) > FUSED_LENGTH ? "its sequences are too long" : NULL;
}
