/* Functions for entries of the queues between the affine warp and the other warps. */
#include "engine.h"
#include <stdlib.h>
#include <string.h>

void affine_entry_free(struct affine_entry *e) {
    free(e->exact);
    e->exact = NULL;
    e->lanes = 0;
}

void affine_entry_addresses(const struct affine_entry *e, const struct affine_shape *s, uint32_t warp,
                            uint64_t out[WARP_LANES]) {
    if (e->exact)
        memcpy(out, e->exact, WARP_LANES * sizeof *out);
    else
        affine_expand(&e->at, 64, s, warp, out);
}
