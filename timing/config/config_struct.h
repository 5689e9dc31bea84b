#ifndef TIMING_CONFIG_STRUCT_H
#define TIMING_CONFIG_STRUCT_H
/* The machine's description: the struct of each unit, made from the rows of its options (options.def). */
#include "option_groups.h"

enum {
    CFG_MAX_WARPS = 128, /* of sm.warps */
    CFG_MAX_SLOTS = 512, /* warps of an SM after sm.warp_size has changed their number */
    CFG_MIN_LANES = 4,
    CFG_LANES = 32, /* lanes of the warps in which sm.warps and initiation intervals are given */
    CFG_MAX_LANES = 64,
    CFG_NAME_BYTES = 48
};

/* Execution pipes: pipes.def. */
enum pipe_id {
#define PIPE(id, name, text, units, collectors, in, out, instead) PIPE_##id,
#include "pipes.def"
#undef PIPE
    N_PIPES
};
struct pipe_row {
    const char *name; /* name in the pipe's options and statistic, such as "sp" */
    /* enum pipe_id: the pipe that executes this pipe's instructions if this pipe has no units. If it is this pipe
     * itself, this pipe must have units. */
    uint8_t instead;
};
extern const struct pipe_row pipe_rows[N_PIPES];

/* clang-format off */
#include "isa/option_fields.def"
/* One kind of pipe with its operand collectors, for the whole SM (divided among the schedulers with sm.subcores). */
struct pipe_cfg {
    PIPE_FIELDS
};
struct latency_cfg {
    uint32_t latency, initiation; /* cycles */
};
/* A cache. It has the options listed for it in caches.def and memory.def; its other fields are 0. */
struct cache_cfg {
    CACHE_FIELDS
};
struct stride_cfg {
    STRIDE_FIELDS
};

struct config {
#define OPT_GROUP(type)              struct type {
#define OPT_END                      } IN;
#define OPT_INSTANCE(type, elements) struct type IN elements;
#define OPT_MEMBER(declaration)      declaration;
#include "option_parts.def"
#include "options.def"
};
/* clang-format on */

/* Returns the number of warps that an SM holds. The option sm.warps counts warps of 32 lanes. An SM holds more warps if
 * they are narrower (eight warps of 4 lanes instead of each warp of 32), and half as many if they have 64 lanes. */
static inline uint32_t sm_warp_slots(const struct sm_cfg *s) { return s->warps * CFG_LANES / s->warp_size; }

/* Returns the scheduler that warp slot `w` belongs to. */
static inline uint32_t warp_scheduler(uint32_t w, uint32_t schedulers, bool skewed) {
    return (w + (skewed ? w / schedulers : 0)) % schedulers;
}
static inline uint32_t sched_of(const struct sm_cfg *s, uint32_t w) {
    return warp_scheduler(w, s->schedulers, s->skewed);
}

/* Returns the cycles for which an instruction occupies a pipe. `initiation` is this time for a warp of 32 lanes. */
static inline uint32_t sm_pipe_cycles(const struct sm_cfg *s, uint32_t initiation) {
    return (initiation * s->warp_size + CFG_LANES - 1) / CFG_LANES;
}

static inline bool pipe_exists(const struct sm_cfg *s, int pipe) { return pipe == PIPE_MEM || s->pipe[pipe].units; }
#endif
