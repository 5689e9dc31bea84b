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
/* Checks a launch, and runs it or adds it to a captured stream as a node. As on a GPU, later calls return the error
 * of a fault. */
enum cuda_error cuda_launch(struct cuda_launch l, struct cuda_stream *s);
/* Launches the kernel that `what` names, as cuda_launch() does. */
enum cuda_error cuda_launch_kernel(const void *what, struct cuda_launch l, struct cuda_stream *s);
/* Reads the attributes of a launch: whether it is cooperative, and the blocks of a cluster (all 0: not given). The
 * other attributes are hints without effect. */
void cuda_launch_attributes(const struct cuda_launch_attribute *a, unsigned n, bool *cooperative,
                            struct cuda_dim *cluster);
/* Sets the cluster size for the next launch of the kernel, or for the next query of its occupancy: the size `given`, or
 * else the size in the kernel's attributes, or else the size that the kernel declares. */
void cuda_set_clusters(const struct cuda_kernel *k, struct cuda_dim given);
/* Returns the error of a launch that heddle.h refused: CUDA_ErrorInvalidClusterSize if its clusters are wrong. */
enum cuda_error cuda_invalid_launch(void);

/* cudaFuncAttributes. Its first fields are identical in CUDA 11, 12 and 13. */
struct cuda_function_attributes {
    size_t shared, constant, local;
    int most_threads, registers, ptx_version, binary_version, cache_mode, most_dynamic_shared, carveout;
};
/* The attributes of a kernel that concern clusters, from cudaFuncAttributeClusterDimMustBeSet on. */
struct cuda_cluster_attributes {
    int must_be_set, width, height, depth, large;
};
enum cuda_error cuda_kernel_clusters(struct cuda_cluster_attributes *out, const void *stub);
/* Returns the attributes of a kernel in *out. */
enum cuda_error cuda_kernel_attributes(struct cuda_function_attributes *out, const void *stub);
/* Sets an attribute of a kernel; `which` is a value of cudaFuncAttribute. */
enum cuda_error cuda_kernel_set_attribute(const void *stub, int which, int value);
enum cuda_error cuda_kernel_name(const char **out, const void *stub);
/* Returns the offset and size of a parameter. `bytes` may be NULL. */
enum cuda_error cuda_kernel_parameter(const void *stub, size_t index, size_t *offset, size_t *bytes);
/* Returns the number of blocks that fit on an SM at once. */
enum cuda_error cuda_occupancy(int *out, const void *stub, int threads, size_t shared);
/* Returns in *out how many clusters of the launch `l` fit on the machine at once. With `size`, returns instead the
 * number of blocks of the largest possible cluster of the launch. */
enum cuda_error cuda_occupancy_clusters(int *out, const void *stub, struct cuda_launch l, bool size);
/* Returns the dynamic shared memory, in bytes, that each block gets when `blocks` blocks share an SM. */
enum cuda_error cuda_occupancy_shared(size_t *out, const void *stub, int blocks);
/* Finds the block size, at most `limit` (0 means no limit), with which the most threads fit on an SM, and the grid
 * size that fills the machine. `shared_of` returns the shared memory in bytes for a block size. If it is NULL, every
 * block size uses `shared` bytes. */
enum cuda_error cuda_occupancy_best(int *grid, int *block, const void *f, size_t (*shared_of)(int), size_t shared,
                                    int limit);
#endif
