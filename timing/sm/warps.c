#include "warps.h"
#include "in_flight.h"
#include "isa/machine/lazy.h"
#include "member_results.h"
#include <stdlib.h>

enum { LINE = 64 };
/* Returns the bytes of an odd number of cache lines. */
static size_t odd_lines(size_t bytes) { return ((bytes + LINE - 1) / LINE | 1) * LINE; }

/* Returns the most paths that a warp of `lanes` lanes can have. */
static uint32_t most_paths(const struct reconv_ops *ops, uint32_t lanes) {
    /* a context has up to WARP_LANES lanes, also if warps are narrower; one path may have no lanes */
    const uint32_t most = (lanes > WARP_LANES ? lanes : WARP_LANES) + (ops->flags & RECONV_EMPTY ? 1 : 0);
    if (!(ops->flags & RECONV_SIDE_BY_SIDE) && !ops->cta_size)
        return 1;
    return most < MAX_PATHS ? most : MAX_PATHS;
}

size_t warps_path_size(const struct reconv_ops *ops, uint32_t lanes) {
    return odd_lines(sizeof(struct sm_paths) + most_paths(ops, lanes) * sizeof(struct sm_path));
}

size_t warps_model_size(const struct reconv_ops *ops, const struct reconv_cfg *options, uint32_t lanes) {
    return odd_lines(ops->size(options, lanes));
}

size_t warps_near_size(const struct reconv_ops *ops, const struct reconv_cfg *options, uint32_t lanes) {
    return ops->near < ops->size(options, lanes) ? odd_lines(ops->near) * (ops->near != 0) : 0;
}

/* Returns the first address from `at` on where a cache line begins. */
static unsigned char *line_from(void *at) { return (unsigned char *)at + (-(uintptr_t)at & (LINE - 1)); }

void *warps_far(const struct sm_warps *ws, uint32_t w) {
    return ws->near_size ? line_from(ws->model_memory) + ws->slots * ws->near_size + w * ws->model_size : NULL;
}

bool warps_init(struct sm_warps *ws, const struct reconv_ops *ops, const struct reconv_cfg *options, uint32_t warps,
                uint32_t lanes) {
    size_t n = ws->slots = warps + MAX_CONTEXTS;
    ws->words = (warps + 63) / 64;
    ws->near_size = warps_near_size(ops, options, lanes);
    ws->model_size = warps_model_size(ops, options, lanes);
    ws->path_size = warps_path_size(ops, lanes);
    ws->most_paths = most_paths(ops, lanes);
    ws->model_memory = lazy_new(n * (ws->near_size + ws->model_size) + LINE);
    ws->path_memory = lazy_new(n * ws->path_size);
    ws->held_memory = lazy_new(n * MAX_PATHS * sizeof *ws->held_memory);
    ws->await_memory = lazy_new(n * MAX_PATHS * sizeof *ws->await_memory);
    ws->sched = lazy_new(n * (sizeof *ws->sched + sizeof *ws->issued + sizeof *ws->age + sizeof *ws->split_check.warp));
    if (!ws->model_memory || !ws->path_memory || !ws->held_memory || !ws->await_memory || !ws->sched)
        return false;
    ws->issued = (uint32_t *)(ws->sched + n);
    ws->age = ws->issued + n;
    ws->split_check.warp = (uint16_t *)(ws->age + n);
    ws->boards_small = true;
    const size_t step = ws->near_size ? ws->near_size : ws->model_size;
    for (uint32_t w = 0; w < n; w++) {
        struct sm_warp *sw = &ws->slot[w];
        sw->path = warps_paths(ws, w)->path;
        sw->board = warps_paths(ws, w)->board;
        sw->await = ws->await_memory + (size_t)w * MAX_PATHS;
        sw->loads = NO_INFLIGHT;
        sw->control = (struct warp_control){.ops = ops,
                                            .model = line_from(ws->model_memory) + w * step,
                                            .held = ws->held_memory + (size_t)w * MAX_PATHS};
    }
    return true;
}

void warps_free(struct sm_warps *ws) {
    lazy_free(ws->path_memory);
    lazy_free(ws->held_memory);
    lazy_free(ws->await_memory);
    lazy_free(ws->model_memory);
    lazy_free(ws->sched);
}

bool warps_place_boards(struct sm_warps *ws, size_t size) {
    ws->board_size = size;
    const bool small = size <= SMALL_BOARD;
    if (small && ws->boards_small)
        return true;
    ws->boards_small = small;
    ws->board_memory = small ? NULL : calloc(ws->slots, size);
    if (!small && !ws->board_memory)
        return false;
    for (uint32_t w = 0; w < ws->slots; w++)
        ws->slot[w].board = small ? warps_paths(ws, w)->board : (unsigned char *)ws->board_memory + w * size;
    return true;
}

void warps_free_boards(struct sm_warps *ws) {
    free(ws->board_memory);
    ws->board_memory = NULL;
}

/* Returns the states of the warp's paths, one bit per state. A warp without paths has a single state. If the model has
 * suspended paths, this state is PATH_LOAD (one of them waits for a load) or PATH_BARRIER; otherwise it is
 * PATH_BLOCKED. A finished or sleeping warp without paths has no state. */
static uint32_t states_of(const struct sm_warp *sw) {
    uint32_t states = 0;
    for (uint32_t p = 0; p < sw->n_paths; p++)
        states |= 1u << sw->path[p].state;
    if (sw->n_paths || sw->finished || sw->asleep)
        return states;
    for (uint32_t i = 0; i < sw->control.n_held; i++)
        if (sw->control.held[i].why == WAIT_LOAD)
            return 1u << PATH_LOAD;
    return 1u << (sw->control.n_held ? PATH_BARRIER : PATH_BLOCKED);
}

void warps_states_changed(struct sm_warps *ws, uint32_t w) {
    uint64_t *in_state = ws->in_state[w / 64];
    uint32_t states = states_of(&ws->slot[w]);
    for (int s = 0; s < N_PATH_STATES; s++)
        in_state[s] = (in_state[s] & ~(1ull << w % 64)) | (uint64_t)(states >> s & 1) << w % 64;
}

void warps_check_split(struct sm_warps *ws, uint32_t w) {
    if (ws->slot[w].in_split_check)
        return;
    ws->slot[w].in_split_check = true;
    ws->split_check.warp[ws->split_check.n++] = (uint16_t)w;
}
