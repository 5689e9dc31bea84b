#ifndef CUDA_CORE_LAUNCH_H
#define CUDA_CORE_LAUNCH_H
/* Kernels and launches. */
#include "core_graph.h"
#include "core_module.h"

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
/* Checks a launch and runs it, or makes a node of a captured stream. A fault is the result of the calls that
 * follow, as on a GPU. */
enum cuda_error cuda_launch(struct cuda_launch l, struct cuda_stream *s);
/* The same for the kernel that `what` names. */
enum cuda_error cuda_launch_kernel(const void *what, struct cuda_launch l, struct cuda_stream *s);
/* Reads the attributes of a launch: *cooperative, or CUDA_ErrorNotSupported for clusters, with a message that names
 * the caller. The other attributes are hints. */
enum cuda_error cuda_launch_attributes(const char *who, const struct cuda_launch_attribute *a, unsigned n,
                                       bool *cooperative);

/* cudaFuncAttributes, whose first fields are alike in 11, 12 and 13. */
struct cuda_function_attributes {
    size_t shared, constant, local;
    int most_threads, registers, ptx_version, binary_version, cache_mode, most_dynamic_shared, carveout;
};
/* The attributes of a kernel. */
enum cuda_error cuda_kernel_attributes(struct cuda_function_attributes *out, const void *stub);
/* Sets an attribute of a kernel; `which` is a value of cudaFuncAttribute. */
enum cuda_error cuda_kernel_set_attribute(const void *stub, int which, int value);
enum cuda_error cuda_kernel_name(const char **out, const void *stub);
/* Offset and size of a parameter; `bytes` may be NULL. */
enum cuda_error cuda_kernel_parameter(const void *stub, size_t index, size_t *offset, size_t *bytes);
/* The number of blocks that fit on an SM at once. */
enum cuda_error cuda_occupancy(int *out, const void *stub, int threads, size_t shared);
/* Bytes of dynamic shared memory for each of `blocks` blocks of an SM. */
enum cuda_error cuda_occupancy_shared(size_t *out, const void *stub, int blocks);
/* The largest block size, at most `limit` (0: any), that fills an SM with the most threads, and a grid that fills the
 * machine. `shared_of`: bytes for a block size; NULL: always `shared`. */
enum cuda_error cuda_occupancy_best(int *grid, int *block, const void *f, size_t (*shared_of)(int), size_t shared,
                                    int limit);
#endif
