#ifndef TIMING_SM_OPERANDS_H
#define TIMING_SM_OPERANDS_H
/* Operands and execution: register banks, collectors and pipes. */
#include "isa/arith.h"
#include "memory_stage.h"
#include "timing/sm/regfile/collector.h"
#include "timing/sm/regfile/pipes.h"
#include "unit_calls.h"

struct sm_shared_collectors;

/* Collectors, banks and pipes. The SM has one set of them, or one set per scheduler if it is divided. A modern core
 * uses the first fields; the host provides no pages for the rest. */
struct exec_part {
    /* by kind of pipe: cycle from which the issue latch has room; UINT64_MAX until an event makes room. In a modern
     * core, only the latch of PIPE_MEM can have room before cycle `held`. operands_take() combines both. */
    uint64_t takes[N_PIPES], held;
    /* In a modern core, the latches of all pipes but PIPE_MEM have room from the later of this cycle and `held` on. */
    uint64_t takes_most;
    struct pipes units[N_PIPES];
    struct mem_queue mem; /* memory instructions that have not reached the load/store unit */
    struct regfile regfile;
    struct collector collector[N_PIPES]; /* modern core: zeros until operands_collector() */
};

/* State of the operand stage: register banks, collectors and pipes. */
struct sm_operands {
    uint32_t n_parts; /* the number of schedulers if the SM is divided (sm.subcores), else 1 */
    bool skewed;      /* sched.skewed */
    struct exec_part part[8];
    struct sm_shared_collectors *shared; /* NULL: each kind of pipe has its own collectors */
};

/* Returns the part that warp slot `w` uses. */
static inline uint32_t operands_part(const struct sm_operands *o, uint32_t w) {
    return o->n_parts > 1 ? warp_scheduler(w, o->n_parts, o->skewed) : 0;
}

/* Returns the cycle from which the issue latch of a pipe has room. */
static inline uint64_t operands_take(const struct exec_part *e, uint32_t pipe) {
    return pipe == PIPE_MEM ? e->takes[pipe] : max64(e->takes[pipe], e->held);
}
/* The issue latch of a pipe of a modern core has no room before cycle `from`. */
static inline void operands_full(struct exec_part *e, uint32_t pipe, uint64_t from) {
    e->takes[pipe] = max64(e->takes[pipe], from);
    e->takes_most = max64(e->takes_most, from);
}

/* Reserves the register reads of an instruction from cycle `from` on. Returns the cycle after the last read. A
 * variant of the instruction (struct sm_form) may keep some registers in its own register file. */
static inline uint64_t operands_read(struct sm_operands *o, uint32_t part, uint32_t w, const struct timed_inst *ti,
                                     const struct sm_form *form, uint64_t from) {
    uint64_t ready = regfile_read(&o->part[part].regfile, &ti->banks, w, from);
    if (__builtin_expect(!form || !form->file, 1))
        return ready;
    uint64_t other = regfile_read(&form->file[part], &form->other, w, from);
    return other > ready ? other : ready;
}
/* Reserves the register writes. Returns the cycle of the last write. */
static inline uint64_t operands_write(struct sm_operands *o, uint32_t part, uint32_t w, const struct timed_inst *ti,
                                      const struct sm_form *form, uint64_t from, uint64_t now) {
    uint64_t written = regfile_write(&o->part[part].regfile, &ti->banks, w, from, now);
    if (__builtin_expect(!form || !form->file, 1))
        return written;
    uint64_t other = regfile_write(&form->file[part], &form->other, w, from, now);
    return other > written ? other : written;
}
/* Reserves the result bus and the register writes of a result that is ready at `from`. Returns the cycle of the last
 * write. Sets *on_bus to the cycle in which the result uses the bus. */
static inline __attribute__((always_inline)) uint64_t operands_deliver(struct sm_operands *o, uint32_t part, uint32_t w,
                                                                       const struct timed_inst *ti,
                                                                       const struct sm_form *form, uint64_t from,
                                                                       uint64_t now, uint64_t *on_bus) {
    if (__builtin_expect(!form || !form->file, 1))
        return regfile_deliver(&o->part[part].regfile, &ti->banks, w, from, now, on_bus);
    *on_bus = regfile_result(form->other.n_writes ? &form->file[part] : &o->part[part].regfile, from, now);
    return operands_write(o, part, w, ti, form, *on_bus, now);
}

/* Requires zeroed memory. Returns false if there is not enough memory. */
bool operands_init(struct sm_operands *o, const struct config *cfg);
void operands_free(struct sm_operands *o);
/* Returns the collector of a kind of pipe. Only joint issue uses collectors of a modern core, so their first use
 * initialises them. */
struct collector *operands_collector(struct sm_operands *o, const struct config *cfg, uint32_t part, uint32_t pipe);
#endif
