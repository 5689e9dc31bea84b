#ifndef TIMING_SM_WARP_STATES_H
#define TIMING_SM_WARP_STATES_H
/* The sets of warps by the states of their paths. warps_move() keeps them up to date. */
#include "warps.h"

static inline void warps_state_add(struct sm_warps *ws, uint32_t state, uint32_t w) {
    ws->in_state[w / 64][state] |= 1ull << w % 64;
}
static inline void warps_state_drop(struct sm_warps *ws, uint32_t state, uint32_t w) {
    ws->in_state[w / 64][state] &= ~(1ull << w % 64);
}
/* Returns true if the warp has a path in the state. */
static inline bool warps_state_has(const struct sm_warps *ws, uint32_t state, uint32_t w) {
    return ws->in_state[w / 64][state] >> w % 64 & 1;
}
/* Returns all warps with a path in the state. */
static inline struct warp_set warps_in_state(const struct sm_warps *ws, uint32_t state) {
    struct warp_set out;
    for (uint32_t k = 0; k < WARP_WORDS; k++)
        out.word[k] = ws->in_state[k][state];
    return out;
}
/* Returns the warps of word `k` with a ready path whose pipe is not PIPE_MEM. */
static inline uint64_t warps_ready_others(const struct sm_warps *ws, uint32_t k) {
    uint64_t ready = 0;
    for (int p = 0; p < N_PIPES; p++)
        ready |= p == PIPE_MEM ? 0 : ws->in_state[k][PATH_READY + p];
    return ready;
}
/* Returns the warps of word `k` with a ready path. */
static inline uint64_t warps_ready(const struct sm_warps *ws, uint32_t k) {
    return warps_ready_others(ws, k) | ws->in_state[k][PATH_READY + PIPE_MEM];
}
/* Returns true if the warp has a path in the state. Unlike warps_state_has(), looks at the paths. */
static inline bool warps_some_path_in(const struct sm_warp *sw, uint8_t state) {
    for (uint32_t p = 0; p < sw->n_paths; p++)
        if (sw->path[p].state == state)
            return true;
    return false;
}
/* Moves a path of warp `w` into the state. */
static inline void warps_move(struct sm_warps *ws, uint32_t w, struct sm_path *path, uint8_t state) {
    uint8_t old = path->state;
    if (old == state)
        return;
    path->state = state;
    if (state == PATH_LOAD && ws->split_check.used)
        warps_check_split(ws, w);
    if (__builtin_expect(ws->slot[w].n_paths == 1, 1) || !warps_some_path_in(&ws->slot[w], old))
        warps_state_drop(ws, old, w);
    warps_state_add(ws, state, w);
}
/* Works like warps_move(), for the only path of a warp under a model that does not split paths. `one_word`: the sets
 * use one word. The host cannot predict the new state, so this code avoids branches. */
static inline void warps_move_only(struct sm_warps *ws, uint32_t w, struct sm_path *path, uint32_t state,
                                   const bool one_word) {
    uint64_t *in_state = ws->in_state[one_word ? 0 : w / 64], bit = 1ull << w % 64;
    in_state[path->state] &= ~bit;
    in_state[state] |= bit;
    path->state = (uint8_t)state;
}
#endif
