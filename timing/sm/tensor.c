/* wgmma in the timing model. A wgmma issues like an instruction without a result. Its product then waits for the tensor
 * unit of the warp's scheduler, which multiplies one product after the other. When a product begins, its operands claim
 * the banks of shared memory: 16 rows of a, unless a is in registers, and a quarter of b, because the four warps of a
 * group read b together [est]. A product ends when it has been multiplied and its operands have been read. No register
 * waits for a product: wgmma.wait_group waits for the groups, which end in order.
 *
 * Accumulators do not use the ports of the register file: the tensor unit reads and writes them on its own path [est].
 *
 * Time of a product, per warp: 16 n k multiply-adds at tensor.rate. The default of 512 is that of the H100: m64n256k16
 * takes 128 cycles, as Luo et al. measured ("Benchmarking and dissecting the Nvidia Hopper GPU architecture via
 * microbenchmarking", 2024). A sparse product takes half the time of a dense one with the same k.
 *
 * All units of an SM together execute one tcgen05.mma after the other [est]. A tcgen05.commit arrives at its mbarrier
 * when the products that its warp issued before have ended. A commit that may arrive in another CTA waits for these
 * products before it issues [est]. */
#include "tensor.h"
#include "isa/exec/exec_mbarrier.h"
#include "isa/group_matrix.h"
#include "isa/tensor_memory.h"
#include "stages.h"
#include "timing/mem/lsu.h"
#include <assert.h>
#include <stdlib.h>

enum { MOST_QUEUE = 64, UNITS = 9, ALL_UNITS = UNITS - 1, OPERAND_BYTES = 32, MOST_ARRIVALS = 2 * MAX_WARP_LANES };

/* A product between issue and end, by instruction in flight. */
struct product {
    uint32_t cycles, bytes; /* time of the multiplication; bytes of operands in shared memory */
    uint32_t units;         /* units that multiply */
};

/* A tensor unit. `waiting` is a ring of entries of the table of instructions in flight. */
struct unit {
    uint32_t first, n; /* products that have not begun: n entries of `waiting` from `first` on */
    uint64_t free;     /* cycle at which the product that has begun leaves the unit */
    uint16_t waiting[MAX_INFLIGHT];
};

/* The products of a warp that have not ended, in order, by the number of their group. */
struct groups {
    uint32_t open; /* number of the group that the next commit closes */
    uint32_t first, n;
    uint32_t of[MOST_QUEUE];
    /* arrivals at mbarriers, in order; each waits until `after` products of the warp have ended */
    uint32_t first_arrival, n_arrivals;
    struct {
        uint32_t after, address;
    } arrival[MOST_ARRIVALS];
};

struct sm_tensor {
    struct tensor_counts n;
    struct product product[MAX_INFLIGHT];
    struct unit unit[UNITS];
    struct groups warp[WARP_SLOTS];
};

static const struct isa_row *row_of(const struct inst *in) {
    uint32_t n;
    return &isa_rows(&n)[in->row];
}

static unsigned operation_of(const struct inst *in) { return form_get(row_of(in)->form, CAT_MODE2); }

bool sm_tensor_begin(struct sm *sm) {
    const bool any = sm->program->tensor;
    sm->tensor = any ? calloc(1, sizeof *sm->tensor) : NULL;
    sm->in_flight.pairs = any && sm->modern;
    return sm->tensor || !any;
}

void sm_tensor_end(struct sm *sm) {
    free(sm->tensor);
    sm->tensor = NULL;
}

bool sm_tensor_hold(const struct sm *sm, uint32_t w, const struct sm_path *path) {
    const struct inst *in = &sm->program->program->code[path->pc];
    const struct groups *g = &sm->tensor->warp[w];
    if (operation_of(in) == MODE2_COMMIT_FAR)
        return g->n > 0;
    if (row_of(in)->op == OP_TCGEN05)
        return operation_of(in) == MODE2_MULTIPLY ? g->n >= MOST_QUEUE : g->n_arrivals > MOST_ARRIVALS - MAX_WARP_LANES;
    if (!g->n)
        return false;
    if (operation_of(in) == MODE2_MMA_ASYNC)
        return g->n >= sm->cfg->tensor.queue;
    return (int64_t)g->of[g->first % MOST_QUEUE] + in->imm < (int64_t)g->open;
}

/* Returns the time and the operands of a wgmma. */
static struct product product_of(const struct config *cfg, const struct inst *in) {
    const struct group_form f = group_unpack(in->imm);
    const unsigned bits = group_bits(row_of(in)->types[1]), share = f.sparse ? 2 : 1;
    const uint64_t rate = (uint64_t)cfg->tensor.rate * 16 / bits * share, products = (uint64_t)GROUP_ROWS * f.n * f.k;
    const uint32_t a = f.registers ? 0 : GROUP_ROWS * OPERAND_BYTES, b = f.n * OPERAND_BYTES * share / GROUP_WARPS;
    return (struct product){(uint32_t)((products + rate - 1) / (rate ? rate : 1)), a + b, 1};
}

/* Returns the time and the operand bytes of a tcgen05.mma, summed over the lanes that execute it. For each type, the k
 * elements of a row fill 32 bytes, so the time does not depend on the type. Nor does it depend on sparsity, which
 * doubles k and the bytes of b. With .cta_group::2, this SM multiplies half of the rows and reads half of b from its
 * shared memory; the time of the peer's half is the same and is not counted a second time [est]. */
static struct product wide_product(const struct sm *sm, uint32_t w, const struct inst *in) {
    const struct program *p = sm->program->program;
    const uint32_t *what = reg_ptr(sm->warps.slot[w].w, p->lists[in->list]), units = sm->cfg->sm.schedulers;
    struct product all = {.units = units};
    const struct tensor_form f = tensor_unpack(in->imm);
    const uint32_t ctas = f.flags & TENSOR_PAIR ? 2 : 1, share = f.flags & TENSOR_SPARSE ? 2 : 1;
    for (lanemask_t m = sm->fx.lanes; m; m &= m - 1) {
        const uint32_t d = what[lanes_first(m)], of_m = f.code >= TENSOR_MXF8F6F4 ? 24 : 31; /* lowest bit of M */
        const uint32_t rows = (d >> 24 & of_m) * 16 / ctas, columns = (d >> 17 & 63) * 8;
        const uint64_t products = (uint64_t)rows * columns * 16, rate = (uint64_t)sm->cfg->tensor.rate * units;
        all.cycles += (uint32_t)((products + rate - 1) / rate);
        all.bytes += (columns * share / ctas + (f.flags & TENSOR_A ? 0 : rows)) * OPERAND_BYTES;
    }
    return all;
}

static void add_product(struct sm *sm, uint32_t w, const struct sm_path *path, uint64_t now) {
    struct sm_tensor *t = sm->tensor;
    const struct inst *in = &sm->program->program->code[path->pc];
    const bool wide = row_of(in)->op == OP_TCGEN05;
    const uint32_t unit = wide ? ALL_UNITS : sched_of(&sm->cfg->sm, w);
    struct groups *g = &t->warp[w];
    struct unit *u = &t->unit[unit];
    const uint32_t i = sm_inflight_new(sm, w, path->pc, path->lanes, path->board);
    t->product[i] = wide ? wide_product(sm, w, in) : product_of(sm->cfg, in);
    assert(g->n < MOST_QUEUE && u->n < MAX_INFLIGHT);
    g->of[(g->first + g->n++) % MOST_QUEUE] = g->open;
    u->waiting[(u->first + u->n++) % MAX_INFLIGHT] = (uint16_t)i;
    t->n.instructions++;
    wheel_add(&sm->wheel, max64(u->free, now + 1), event_make(EVENT_TENSOR, MAX_INFLIGHT + unit));
}

/* Performs the arrivals that wait for no product of the warp any more. */
static void arrive(struct sm *sm, uint32_t w) {
    struct groups *g = &sm->tensor->warp[w];
    for (; g->n_arrivals && (int32_t)(g->first - g->arrival[g->first_arrival % MOST_ARRIVALS].after) >= 0;
         g->n_arrivals--) {
        mbarrier_copies_done(sm->warps.slot[w].w->cta, g->arrival[g->first_arrival++ % MOST_ARRIVALS].address);
        sm->arrivals_made++;
    }
}

/* Adds an arrival for each lane that executes a commit. */
static void add_arrivals(struct sm *sm, uint32_t w) {
    struct groups *g = &sm->tensor->warp[w];
    for (lanemask_t m = sm->fx.lanes & sm->fx.shared_lanes; m; m &= m - 1) {
        const uint32_t at = (g->first_arrival + g->n_arrivals++) % MOST_ARRIVALS;
        assert(g->n_arrivals <= MOST_ARRIVALS);
        g->arrival[at].after = g->first + g->n;
        g->arrival[at].address = (uint32_t)sm->fx.addr[lanes_first(m)];
    }
    arrive(sm, w);
}

void sm_tensor_issued(struct sm *sm, uint32_t w, const struct sm_path *path, uint64_t now) {
    const unsigned operation = operation_of(&sm->program->program->code[path->pc]);
    if (!sm->fx.lanes)
        return;
    if (operation == MODE2_MMA_ASYNC || operation == MODE2_MULTIPLY)
        add_product(sm, w, path, now);
    else if (operation == MODE2_COMMIT)
        add_arrivals(sm, w);
    else if (operation == MODE2_COMMIT_GROUP)
        sm->tensor->warp[w].open++;
}

/* Lets a unit begin its next product, or tries again when the unit is free. Every product has one such event. */
static void begin_product(struct sm *sm, uint32_t unit, uint64_t now) {
    struct sm_tensor *t = sm->tensor;
    struct unit *u = &t->unit[unit];
    if (u->free > now) {
        wheel_add(&sm->wheel, u->free, event_make(EVENT_TENSOR, MAX_INFLIGHT + unit));
        return;
    }
    const uint32_t i = u->waiting[u->first++ % MAX_INFLIGHT], per = sm->cfg->tensor.shared_bytes;
    const struct product *p = &t->product[i];
    const uint32_t passes = (p->bytes + per - 1) / per;
    const uint64_t multiplied = now + p->cycles, read = passes ? lsu_occupy(sm->lsu, passes, now) : now;
    u->n--;
    u->free = max64(multiplied, read);
    t->n.busy_cycles += (uint64_t)p->cycles * p->units;
    t->n.multiply_adds += (uint64_t)p->cycles * p->units * sm->cfg->tensor.rate;
    t->n.wait_cycles += u->free - multiplied;
    t->n.shared_bytes += p->bytes;
    t->n.shared_cycles += passes;
    wheel_add(&sm->wheel, u->free + sm->cfg->tensor.latency, event_make(EVENT_TENSOR, i));
}

bool sm_tensor_step(struct sm *sm, uint32_t value, uint64_t now, uint32_t *slot) {
    if (value >= MAX_INFLIGHT) {
        begin_product(sm, value - MAX_INFLIGHT, now);
        return false;
    }
    const uint32_t w = sm->in_flight.entry[value].warp;
    struct groups *g = &sm->tensor->warp[w];
    g->first++;
    g->n--;
    arrive(sm, w);
    in_flight_end(&sm->in_flight, value);
    sm->warps.slot[w].inflight--;
    *slot = w;
    return true;
}

bool sm_tensor_in_flight(const struct sm *sm) {
    for (uint32_t w = 0; sm->tensor && w < WARP_SLOTS; w++)
        if (sm->tensor->warp[w].n_arrivals)
            return true;
    return false;
}

/* clang-format off */
static const struct stat_row tensor_rows[] = {
#define COUNT_ROWS struct tensor_counts
#include "tensor_stats.def"
};
/* clang-format on */

void sm_tensor_stats(struct sm *sm, struct stats *s) {
    static const struct tensor_counts none;
    STATS_COUNT(s, tensor_rows, sm->tensor ? &sm->tensor->n : &none);
    if (sm->tensor)
        sm->tensor->n = none;
}
