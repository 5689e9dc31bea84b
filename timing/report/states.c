#include "causes.h"
#include "profile.h"
#include <stddef.h>
#include <string.h>

static const struct {
    const char *word, *phrase;
} names[N_PATH_STATES] = {
    [PATH_LOAD] = {"load", "waits for a load"},
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
    [PATH_SLEEP] = {"sleep", "sleeps"},
    [PATH_ASLEEP] = {"no CTA", "waits for a CTA to begin"},
};

const char *path_state_word(uint8_t state) {
    return state < N_PATH_STATES && names[state].word ? names[state].word : "ready";
}

const char *path_state_phrase(uint8_t state) {
    return state < N_PATH_STATES && names[state].phrase ? names[state].phrase : "ready";
}

const char *const issue_slot_names[N_SLOTS + 1] = {
#define CAUSE(slot, name, words, color) [slot] = name,
#include "causes.def"
#undef CAUSE
};

static const struct {
    const char *words;
    int color;
} causes[N_SLOTS] = {
#define CAUSE(slot, name, words, color) [slot] = {words, color},
#include "causes.def"
#undef CAUSE
};

const char *slot_words(int slot) { return causes[slot].words; }
int slot_color(int slot) { return causes[slot].color; }

int slot_find(const char *name) {
    for (int i = 0; i < N_SLOTS; i++)
        if (strcmp(issue_slot_names[i], name) == 0 || strcmp(causes[i].words, name) == 0)
            return i;
    return -1;
}

const char *gpu_stall_name(int slot) {
    return slot > SLOT_ISSUED && slot < SLOT_NO_WARP ? issue_slot_names[slot] : NULL;
}
