#ifndef TEST_TIMING_ROW_KERNEL_H
#define TEST_TIMING_ROW_KERNEL_H
/* A kernel with one entry (row) of the semantics table at a chosen place, and the outcome of its launch. */
#include "host/heddle.h"
#include "isa/decode.h"

enum { ROW_NAME = 128, ROW_TEXT = 8192, ROW_THREADS = 64, ROW_CTAS = 3, ROW_STEP = 64 };
enum { ROW_BYTES = ROW_STEP * ROW_THREADS * ROW_CTAS };

/* The place of the tested instruction (the row) in the kernel. Code before the row sets each register to a small
 * number. The places ALONE and FIRST have no such code, and registers are zero there. */
enum row_place {
    ROW_ALONE,         /* nothing else */
    ROW_FIRST,         /* a store follows */
    ROW_LAST,          /* the kernel ends after the row, without an exit */
    ROW_TWICE,         /* the row twice in succession, and then the end without an exit */
    ROW_LOOP,          /* last in a loop of three iterations */
    ROW_ONE_LANE,      /* last, executed by one thread of each warp */
    ROW_NO_LANE,       /* last, under a guard that is false for all lanes */
    ROW_NO_LANE_ALONE, /* under a guard that is false for all lanes, with nothing else in the kernel */
    ROW_NO_LANE_FIRST, /* under a guard that is false for all lanes, followed by a store */
    ROW_NO_LANE_LOOP,  /* under a guard that is false for all lanes, in a loop of three iterations */
    ROW_ONE_WARP,      /* last, executed by all lanes of one warp and no lanes of the others */
    ROW_ONE_SIDE,      /* last on one side of a branch; the other side exits */
    ROW_BOTH_SIDES,    /* last on both sides of a branch */
    N_ROW_PLACES
};
extern const char *const row_place_names[N_ROW_PLACES];

struct row_end {
    enum heddle_status status;
    char error[512];
    unsigned char data[ROW_BYTES];
};

/* Writes the name of a row's instruction for a state space: "ld.u32" becomes "ld.shared.u32". Returns false if there
 * is no such instruction. */
bool row_spell(const struct isa_row *row, const char *space, char out[ROW_NAME], struct decoded *d);
/* Returns true for rows that only lowering creates, for rows removed from PTX, and for loads and stores of matrices.
 * Matrix accesses need one address for all lanes, but here each lane has its own (isa/exec/exec_matrix.c). */
bool row_left_out(const struct isa_row *row);
/* Returns true if the effect of the row depends on which lanes execute it together. In divergent code such a row has
 * different effects in different models. */
bool row_meets_others(const struct isa_row *row);
/* Writes the kernel "k" with the row. */
void row_kernel(char out[ROW_TEXT], const char *opcode, const struct decoded *d, enum row_place place);
/* Launches the kernel up to `launches` times on ROW_CTAS CTAs, until a launch fails. */
void row_run(struct heddle *h, const char *text, const struct decoded *d, int launches, struct row_end *o);
#endif
