/* Fused f32 operations: how a fused instruction executes, its latency, and its counts. */
#include "fused_inst.h"
#include "isa/fused.h"
#include "isa/machine/effects.h"
#include "timing/config/config.h"
#include "timing/sm/compound_timing.h"

uint32_t fused_latency(const struct config *cfg, unsigned n) {
    const uint32_t set = cfg->fused.latency[n - 1];
    return set ? set : cfg->latency[LAT_F32_ADD].latency + 2 * (n - 1);
}

/* Sets the latency and the read ports of a fused instruction. The length of the longer sequence decides the latency. An
 * instruction with two sequences has one more read port. It writes both results together, so the second result needs no
 * additional slot on the result bus. */
static void time_of(const void *what, const struct config *cfg, struct compound_time *t) {
    const struct fused *c = what;
    t->latency = fused_latency(cfg, fused_depth(c));
    t->read_ports = c->split < c->n;
}

/* Counts one part: `kept` lanes use its result, and `wasted` lanes of a folded instruction use the result of the other
 * sequence. A comparison, a sign change and a move through an FPU count as a minimum operation in all lanes. A move of
 * the previous result takes no FPU and is not counted. */
static void count_part(struct sm_counts *n, const struct fused_part *p, uint32_t kept, uint32_t wasted) {
    static const uint8_t class[] = {[FUSED_ADD] = CLASS_F32_ADD,
                                    [FUSED_SUB] = CLASS_F32_ADD,
                                    [FUSED_MUL] = CLASS_F32_MUL,
                                    [FUSED_FMA] = CLASS_F32_FMA};
    if (p->op > FUSED_FMA) {
        n->op_lanes[CLASS_F32_MINMAX] += p->units ? kept + wasted : 0;
        return;
    }
    n->op_lanes[class[p->op]] += kept;
    n->fused.wasted_adds += p->op == FUSED_MUL ? 0 : wasted;
    n->fused.wasted_muls += p->op == FUSED_MUL || p->op == FUSED_FMA ? wasted : 0;
}

static void count(const void *what, const struct effects *fx, struct sm_counts *n) {
    const struct fused *c = what;
    struct sm_fused_counts *own = &n->fused;
    _Static_assert(sizeof own->by_length / sizeof own->by_length[0] == FUSED_LENGTH, "a counter for each length");
    uint32_t lanes = lanes_count(fx->lanes);
    uint32_t first = lanes ? lanes_count(fx->taken) : 0;
    uint32_t second = c->folded ? lanes - first : lanes;
    own->instructions++;
    own->dual += c->split < c->n && !c->folded;
    own->folded += c->folded;
    own->reads_saved += c->reads_saved;
    own->writes_saved += c->writes_saved;
    for (unsigned which = 0; which < 1u + (c->split < c->n); which++) {
        own->by_length[fused_units(c, which) - 1]++;
        own->later += (uint64_t)lanes * (fused_units(c, which) - 1);
    }
    for (unsigned k = 0; k < c->n; k++) {
        uint32_t kept = k < c->split ? first : second;
        count_part(n, &c->part[k], kept, lanes - kept);
        own->operations += c->part[k].units;
    }
}

static const struct compound_timing timing = {.time = time_of, .count = count};

const struct compound_ops fused_ops = {
    .name = FUSED_NAME,
    .help = "dependent f32 operations in one instruction",
    .latency = LAT_F32_ADD,
    .execute = fused_execute,
    .print = fused_print,
    .wrong = fused_wrong,
    .timing = &timing,
};

const struct fused_cfg *fused_options(const struct pass_context *c) {
    static const struct fused_cfg defaults = {.length = 5, .dual = true, .dual_min = 1, .ieee = true};
    return c->machine ? &c->machine->fused : &defaults;
}
