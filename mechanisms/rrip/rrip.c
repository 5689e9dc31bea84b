/* Re-reference interval prediction [Jaleel et al., ISCA 2010], with hit priority. Each line has a prediction of two
 * bits: 0 means that the line will be used again soon, 3 that it will be used again in the distant future. A hit sets
 * the prediction to 0. The victim is a line with prediction 3; if there is none, the predictions of all lines of the
 * set increase until there is one. The policies differ in the prediction of a new line:
 *
 *   srrip  2 (static)
 *   brrip  2 for one new line of 32, else 3 (bimodal)
 *   drrip  set dueling between srrip and brrip (dynamic) */
#include "mechanisms/mechanism.h"
#include "timing/mem/replacement.h"
#include "timing/mem/set_dueling.h"

enum { DISTANT = 3, LONG = 2, SOON = 0, BRRIP_PERIOD = 32 };

struct rrip {
    uint32_t sets;
    uint32_t counter;    /* of set dueling; policy A is srrip, policy B is brrip */
    uint32_t fills;      /* new lines that brrip has placed */
    uint8_t predicted[]; /* prediction of each line of the cache */
};

static size_t rrip_size(uint32_t sets, uint32_t ways) { return sizeof(struct rrip) + (size_t)sets * ways; }

static void rrip_start(void *state, uint32_t sets, uint32_t ways) {
    struct rrip *s = state;
    s->sets = sets;
    s->counter = DUEL_START;
    for (size_t i = 0; i < (size_t)sets * ways; i++)
        s->predicted[i] = DISTANT;
}

/* Returns the first way with the largest prediction. This is the way that would be the first to reach DISTANT if the
 * predictions of the set increased together. fill() then increases them. */
static uint32_t victim(const void *state, const struct replacement_set *set) {
    const struct rrip *s = state;
    const uint8_t *predicted = &s->predicted[(size_t)set->number * set->ways];
    uint32_t best = set->ways;
    for (uint32_t w = 0; w < set->ways; w++)
        if (set->used[w] != CACHE_STAYS && (best == set->ways || predicted[w] > predicted[best]))
            best = w;
    return best;
}

static void hit(void *state, uint32_t set, uint32_t ways, uint32_t way) {
    struct rrip *s = state;
    s->predicted[(size_t)set * ways + way] = SOON;
}

static void drop(void *state, uint32_t set, uint32_t ways, uint32_t way) {
    struct rrip *s = state;
    s->predicted[(size_t)set * ways + way] = DISTANT;
}

/* Places a new line in way `way`. The predictions of all lines of the set first increase by as much as the victim's
 * prediction lacked to DISTANT. An empty way has DISTANT, so no prediction increases for it. */
static void place(struct rrip *s, uint32_t set, uint32_t ways, uint32_t way, uint8_t prediction) {
    uint8_t *predicted = &s->predicted[(size_t)set * ways];
    uint32_t lacks = DISTANT - predicted[way];
    for (uint32_t w = 0; w < ways && lacks; w++)
        predicted[w] = (uint8_t)(predicted[w] + lacks > DISTANT ? DISTANT : predicted[w] + lacks);
    predicted[way] = prediction;
}

static void srrip_fill(void *state, uint32_t set, uint32_t ways, uint32_t way) { place(state, set, ways, way, LONG); }

static void brrip_fill(void *state, uint32_t set, uint32_t ways, uint32_t way) {
    struct rrip *s = state;
    place(s, set, ways, way, ++s->fills % BRRIP_PERIOD == 0 ? LONG : DISTANT);
}

/* Counts a miss and inserts its line by the policy that the set uses. Each miss that allocates a line fills a way, so
 * fills count the misses. */
static void drrip_fill(void *state, uint32_t set, uint32_t ways, uint32_t way) {
    struct rrip *s = state;
    s->counter = duel_count_miss(s->counter, set, s->sets);
    if (duel_uses_b(s->counter, set, s->sets))
        brrip_fill(s, set, ways, way);
    else
        srrip_fill(s, set, ways, way);
}

#define POLICY(NAME, text)                                                                                             \
    static const struct replacement_ops replacement_##NAME = {                                                         \
        .name = #NAME,                                                                                                 \
        .help = text,                                                                                                  \
        .size = rrip_size,                                                                                             \
        .start = rrip_start,                                                                                           \
        .victim = victim,                                                                                              \
        .hit = hit,                                                                                                    \
        .fill = NAME##_fill,                                                                                           \
        .drop = drop,                                                                                                  \
    }
POLICY(srrip, "static re-reference interval prediction: new lines are used again late, lines that hit soon");
POLICY(brrip, "bimodal: as srrip, but 31 of 32 new lines are used again in the distant future");
POLICY(drrip, "dynamic: srrip or brrip, which of them misses less in sample sets");

const struct mechanism mechanism_rrip = {
    .name = "rrip",
    .help = "replacement policies that predict when a line is used again: srrip, brrip and drrip",
    .paper = "Jaleel et al., High performance cache replacement using re-reference interval prediction, ISCA 2010",
    .kind = MECHANISM_MACHINE,
    .replacements = REPLACEMENTS(&replacement_srrip, &replacement_brrip, &replacement_drrip),
};
