#ifndef CUDA_CORE_VIRTUAL_H
#define CUDA_CORE_VIRTUAL_H
/* Virtual memory: address ranges, physical memory, and mappings of physical memory into ranges. */
#include "core_base.h"

/* CUmemLocation, cudaMemLocation; type 1 is the device */
struct cuda_location {
    int type, id;
};
/* CUmemAllocationProp */
struct cuda_physical_properties {
    int type, handle_types;
    struct cuda_location location;
    void *windows;
    unsigned char compression, rdma;
    unsigned short usage;
    unsigned char reserved[4];
};
/* CUmemAccessDesc */
struct cuda_access {
    struct cuda_location location;
    unsigned flags;
};

/* Returns the allocation unit of physical memory and ranges, 2 MiB. */
enum cuda_error cuda_physical_granularity(size_t *out, const struct cuda_physical_properties *p, int recommended);
/* Creates physical memory with one handle. */
enum cuda_error cuda_physical_new(uint64_t *handle, uint64_t bytes, const struct cuda_physical_properties *p,
                                  uint64_t flags);
/* Drops a handle. Memory without handles and mappings is freed. */
enum cuda_error cuda_physical_release(uint64_t handle);
enum cuda_error cuda_physical_properties(struct cuda_physical_properties *out, uint64_t handle);
/* Export physical memory as a file descriptor, and import it. */
enum cuda_error cuda_physical_export(int *out, uint64_t handle, int type, uint64_t flags);
enum cuda_error cuda_physical_import(uint64_t *out, int file, int type);
/* Reserve and free a range of addresses. */
enum cuda_error cuda_range_reserve(uint64_t *out, uint64_t bytes, uint64_t align, uint64_t hint, uint64_t flags);
enum cuda_error cuda_range_free(uint64_t at, uint64_t bytes);
/* Map physical memory into a range, without access rights, and unmap it. */
enum cuda_error cuda_range_map(uint64_t at, uint64_t bytes, uint64_t offset, uint64_t handle, uint64_t flags);
enum cuda_error cuda_range_unmap(uint64_t at, uint64_t bytes);
/* Sets the access rights of kernels to mappings. If several of the `n` descriptions apply, the last one takes
 * effect. */
enum cuda_error cuda_range_set_access(uint64_t at, uint64_t bytes, const struct cuda_access *a, size_t n);
enum cuda_error cuda_range_access(unsigned long long *out, const struct cuda_location *where, uint64_t at);
/* Adds a handle to the physical memory that is mapped at an address. */
enum cuda_error cuda_physical_retain(uint64_t *out, const void *p);
#endif
