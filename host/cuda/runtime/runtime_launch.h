#ifndef CUDA_LAUNCH_H
#define CUDA_LAUNCH_H
/* What launches of the runtime (launch.c) and of the driver (driver_launch.c) have in common. */
#include "host/cuda/core/core_graph_parts.h"
#include "host/cuda/core/core_launch.h"

/* struct cudaFuncAttributes. Up to here alike in 11, 12 and 13; what later ones have behind it is left as it is. */
struct cuda_function_attributes {
    size_t shared, constant, local;
    int most_threads, registers, ptx_version, binary_version, cache_mode, most_dynamic_shared, carveout;
};
enum cuda_error cudaFuncGetAttributes(struct cuda_function_attributes *out, const void *stub);
enum cuda_error cudaFuncSetAttribute(const void *stub, int which, int value);
enum cuda_error cudaFuncGetName(const char **out, const void *stub);
enum cuda_error cudaFuncGetParamInfo(const void *stub, size_t index, size_t *offset, size_t *bytes);

enum cuda_error cudaLaunchKernel(const void *stub, struct cuda_dim grid, struct cuda_dim block, void **args,
                                 size_t shared, struct cuda_stream *s);
enum cuda_error cudaLaunchCooperativeKernel(const void *stub, struct cuda_dim grid, struct cuda_dim block, void **args,
                                            size_t shared, struct cuda_stream *s);
enum cuda_error cudaOccupancyMaxActiveBlocksPerMultiprocessor(int *out, const void *stub, int threads, size_t shared);
enum cuda_error cudaOccupancyAvailableDynamicSMemPerBlock(size_t *out, const void *stub, int blocks, int threads);
#endif
