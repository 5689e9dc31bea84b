/* Facts about chains; isa/exec/exec_chain.c executes them. */
#include "chain.h"
#include "decode.h"
#include <math.h>
#include <string.h>

void chain_error_see(struct chain_error *e, float have, float want) {
    enum { BEYOND = 200 }; /* one part of so many: 0.5 % */
    e->results++;
    if (memcmp(&have, &want, sizeof have) == 0)
        return;
    double size = fmax(fabs((double)have), fabs((double)want)), apart = fabs((double)have - (double)want);
    e->differ++;
    if (!isfinite(have) || !isfinite(want)) {
        e->beyond++;
        return;
    }
    e->beyond += apart * BEYOND > size;
    if (size > 0 && e->largest < apart / size)
        e->largest = apart / size;
}

void chain_error_add(struct chain_error *to, const struct chain_error *from) {
    to->results += from->results;
    to->differ += from->differ;
    to->beyond += from->beyond;
    if (to->largest < from->largest)
        to->largest = from->largest;
}

unsigned chain_units(const struct program_chain *c, unsigned which) {
    unsigned n = 0;
    for (unsigned k = which ? c->split : 0; k < (which ? c->n : c->split); k++)
        n += c->part[k].units;
    return n;
}

unsigned chain_depth(const struct program_chain *c) {
    unsigned first = chain_units(c, 0), second = chain_units(c, 1);
    return first > second ? first : second;
}

void chain_print(const struct program_chain *c, unsigned which, const struct chain_printer *p) {
    unsigned from = which ? c->split : 0, to = which ? c->n : c->split;
    uint32_t n;
    for (unsigned k = from; k < to; k++) {
        char name[64];
        isa_row_name(&isa_rows(&n)[c->part[k].row], name, sizeof name);
        p->text(p->ctx, k > from ? " -> " : "");
        p->text(p->ctx, name);
        for (unsigned i = 0; i < c->part[k].n_src; i++) {
            p->text(p->ctx, i ? ", " : "(");
            if (c->part[k].src[i] == CHAIN_PREVIOUS)
                p->text(p->ctx, "#");
            else
                p->source(p->ctx, c->part[k].src[i]);
        }
        p->text(p->ctx, ")");
    }
}
