/* The table of expansions. */
#include "expansions.h"
#include "program.h"
#include <assert.h>

static const struct expansion expansions[N_EXPANSIONS] = {
#define S(class, n, gap)                                                                                               \
    { LAT_##class, n, gap }
#define EXPANSION(id, label, ...) [EXPANSION_##id] = {.name = label, .step = {__VA_ARGS__}},
#include "expansions.def"
#undef EXPANSION
#undef S
};

const struct expansion *expansion_of(enum expansion_id id) {
    assert(id > EXPANSION_NONE && id < N_EXPANSIONS);
    return &expansions[id];
}

unsigned expansion_count(enum expansion_id id) {
    unsigned n = id == EXPANSION_NONE;
    for (int i = 0; i < EXPANSION_STEPS; i++)
        n += expansions[id].step[i].count;
    return n;
}

const struct expansion_step *expansion_last(enum expansion_id id) {
    const struct expansion_step *s = expansion_of(id)->step;
    while (s < expansions[id].step + EXPANSION_STEPS - 1 && s[1].count)
        s++;
    return s;
}
