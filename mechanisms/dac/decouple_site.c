/* Assigns numbers to the sites, through which the streams communicate. */
#include "decouple.h"

enum { MAX_SITES = UINT16_MAX - 1 };

uint16_t plan_site(struct plan *p, enum site_kind kind, uint32_t inst) {
    if (p->n_sites == MAX_SITES) {
        p->whole = "it has more places where streams would meet than there are numbers";
        return 0;
    }
    p->n_sites++;
    return ir_add_site(p->ir, kind, p->ir->info[inst].line);
}
