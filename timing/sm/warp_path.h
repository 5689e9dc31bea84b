#ifndef TIMING_SM_WARP_PATH_H
#define TIMING_SM_WARP_PATH_H
/* A path of a warp, as an SM stores it. */
#include "isa/paths/reconv.h"
#include "timing/report/states.h"

/* The state of a path that has jumped, with peer.fetch_wrong_path. STRAY_FLUSH: the path's instruction buffer is
 * discarded, and its next fetch begins one cycle later. STRAY_FETCH: the instructions after the jump are fetched
 * before the target. */
enum path_stray { STRAY_NONE, STRAY_FLUSH, STRAY_FETCH };

struct sm_path {
    lanemask_t lanes;
    uint32_t pc;
    union {
        uint32_t wrong; /* STRAY_FETCH: PC of the wrong-path fetch */
        uint32_t at; /* modern core: the next machine instruction (timed_inst.place); during an expansion, one of it */
    };
    uint16_t id;       /* number that the model gave to the path */
    uint16_t ticket;   /* ticket of the path's fetch, in state PATH_FETCHING */
    uint8_t board;     /* path.board */
    uint8_t state;     /* enum path_state */
    uint8_t buffered;  /* number of instructions in the buffer, from `pc` on; modern core: from `at` on */
    bool stale : 1;    /* true if the model has not been notified of the path's last steps */
    bool refused : 1;  /* in state PATH_FETCH: true if the instruction cache has no room until a line arrives */
    uint8_t stray : 2; /* enum path_stray */
    /* modern core: number of fetches for the instructions behind the buffer, at most MODERN_BUFFER; else 0 */
    uint8_t coming : 3;
    bool missed : 1; /* modern core: true if the last of these fetches missed the L0 instruction cache */
    /* cycle from which the path may issue: in state PATH_SWITCH, or in PATH_SLEEP if `sleeps` is set */
    uint64_t switched : 63, sleeps : 1;
};
_Static_assert(sizeof(struct sm_path) == 32, "the first path shares a cache line of the host with the scoreboard");
#endif
