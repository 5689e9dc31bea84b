#ifndef HOST_DEVICE_LAUNCH_H
#define HOST_DEVICE_LAUNCH_H
/* Kernels that kernels launch (CUDA's dynamic parallelism). They run after the grid that launched them, one after
 * another; a grid ends for its stream when all of them have ended. Only files of host/ include this header. */
#include "context.h"

enum { DEVICE_LAUNCH_DEPTH = 24 }; /* levels of kernels that launch kernels, as in CUDA */

/* A kernel that a grid launched. */
struct device_launch {
    const struct program *program;
    struct heddle_dim grid, block;
    uint32_t dynamic_shared;
    unsigned char *params; /* program->param_bytes bytes */
};
struct device_launches {
    struct device_launch *list;
    uint32_t n;
};

/* A launch by the host, whose parameters are packed. */
struct packed_launch {
    const char *kernel; /* PTX name */
    struct heddle_dim grid, block;
    uint32_t dynamic_shared, param_bytes;
    unsigned char *params;
    uint64_t workspace; /* workspace of a cooperative grid; 0 for other grids */
    uint64_t first_cta; /* launch.first_cta */
    uint32_t number;    /* %gridid */
};
/* Runs a launch with packed parameters, as heddle_launch() does (host/launch_kernel.c). */
enum heddle_status launch_packed(struct heddle *h, struct heddle_module *m, const struct packed_launch *c);

/* Takes the launches that the last grid of a kernel of `m` left, in the order in which they run: the launches of CTA 0
 * in their order, then of CTA 1 and so on, then launches into the tail stream. Returns HEDDLE_OK, also if there are
 * none, or another status with a message that begins with `parent`, the name of the kernel. Call
 * device_launches_free() in every case. */
enum heddle_status device_launches_take(struct heddle *h, struct heddle_module *m, const char *parent,
                                        struct device_launches *out);
/* Empties the queue and frees its records, after a grid that failed. */
void device_launches_drop(struct heddle *h, const struct heddle_module *m);
void device_launches_free(struct device_launches *d);
#endif
