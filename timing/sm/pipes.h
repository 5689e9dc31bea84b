#ifndef TIMING_PIPES_H
#define TIMING_PIPES_H
/* The execution pipes of one kind. Each takes an instruction every `initiation` cycles of that instruction. */
#include "timing/config/config.h"

enum { MAX_PIPE_UNITS = 16 };

struct pipes {
    uint32_t units;
    uint64_t unit_free[MAX_PIPE_UNITS]; /* cycle at which the pipe takes its next instruction */
    struct {
        uint64_t instructions, busy, waits; /* count; cycles of all units; cycles that instructions waited for one */
    } n;
};

void pipes_init(struct pipes *p, uint32_t units);
/* First cycle >= from at which a pipe takes an instruction. */
uint64_t pipes_free(const struct pipes *p, uint64_t from);
/* An instruction enters at `cycle` and blocks its pipe for `initiation` cycles. Requires pipes_free(cycle) == cycle. */
void pipes_enter(struct pipes *p, uint64_t cycle, uint32_t initiation);
#endif
