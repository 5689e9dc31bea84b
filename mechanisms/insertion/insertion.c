/* Insertion policies [Qureshi et al., ISCA 2007]. The victim is the least recently used line, as under LRU. The
 * policies differ in the place of a new line in the order of use:
 *
 *   lip   a new line is the least recently used one (LRU insertion)
 *   bip   one new line of 32 is the most recently used one, the others the least recently used (bimodal insertion)
 *   dip   set dueling between LRU and bip (dynamic insertion)
 *
 * A line becomes the most recently used one when an access finds it, even if its data are outstanding. */
#include "mechanisms/mechanism.h"
#include "timing/mem/replacement.h"
#include "timing/mem/set_dueling.h"

enum { BIP_PERIOD = 32 }; /* the paper's bimodal throttle parameter is 1/32 */

struct insertion {
    uint32_t sets;
    uint32_t counter; /* of set dueling; policy A is LRU, policy B is bip */
    uint32_t fills;   /* new lines that bip has placed */
    int64_t clock;
    int64_t order[]; /* for each line of the cache: larger if the line was used more recently */
};

static size_t insertion_size(uint32_t sets, uint32_t ways) {
    return sizeof(struct insertion) + (size_t)sets * ways * sizeof(int64_t);
}

static void insertion_start(void *state, uint32_t sets, uint32_t ways) {
    struct insertion *s = state;
    (void)ways;
    s->sets = sets;
    s->counter = DUEL_START;
}

static uint32_t victim(const void *state, const struct replacement_set *set) {
    const struct insertion *s = state;
    const int64_t *order = &s->order[(size_t)set->number * set->ways];
    uint32_t best = set->ways;
    for (uint32_t w = 0; w < set->ways; w++)
        if (set->used[w] != CACHE_STAYS && (best == set->ways || order[w] < order[best]))
            best = w;
    return best;
}

static void insert_first(struct insertion *s, uint32_t set, uint32_t ways, uint32_t way) {
    s->order[(size_t)set * ways + way] = ++s->clock;
}

static void hit(void *state, uint32_t set, uint32_t ways, uint32_t way) { insert_first(state, set, ways, way); }

static void insert_last(struct insertion *s, uint32_t set, uint32_t ways, uint32_t way) {
    int64_t *order = &s->order[(size_t)set * ways], least = INT64_MAX;
    for (uint32_t w = 0; w < ways; w++)
        if (w != way && order[w] < least)
            least = order[w];
    order[way] = ways > 1 ? least - 1 : 0;
}

static void lip_fill(void *state, uint32_t set, uint32_t ways, uint32_t way) { insert_last(state, set, ways, way); }

static void bip_fill(void *state, uint32_t set, uint32_t ways, uint32_t way) {
    struct insertion *s = state;
    if (++s->fills % BIP_PERIOD == 0)
        insert_first(s, set, ways, way);
    else
        insert_last(s, set, ways, way);
}

/* Counts a miss and inserts its line by the policy that the set uses. Each miss that allocates a line fills a way, so
 * fills count the misses. */
static void dip_fill(void *state, uint32_t set, uint32_t ways, uint32_t way) {
    struct insertion *s = state;
    s->counter = duel_count_miss(s->counter, set, s->sets);
    if (duel_uses_b(s->counter, set, s->sets))
        bip_fill(s, set, ways, way);
    else
        insert_first(s, set, ways, way);
}

#define POLICY(NAME, text)                                                                                             \
    static const struct replacement_ops replacement_##NAME = {                                                         \
        .name = #NAME,                                                                                                 \
        .help = text,                                                                                                  \
        .size = insertion_size,                                                                                        \
        .start = insertion_start,                                                                                      \
        .victim = victim,                                                                                              \
        .hit = hit,                                                                                                    \
        .fill = NAME##_fill,                                                                                           \
    }
POLICY(lip, "LRU insertion: a new line is the next victim until it is used again");
POLICY(bip, "bimodal insertion: as lip, but one new line of 32 counts as used most recently");
POLICY(dip, "dynamic insertion: LRU or bip, which of them misses less in sample sets");

const struct mechanism mechanism_insertion = {
    .name = "insertion",
    .help = "replacement policies that choose the place of new lines: lip, bip and dip",
    .paper = "Qureshi et al., Adaptive insertion policies for high performance caching, ISCA 2007",
    .kind = MECHANISM_MACHINE,
    .replacements = REPLACEMENTS(&replacement_lip, &replacement_bip, &replacement_dip),
};
