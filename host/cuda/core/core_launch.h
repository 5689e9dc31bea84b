#ifndef CUDA_CORE_LAUNCH_H
#define CUDA_CORE_LAUNCH_H
/* Kernels and launches. */
#include "core_graph.h"

/* struct cudaLaunchAttribute, CUlaunchAttribute. */
struct cuda_launch_attribute {
    unsigned id;
    char pad[4];
    union {
        char bytes[64];
        int cooperative;
        struct cuda_dim cluster;
    } value;
};
/* Reads the attributes of a launch: *cooperative, or CUDA_ErrorNotSupported for clusters, with a message after the name
 * of the caller. The other attributes are hints. */
enum cuda_error cuda_launch_attributes(const char *who, const struct cuda_launch_attribute *a, unsigned n,
                                       bool *cooperative);
#endif
