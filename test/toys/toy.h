#ifndef TEST_TOY_H
#define TEST_TOY_H
/* Toy programs for tests of reconvergence models: steps and branches whose outcome for a lane does not depend on
 * other lanes. */
#include "test/bases.h"
#include "test/test.h"

enum { MAX_CODE = 64 };

enum toy_kind { STEP, BRANCH, EXIT, BSSY, BSYNC };
struct toy_inst {
    enum toy_kind kind;
    uint32_t target, rpc, bar;
    /* of a backward branch: the maximum number of times that a lane takes it; unused for a forward branch */
    uint32_t trips;
    lanemask_t takers; /* if not 0, the lanes that always take the branch */
};
struct toy {
    struct toy_inst code[MAX_CODE];
    uint32_t n, seed;
    /* lanes that branch to an EXIT exit at the branch, before the other lanes move: leave() with PC_NOWHERE */
    bool exits_early;
};

/* Counts and traces of a run under a model. */
struct toy_run {
    uint64_t trace[WARP_LANES];
    uint32_t visits[MAX_CODE][WARP_LANES];
    uint64_t issued, barriers;
    uint64_t counts[RECONV_COUNTERS];
    int max_depth, max_paths; /* max_paths: the most paths that paths() returned at once */
    bool finished;
};

uint32_t toy_hash(uint32_t a, uint32_t b, uint32_t c);
/* Returns whether `lane` takes the branch at `pc` on visit number `visit`. */
bool toy_takes(const struct toy *t, uint32_t pc, uint32_t lane, uint32_t visit);
/* Returns a random program. About one in four instructions is a branch to a random instruction. A backward branch is
 * taken only a few times. */
struct toy toy_random(uint32_t seed);
/* Returns a hash of the PCs that a lane visits if it runs alone. */
uint64_t toy_walk_alone(const struct toy *t, uint32_t lane);
/* Sets the rpc of each instruction to its immediate post-dominator. */
void toy_find_rpcs(struct toy *t);
/* Returns the number of instructions in the basic block that begins at `pc`. */
uint32_t toy_block_length(const struct toy *t, uint32_t pc);
/* Calls inform() of a model that has started to run the program, if the model has it. The facts of the last program
 * stay valid until the next call. `counts` is the argument of the model. */
void toy_inform(const struct toy *t, const struct reconv_ops *ops, void *st, uint64_t *counts);
/* Executes an instruction of path `p` and reports it to the model. The path may have no lanes. */
void toy_issue(const struct toy *t, const struct reconv_ops *ops, void *st, struct path p, struct toy_run *r);
/* Returns the shared state of a CTA whose only warp has the state `st` and has not started; NULL if the model has no
 * such state. The caller frees it. */
struct reconv_cta *toy_cta(const struct reconv_ops *ops, const struct reconv_cfg *cfg, void *st);
/* Calls meet() if the model has asked for it, as a driver does after each step. */
void toy_meet(const struct reconv_ops *ops, struct reconv_cta *cta);
/* Runs a program to its end and schedules its paths one after another. Checks the model's invariants at every step. */
void toy_run(const struct toy *t, const struct reconv_ops *ops, const struct reconv_cfg *cfg, struct toy_run *r);
#endif
