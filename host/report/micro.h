#ifndef HOST_REPORT_MICRO_H
#define HOST_REPORT_MICRO_H
/* Micro-benchmarks: quantities of a machine that papers measure on GPUs, measured on a simulated machine. */
#include "host/heddle.h"

enum micro_kind {
    MICRO_DEPENDENT,   /* cycles from an instruction to the next one of the same warp that needs its result */
    MICRO_INDEPENDENT, /* cycles from an instruction to the next one of the same warp that does not need its result */
    MICRO_RATE,        /* results that an SM full of warps computes in a cycle */
    MICRO_STEP,        /* cycles of one step of a kernel of kernels/micro.ptx, which one warp runs */
    MICRO_COLD,        /* cycles of a step through lines that no cache has */
    MICRO_L2,          /* gigabytes per second that all SMs read from the L2 */
    MICRO_DRAM,        /* gigabytes per second that all SMs read from DRAM */
};
struct micro {
    const char *name, *title;
    enum micro_kind kind;
    const char *code; /* an instruction, with # for the number of its register; or a kernel of kernels/micro.ptx */
    uint32_t number;  /* MICRO_RATE: results per lane; MICRO_STEP: parameter `stride`, and lanes = 32 if it is not 0 */
    uint32_t list;    /* MICRO_STEP: size of the linked list in bytes, one element every 256 bytes; 0: no list */
};

/* All quantities; `n_micros` is their number. */
extern const struct micro micros[];
extern const int n_micros;
const struct micro *micro_find(const char *name);
const char *micro_unit(const struct micro *m);
/* Measures the quantity on a new context with options `o`. Returns NAN with the reason in `err` on failure. */
double micro_measure(const struct micro *m, const struct heddle_options *o, char *err, size_t err_size);
#endif
