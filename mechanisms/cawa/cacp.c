/* The cache policy of CAWA (the paper's CACP). The ways of a set have two parts: the first half is for lines that
 * critical warps use again. Two tables of counters of two bits, indexed by a signature, predict each new line:
 *
 *   critical  selects the part of the line: the first half if the counter is 2 or 3. The first hit of a critical warp
 *             on the line increments the counter. The replacement of a line of the first half without such a hit
 *             decrements it
 *   again     selects the predicted use of the line: as in srrip, but the most distant use if the counter is 0. The
 *             first hit on the line increments the counter. The replacement of a line without a hit decrements it
 *
 * The victim is the line of the part whose predicted use is the most distant (srrip).
 *
 * Our reading of the paper: A signature has 8 bits: the PC xor the number of the 16 KB region. Counters start at 0 and
 * 1. A new line takes an empty way of either part; if all lines of its part must stay, it takes one of the other part.
 * Until the first access of a critical warp, as in an L2, a set has one part. */
#include "cawa_parts.h"
#include "timing/mem/replacement.h"
#include "timing/report/stat.h"

enum { DISTANT = 3, LONG = 2, SOON = 0, MOST = 3, KEPT = 2, SIGNATURES = 256, REGION_LINES = 128 };

struct cacp_counts {
#define DECLARED_SM_STATISTICS
#define COUNT_FIELDS
#include "cawa.def"
};

struct cacp {
    bool parted;       /* a critical warp has accessed the cache */
    bool known;        /* true if the L1 reports accesses with access(), so that signatures are known */
    bool critical;     /* true if a critical warp makes the present access */
    uint8_t signature; /* of the present access */
    uint8_t counts_critical[SIGNATURES], counts_again[SIGNATURES];
    struct cacp_counts n;
    struct cacp_line {
        uint8_t signature, predicted; /* predicted: from 0 (used again soon) to DISTANT */
        bool valid, used, used_critical;
    } line[];
};

static size_t cacp_size(uint32_t sets, uint32_t ways) {
    return sizeof(struct cacp) + (size_t)sets * ways * sizeof(struct cacp_line);
}

static void drop(void *state, uint32_t set, uint32_t ways, uint32_t way) {
    ((struct cacp *)state)->line[(size_t)set * ways + way] = (struct cacp_line){.predicted = DISTANT};
}

static void start(void *state, uint32_t sets, uint32_t ways) {
    struct cacp *s = state;
    for (uint32_t set = 0; set < sets; set++)
        for (uint32_t way = 0; way < ways; way++)
            drop(s, set, ways, way);
    for (uint32_t i = 0; i < SIGNATURES; i++)
        s->counts_again[i] = 1;
}

static void access_is(void *state, const struct replacement_access *a) {
    struct cacp *s = state;
    s->known = true;
    s->critical = a->critical && !a->ahead;
    s->parted |= s->critical;
    s->signature = (uint8_t)(a->pc ^ a->line / REGION_LINES);
}

/* Returns the first way after the part that contains way `way`. */
static uint32_t part_end(const struct cacp *s, uint32_t ways, uint32_t way) {
    return s->parted && way < ways / 2 ? ways / 2 : ways;
}
static uint32_t part_begin(const struct cacp *s, uint32_t ways, uint32_t way) {
    return s->parted && way >= ways / 2 ? ways / 2 : 0;
}
/* Returns true if new lines of the present access belong to the first half. */
static bool is_kept(const struct cacp *s) { return s->known && s->counts_critical[s->signature] >= KEPT; }

/* Returns the way from `begin` to before `end` whose use is predicted latest; `end` if all lines must stay. */
static uint32_t latest(const struct cacp_line *line, const uint64_t *used, uint32_t begin, uint32_t end) {
    uint32_t best = end;
    for (uint32_t w = begin; w < end; w++)
        if (used[w] != CACHE_STAYS && (best == end || line[w].predicted > line[best].predicted))
            best = w;
    return best;
}

static uint32_t victim(const void *state, const struct replacement_set *set) {
    const struct cacp *s = state;
    const struct cacp_line *line = &s->line[(size_t)set->number * set->ways];
    const uint32_t at = is_kept(s) ? 0 : set->ways - 1, end = part_end(s, set->ways, at);
    const uint32_t way = latest(line, set->used, part_begin(s, set->ways, at), end);
    return way != end ? way : latest(line, set->used, 0, set->ways);
}

static void hit(void *state, uint32_t set, uint32_t ways, uint32_t way) {
    struct cacp *s = state;
    struct cacp_line *line = &s->line[(size_t)set * ways + way];
    uint8_t *again = &s->counts_again[line->signature], *critical = &s->counts_critical[line->signature];
    line->predicted = SOON;
    *again += !line->used && *again < MOST;
    *critical += s->critical && !line->used_critical && *critical < MOST;
    line->used = true;
    line->used_critical |= s->critical;
    s->n.critical_hits += s->critical;
}

/* Learns from the line that leaves a way. */
static void learn(struct cacp *s, const struct cacp_line *gone, bool first_half) {
    uint8_t *again = &s->counts_again[gone->signature], *critical = &s->counts_critical[gone->signature];
    if (!gone->valid)
        return;
    *again -= !gone->used && *again;
    *critical -= first_half && !gone->used_critical && *critical;
}

static void fill(void *state, uint32_t set, uint32_t ways, uint32_t way) {
    struct cacp *s = state;
    struct cacp_line *line = &s->line[(size_t)set * ways];
    const uint8_t lacks = (uint8_t)(DISTANT - line[way].predicted);
    const bool first_half = s->parted && way < ways / 2, kept = is_kept(s);
    for (uint32_t w = part_begin(s, ways, way); w < part_end(s, ways, way) && lacks; w++)
        line[w].predicted = line[w].predicted + lacks > DISTANT ? DISTANT : (uint8_t)(line[w].predicted + lacks);
    learn(s, &line[way], first_half);
    line[way] = (struct cacp_line){.signature = s->signature,
                                   .predicted = s->known && !s->counts_again[s->signature] ? DISTANT : LONG,
                                   .valid = true};
    s->n.critical_misses += s->critical;
    s->n.kept += kept;
}

static const struct stat_row rows[] = {
#define DECLARED_SM_STATISTICS
#define COUNT_ROWS struct cacp_counts
#include "cawa.def"
};

static void stats(void *state, struct stats *out) {
    struct cacp *s = state;
    STATS_COUNT(out, rows, &s->n);
    s->n = (struct cacp_counts){0};
}

const struct replacement_ops cawa_cacp = {
    .name = "cacp",
    .help = "half of the ways keep lines that critical warps use again (CAWA); signatures predict them",
    .size = cacp_size,
    .start = start,
    .victim = victim,
    .hit = hit,
    .fill = fill,
    .drop = drop,
    .access = access_is,
    .stats = stats,
};
