#include "profile.h"
#include <stddef.h>

static const struct {
    const char *word, *phrase;
} names[N_PATH_STATES] = {
    [PATH_LOAD] = {"load", "waits for memory to write a register"},
    [PATH_FENCE] = {"fence", "waits for its accesses to be complete"},
    [PATH_ORDER] = {"atomic's turn", "waits for its turn at an atomic"},
    [PATH_ARITH] = {"result", "waits for a result"},
    [PATH_FETCH] = {"fetch", "wants to fetch"},
    [PATH_FETCHING] = {"instructions", "waits for instructions"},
    [PATH_SWITCH] = {"switch", "switches"},
    [PATH_BLOCKED] = {"reconvergence", "blocked"},
    [PATH_QUEUE] = {"queue", "waits for a queue"},
    [PATH_BARRIER] = {"barrier", "waits at a barrier"},
    [PATH_TURN] = {"turn", "waits for its turn to run"},
    [PATH_ASLEEP] = {"no CTA", "waits for a CTA to begin"},
};

const char *path_state_word(uint8_t state) {
    return state < N_PATH_STATES && names[state].word ? names[state].word : "ready";
}

const char *path_state_phrase(uint8_t state) {
    return state < N_PATH_STATES && names[state].phrase ? names[state].phrase : "ready";
}

const char *const issue_slot_names[N_SLOTS + 1] = {
    [SLOT_ISSUED] = "issued",        [SLOT_PIPE] = "pipe_busy",
    [SLOT_LOAD] = "scoreboard_load", [SLOT_ARITH] = "scoreboard_arith",
    [SLOT_FETCH] = "fetch",          [SLOT_RECONVERGENCE] = "reconvergence",
    [SLOT_QUEUE] = "queue",          [SLOT_BARRIER] = "barrier",
    [SLOT_NO_WARP] = "no_warp",
};

const char *gpu_stall_name(int slot) {
    return slot > SLOT_ISSUED && slot < SLOT_NO_WARP ? issue_slot_names[slot] : NULL;
}
