#ifndef ISA_HOST_POLL_H
#define ISA_HOST_POLL_H
/* Finds warps that poll global memory: their strong loads and atomics find the same value at the same address again and
 * again. A thread of the host, or another launch, may have to run before such a warp can continue. */
#include "isa/exec/exec.h"

/* The loads that a warp repeats. All zero at the start. */
enum { POLLED_PLACES = 4 };
struct host_polls {
    struct {
        uint64_t address, value;
        uint32_t pc, reads; /* `reads`: number of reads of this value at this PC */
    } place[POLLED_PLACES];
    uint32_t next; /* the place that is replaced next */
};

/* What a warp polls. Memory of the device may also be changed by the launch itself, so it is the weaker sign. */
enum poll { POLL_NONE, POLL_DEVICE, POLL_HOST };

/* Notes that `w` has executed `in` with effects `fx`. Returns what the warp polls for the 16th, the 32nd and so on of
 * equal reads, else POLL_NONE. Memory of the host has the same address for the host and for kernels. */
enum poll host_polls_note(struct host_polls *p, const struct warp *w, const struct inst *in, const struct effects *fx);
#endif
