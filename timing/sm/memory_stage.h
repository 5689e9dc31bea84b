#ifndef TIMING_SM_MEMORY_STAGE_H
#define TIMING_SM_MEMORY_STAGE_H
/* Memory instructions between issue and the load/store unit: issue latch, collector unit, dispatch latch. These steps
 * are simulated cycle by cycle, because the unit's back-pressure is not known in advance. Other pipes reserve their
 * steps at issue. */
#include "isa/machine/held.h"
#include "timing/config/table_size.h"
#include "timing/mem/lsu.h"

struct sm;

enum mem_stage { MEM_LATCH, MEM_COLLECT, MEM_OUT };
enum { MEM_STAGES = 4 }; /* a power of two */
enum { MEM_QUEUE = TABLE_SIZE(96, 2) };

struct mem_step {
    /* cycle from which the instruction can move on if the next stage has room; UINT64_MAX: unknown until an event */
    uint64_t at;
    uint64_t what; /* (index into sm_memory.inst) * MEM_STAGES + stage of the instruction */
};

/* The memory instructions of one part of the SM, in order of issue. */
struct mem_queue {
    uint32_t n, n_latch, n_collect, n_out;
    uint32_t collectors;
    /* number of instructions that fit in the issue latch; for a modern core, in the buffer of a sub-core */
    uint32_t room;
    uint32_t latch; /* cycles from issue to the next stage */
    uint64_t hold;  /* of a modern core: cycle before which nothing can issue; else 0 */
    struct mem_step step[MEM_QUEUE];
};

/* How an instruction leaves the memory stage: it goes to the load/store unit; or it ends there, because no lane
 * executes it; or it first sends requests to other SMs of the cluster (remote.h). */
enum { MEM_ACCESS, MEM_SKIP, MEM_REMOTE };

struct mem_inst {
    uint32_t inflight;
    bool ordered;       /* true: the instruction is performed later, so its addresses are not known yet */
    uint8_t skip;       /* how the instruction leaves the memory stage: MEM_ACCESS, MEM_SKIP or MEM_REMOTE */
    lanemask_t remote;  /* with MEM_REMOTE: lanes whose requests have not been sent */
    uint64_t collected; /* if ordered: cycle at which its operands have been read; UINT64_MAX if unknown */
    struct lsu_access access;
    uint64_t addr[MAX_WARP_LANES];
};

/* State of the memory stage: the memory instructions, and the launch's settings for local memory. */
struct sm_memory {
    uint64_t due;          /* next cycle at which a memory instruction may move on */
    bool lsu_refused;      /* true if the load/store unit had no room for a memory instruction */
    bool reserved;         /* true if the next place of the load/store unit is for the tensor memory accelerator */
    bool unlock;           /* true if the issued access unlocks the lines that it reads: sm_unit_ops.take */
    bool hold_stores;      /* true if a CTA stays until its stores are acknowledged */
    uint32_t accepted;     /* accesses of warps that the load/store unit has accepted, modulo 2^32 */
    struct mem_inst *inst; /* MEM_QUEUE */
    uint32_t n_free;
    uint8_t free[MEM_QUEUE];
    uint64_t local_stride;   /* bytes from one word of a warp's local memory to the next word */
    struct held_stores held; /* plain stores since the last edge, which other SMs do not see yet */
};

/* Events of a cycle. */
struct mem_turn {
    bool lsu_used;
    bool ended; /* an instruction ended without using the load/store unit */
};

bool memory_init(struct sm_memory *m);
void memory_free(struct sm_memory *m);
/* Accepts an issued memory instruction of warp slot `w`; sm->fx has its addresses unless it is ordered. Returns its
 * index in sm_memory.inst. */
uint32_t sm_mem_accept(struct sm *sm, uint32_t part, uint32_t w, uint32_t pc, uint32_t inflight, bool ordered,
                       uint64_t now);
/* Continues an ordered instruction that has been performed. sm->fx has its addresses. */
void sm_mem_performed(struct sm *sm, uint32_t mem, uint64_t now);
/* Runs the memory stage for one cycle. Returns true if an instruction ended without an access. */
bool sm_mem_tick(struct sm *sm, uint64_t now);
struct exec_part;
/* For modern_memory.c. sm_mem_dispatch() sends an instruction to the load/store unit, or returns false if the unit has
 * no room. sm_mem_left() frees instruction `mem`, which has left the sub-core `e`. */
bool sm_mem_dispatch(struct sm *sm, struct mem_inst *m, uint64_t now, struct mem_turn *turn);
void sm_mem_left(struct sm *sm, struct exec_part *e, uint32_t mem, uint64_t now);
#endif
