#ifndef TEST_TOY_H
#define TEST_TOY_H
/* Toy programs for reconvergence models: steps and branches whose outcome is known for each lane alone. */
#include "test/bases.h"
#include "test/test.h"

enum { MAX_CODE = 64 };

enum toy_kind { STEP, BRANCH, EXIT, BSSY, BSYNC };
struct toy_inst {
    enum toy_kind kind;
    uint32_t target, rpc, bar;
    uint32_t trips;    /* backward: taken so many times by a lane at most; forward: taken by lanes by hash */
    lanemask_t takers; /* when not 0: who takes it, always */
};
struct toy {
    struct toy_inst code[MAX_CODE];
    uint32_t n, seed;
};

/* What a model made of a program. */
struct toy_run {
    uint64_t trace[WARP_LANES];
    uint32_t visits[MAX_CODE][WARP_LANES];
    uint64_t issued, barriers;
    int max_depth;
    bool finished;
};

uint32_t toy_hash(uint32_t a, uint32_t b, uint32_t c);
/* Does `lane` take the branch at `pc` the `visit`-th time it is there? */
bool toy_takes(const struct toy *t, uint32_t pc, uint32_t lane, uint32_t visit);
/* A number made of all PCs that the lane visits by itself. */
uint64_t toy_walk_alone(const struct toy *t, uint32_t lane);
/* Fills in immediate post-dominators. */
void toy_find_rpcs(struct toy *t);
/* Instructions of the basic block that begins at `pc`. */
uint32_t toy_block_length(const struct toy *t, uint32_t pc);
/* The path `p` executes one instruction, and the model is told. */
void toy_issue(const struct toy *t, const struct reconv_ops *ops, void *st, struct path p, struct toy_run *r);
/* Runs to the end, taking schedulable paths in turn, and checks what must hold at every step. */
void toy_run(const struct toy *t, const struct reconv_ops *ops, const struct reconv_cfg *cfg, struct toy_run *r);
#endif
