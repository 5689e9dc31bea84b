#ifndef DAWS_PREDICT_H
#define DAWS_PREDICT_H
/* Predicts how many lines of the L1 a warp needs in a loop. The table has the loads in loops. A sample, the accesses of
 * one warp, decides the kind of each load; it keeps the lines that the warp accessed last. */
#include "isa/arith.h"
#include <stdbool.h>
#include <stdint.h>

enum { DAWS_LOADS = 64 }; /* loads of the table; further loads are not predicted */

enum daws_kind {
    DAWS_ONCE,      /* the warp hardly uses a line again, or another load of the loop brings the lines: 0 lines */
    DAWS_CONVERGED, /* one line, because an instruction of the load accesses at most two lines */
    DAWS_DIVERGED,  /* one line per active lane */
};

struct daws_table {
    struct daws_load {
        uint32_t pc, loop;
        uint32_t count, lines; /* number of instructions; number of their line accesses */
        /* again: number of accesses that find their line in the sample; others: number of these accesses whose line
         * another load brought */
        uint32_t again, others;
        enum daws_kind kind;
    } load[DAWS_LOADS];
    uint32_t n;
    /* the sample */
    uint32_t loop, n_lines, most_lines;
    uint64_t clock;
    struct daws_line {
        uint64_t line, used; /* line number; time of its last use */
        uint32_t pc;         /* load that brought the line */
    } * line;
};

/* Makes an empty table. A sample keeps up to `lines` lines. Returns false when memory runs out. */
bool daws_init(struct daws_table *t, uint32_t lines);
void daws_free(struct daws_table *t);
/* Starts a sample in a loop. Older samples of the loop count half. */
void daws_sample_begin(struct daws_table *t, uint32_t loop);
/* Adds a line access of the load at `pc`. `leads`: it is the first line of the instruction. Returns true if a
 * prediction may have changed. */
bool daws_sample(struct daws_table *t, uint32_t pc, uint64_t line, bool leads);
/* Returns the predicted number of lines of a warp with `lanes` active lanes in the loop. */
uint32_t daws_footprint(const struct daws_table *t, uint32_t loop, uint32_t lanes);
#endif
