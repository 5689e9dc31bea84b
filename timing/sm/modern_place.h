#ifndef TIMING_SM_MODERN_PLACE_H
#define TIMING_SM_MODERN_PLACE_H
/* The modern core: the places of paths in the code (timed_inst.place). */
#include "modern.h"
#include "stages.h"

/* Returns the place of the machine instruction that lanes issue after the first one of the instruction at `pc`. */
static inline uint32_t modern_next_place(const struct sm *sm, uint32_t w, uint32_t pc, lanemask_t lanes) {
    const struct timed_inst *ti = &sm->program->inst[pc];
    return sm->modern->warp[w].expands & lanes ? ti->place + 1 : ti[1].place;
}

/* Moves a path to another place in the code. The machine instructions before that place leave the buffer. */
static inline void modern_move(struct sm_path *path, uint32_t to) {
    const uint32_t steps = to - path->at;
    path->at = to;
    if (steps > path->buffered) {
        path->coming = 0; /* the next fetch has a new ticket */
        path->missed = false;
    }
    path->buffered = steps < path->buffered ? (uint8_t)(path->buffered - steps) : 0;
}
#endif
