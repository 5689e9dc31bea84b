#ifndef MECHANISMS_PIPELINE_H
#define MECHANISMS_PIPELINE_H
/* Software pipelining of loops of one block, in three parts: dependences (pipeline_graph.c), the schedule
 * (pipeline_schedule.c), and the code (pipeline_emit.c); pipeline.c is the pass. Internal to this folder. The terms are
 * defined in B. R. Rau, "Iterative modulo scheduling: an algorithm for software pipelining loops", MICRO 1994: an
 * iteration of the loop begins every II cycles (the initiation interval). An iteration is divided into stages of II
 * cycles, and the kernel executes a different stage of each of several iterations.
 *
 * One instruction issues per cycle. The branch is the last instruction of its iteration's first stage. So the pipelined
 * loop executes no instruction speculatively. Each lane leaves the loop independently, so lanes may have different
 * iteration counts. */
#include "frontend/analysis/defuse.h"
#include "frontend/passes/edit.h"

enum {
    PIPE_MOST_OPS = 128, /* maximum number of instructions of a loop */
    /* maximum number of iterations in the unrolled kernel; unrolling gives separate registers to values that live
     * longer than II cycles */
    PIPE_MOST_ROUNDS = 4,
    PIPE_MOST_STAGES = 8,
};
#define NO_VALUE UINT32_MAX

/* A value: the result of an instruction in each iteration, which other instructions read in that iteration or in the
 * next one. A value lives from a write by all lanes to the next such write, and includes the guarded writes between
 * them. */
struct pipe_value {
    uint32_t vreg;
    uint32_t op;     /* the instruction that begins the value */
    uint32_t words;  /* number of 32-bit registers that the value occupies */
    bool last;       /* the register holds this value when the iteration ends */
    bool live_out;   /* the value is read after the loop, too */
    bool is_guarded; /* the value includes guarded writes */
    uint32_t copies; /* number of registers that consecutive iterations use in turn; set by the schedule */
    uint32_t reg[PIPE_MOST_ROUNDS]; /* the registers: iteration i uses reg[i % copies] */
};

/* An instruction's access to a value. A register without a value keeps its name in all iterations. */
struct pipe_ref {
    uint32_t op, vreg, value;
    uint32_t distance; /* 0: the value of this iteration; 1: of the previous one */
    bool write;
};

/* A dependence: instruction `to` of iteration i + distance issues at least `latency` cycles after instruction `from` of
 * iteration i. */
struct pipe_edge {
    uint32_t from, to, distance;
    unsigned latency;
    bool of_load; /* the latency is the assumed load latency */
};

struct pipe_graph {
    struct ir *ir;
    const struct defuse *defuse;
    /* block of the loop; its instructions are [first, first + n), and the last one is the branch */
    uint32_t block, first, n;
    struct pipe_value *values;
    uint32_t n_values, cap_values;
    struct pipe_ref *refs; /* accesses in program order; pipe_ref.op is the instruction */
    uint32_t n_refs, cap_refs;
    struct pipe_edge *edges;
    uint32_t n_edges, cap_edges;
};

/* Returns why the loop of this block cannot be pipelined; NULL: it can. `*inst`: the instruction that prevents it. */
const char *pipe_refuse(const struct ir *ir, uint32_t block, uint32_t *inst);
/* Returns the dependence graph. Requires that pipe_refuse() returned NULL. */
struct pipe_graph pipe_graph_of(struct ir *ir, const struct defuse *d, uint32_t block);
/* Returns the value that instruction `op` reads or writes in register `vreg`; NULL: none. */
const struct pipe_ref *pipe_ref_of(const struct pipe_graph *g, uint32_t op, uint32_t vreg, bool write);
/* Returns the row of the instruction that copies a register of this class, or NULL if no instruction does. A register
 * of such a class keeps its name in all iterations. */
const struct isa_row *pipe_move_row(enum reg_class cls);

struct pipe_wish {
    unsigned load;   /* assumed load latency in cycles */
    unsigned stages; /* most stages */
    /* maximum number of 32-bit registers that the pipelined loop may use in addition to those of the unpipelined
     * loop */
    uint32_t registers;
};

struct pipe_schedule {
    uint32_t ii, stages, rounds; /* rounds: number of iterations in the unrolled kernel */
    uint32_t res_mii, rec_mii;   /* lower bounds of II: the bound by issue slots, and the bound by recurrences */
    uint32_t load;               /* load latency in cycles that the schedule assumes */
    uint32_t *time;              /* cycle of each instruction */
    uint32_t *copies;            /* registers of each value */
    int32_t words;               /* number of 32-bit registers in addition to those of the unpipelined loop */
    double cycles, plain; /* cycles per iteration with in-order issue: for the kernel, and for the unpipelined loop */
};

/* Finds the best schedule within the limits and sets g->values[].copies. Returns NULL on success, else the reason why
 * there is no schedule; `s` then has the bounds found so far. */
const char *pipe_schedule(struct pipe_graph *g, const struct pipe_wish *wish, struct pipe_schedule *s);

/* Replaces the loop by its pipelined form. */
void pipe_emit(struct edit *e, struct pipe_graph *g, const struct pipe_schedule *s);
#endif
