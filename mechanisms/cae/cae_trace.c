/* Draws the work of the affine units as rows of bars in the trace. Several instructions are in flight at once, so each
 * takes the first free row. */
#include "cae_parts.h"
#include "timing/sm/unit_trace.h"
#include <string.h>

#define NOT_YET UINT64_MAX

void cae_trace_launch(struct cae *u, struct sm *sm) {
    u->trace = sm_unit_state(sm, &unit_trace);
    memset(u->bar, 0, sizeof u->bar);
}

static struct cae_bar *free_row(struct cae *u, uint64_t now) {
    for (uint32_t k = 0; k < TRACE_UNIT_TRACKS; k++)
        if (u->bar[k].until <= now)
            return &u->bar[k];
    u->trace->lost++;
    return NULL;
}

static void draw(struct cae *u, struct cae_bar *b, uint64_t to) {
    b->until = to > b->from ? to : b->from + 1;
    trace_note(u->trace, &(struct trace_event){.from = b->from,
                                               .to = b->until,
                                               .address = b->warp,
                                               .name = "affine units",
                                               .pc = b->pc,
                                               .row = (uint32_t)(b - u->bar),
                                               .kind = TRACE_UNIT});
}

void cae_trace_issued(struct cae *u, const struct sm_issued *i) {
    struct cae_bar *b = i->ti->regs.n_write ? free_row(u, i->cycle) : NULL;
    if (b)
        *b = (struct cae_bar){.from = i->cycle, .until = NOT_YET, .warp = i->warp, .pc = i->pc};
}

/* Draws the bar of an instruction whose end is now known. For an instruction without a result, this function is called
 * at issue and gets the cycle in which the instruction ends. */
void cae_trace_written(void *unit, struct sm *sm, const struct sm_written *r) {
    struct cae *u = unit;
    if (!sm_get_program(sm)->inst[r->pc].regs.n_write) {
        bool here = sm_get_program(sm)->program->code[r->pc].kind == K_BRANCH && u->last_form && u->last_form->unit;
        struct cae_bar *b = here && !sm_is_context(sm, r->warp) ? free_row(u, r->from) : NULL;
        if (b) {
            *b = (struct cae_bar){.from = r->from, .warp = r->warp, .pc = r->pc};
            draw(u, b, r->to);
        }
        return;
    }
    for (uint32_t k = 0; k < TRACE_UNIT_TRACKS; k++) {
        struct cae_bar *b = &u->bar[k];
        if (b->until == NOT_YET && b->from == r->from && b->warp == r->warp && b->pc == r->pc) {
            draw(u, b, r->to);
            return;
        }
    }
}
