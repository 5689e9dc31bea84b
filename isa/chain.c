/* Facts about chains; isa/exec/exec_chain.c executes them. */
#include "chain.h"
#include "decode.h"
#include <math.h>
#include <string.h>

/* The difference of two results over the larger magnitude, from 0 to 2. Zeros of either sign are equal, and so are two
 * NaNs. An infinity and a finite number: 1, and infinities of both signs: 2, as for ever larger numbers. A NaN and a
 * number: 2. */
static double relative_error(float have, float want) {
    const double a = have, b = want;
    if (isnan(a) || isnan(b))
        return isnan(a) && isnan(b) ? 0 : 2;
    if (a == b)
        return 0;
    if (isinf(a) || isinf(b))
        return isinf(a) && isinf(b) ? 2 : 1;
    return fabs(a - b) / fmax(fabs(a), fabs(b));
}

void chain_error_see(struct chain_error *e, float have, float want) {
    const double error = relative_error(have, want), beyond = 1 / 200.;
    e->results++;
    e->differ += memcmp(&have, &want, sizeof have) != 0;
    e->beyond += error > beyond;
    e->largest = fmax(e->largest, error);
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
