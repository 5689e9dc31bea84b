/* Bypass policies of the L1 and L2. Each names the misses that go past the cache, that is, allocate no line:
 *
 *   all     each load that misses; stores allocate as without a policy
 *   hinted  loads that the program marks: .cs, .lu and .L1::no_allocate (PTX ISA 8.7, cache operators and eviction
 *           priorities). The mark reaches only the L1
 *   stall   loads whose set has no line that can be replaced, which would block the cache [Jia, Shaw and Martonosi,
 *           MRPB, HPCA 2014: bypass on an associativity stall]
 *   reuse   loads whose lines are rarely used again, predicted by PC [Tian et al., Adaptive GPU cache bypassing,
 *           GPGPU-8, 2015]
 *
 * Our reading of the paper: with `reuse`, a table of 128 counters of 4 bits is indexed by a hash of the PC. Each
 * line has the hash of the load that fetched it, and a bit for use since. The first use decrements the counter; the
 * replacement of an unused line increments it. If the counter is 8 or more, 15 of 16 misses go past; the 16th
 * allocates a line, so that the counter can fall again. (The paper corrects predictions with the help of the L2.) */
#include "isa/program.h"
#include "mechanisms/mechanism.h"
#include "timing/mem/bypass.h"

static bool all_goes_past(const void *state, const struct bypass_access *a) {
    (void)state;
    return !a->store;
}

static bool hinted_goes_past(const void *state, const struct bypass_access *a) {
    (void)state;
    return !a->store && (a->cache_op == CACHE_CS || a->cache_op == CACHE_LU || a->cache_op == CACHE_NO_L1);
}

static bool stall_goes_past(const void *state, const struct bypass_access *a) {
    (void)state;
    return !a->store && a->full;
}

enum { TABLE = 128, MOST = 15, LEAST = 8, PERIOD = 16 };

struct reuse {
    struct {
        uint8_t unused; /* counter: larger if lines are replaced without use */
        uint8_t passed; /* misses that went past since the last line was allocated */
    } load[TABLE];
    struct {
        uint8_t load; /* hash of the load that fetched the line */
        bool valid, used;
    } line[];
};

static uint32_t hash(uint32_t pc) { return (pc ^ pc >> 7 ^ pc >> 14) % TABLE; }

static size_t reuse_size(uint32_t sets, uint32_t ways) {
    return sizeof(struct reuse) + (size_t)sets * ways * sizeof(((struct reuse *)NULL)->line[0]);
}

static bool reuse_goes_past(const void *state, const struct bypass_access *a) {
    const struct reuse *s = state;
    const uint32_t h = hash(a->pc);
    return !a->store && s->load[h].unused >= LEAST && s->load[h].passed + 1 < PERIOD;
}

static void reuse_hit(void *state, const struct bypass_access *a, uint32_t way) {
    struct reuse *s = state;
    uint8_t *unused = &s->load[s->line[way].load].unused;
    if (a->store || !s->line[way].valid || s->line[way].used)
        return;
    s->line[way].used = true;
    *unused -= *unused > 0;
}

static void reuse_fill(void *state, const struct bypass_access *a, uint32_t way) {
    struct reuse *s = state;
    uint8_t *unused = &s->load[s->line[way].load].unused;
    if (s->line[way].valid && !s->line[way].used)
        *unused += *unused < MOST;
    s->line[way].valid = !a->store;
    s->line[way].used = false;
    s->line[way].load = (uint8_t)hash(a->pc);
    if (!a->store)
        s->load[hash(a->pc)].passed = 0;
}

static void reuse_passed(void *state, const struct bypass_access *a) {
    ((struct reuse *)state)->load[hash(a->pc)].passed++;
}

static const struct bypass_ops all = {.name = "all", .help = "each load", .goes_past = all_goes_past},
                               hinted = {.name = "hinted",
                                         .help = "loads with .cs, .lu or .L1::no_allocate",
                                         .goes_past = hinted_goes_past},
                               stall = {.name = "stall",
                                        .help = "loads whose set has no line that can be replaced",
                                        .goes_past = stall_goes_past},
                               reuse = {.name = "reuse",
                                        .help = "loads whose lines are rarely used again, predicted by PC",
                                        .size = reuse_size,
                                        .goes_past = reuse_goes_past,
                                        .hit = reuse_hit,
                                        .fill = reuse_fill,
                                        .passed = reuse_passed};

const struct mechanism mechanism_bypassing = {
    .name = "bypassing",
    .help = "policies for loads that allocate no line in a cache: all, hinted, stall and reuse",
    .paper = "Jia, Shaw and Martonosi, MRPB, HPCA 2014; Tian et al., Adaptive GPU cache bypassing, GPGPU-8, 2015",
    .kind = MECHANISM_MACHINE,
    .bypasses = BYPASSES(&all, &hinted, &stall, &reuse),
};
