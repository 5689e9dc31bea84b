/* Device memory, host memory, and managed memory. Host memory that CUDA allocates or registers is device memory at
 * the same address, as unified addressing promises. */
#include "core_memory.h"
#include "core_context.h"
#include "core_graph_parts.h"
#include <stdlib.h>
#include <string.h>

enum { PITCH = 512 };

/* A block of memory that both host and device can access. */
struct host_block {
    struct host_block *next;
    uint64_t begin, bytes;
    uint64_t device; /* device address of the first byte, usually equal to the host address `begin` */
    int type;
};
static struct host_block *host_blocks; /* under the lock */

/* The context of memory that was allocated while another context than the primary one was current. */
struct owner {
    struct owner *next;
    uint64_t begin;
    struct cuda_context *context;
};
static struct owner *owners; /* under the lock */

static void *pointer(uint64_t address) { return (void *)(uintptr_t)address; }
static uint64_t address_of(const void *p) { return (uint64_t)(uintptr_t)p; }

/* Returns the link to the owner of memory; the link is NULL if the primary context owns the memory. */
static struct owner **owner_of(uint64_t begin) {
    struct owner **o = &owners;
    while (*o && (*o)->begin != begin)
        o = &(*o)->next;
    return o;
}

static void forget_owner(uint64_t begin) {
    struct owner **o = owner_of(begin), *gone = *o;
    if (gone)
        *o = gone->next;
    free(gone);
}

static enum cuda_error note_owner(uint64_t begin) {
    if (!cuda_current_context || cuda_current_context == &cuda_primary_context)
        return CUDA_Success;
    struct owner *o = malloc(sizeof *o);
    if (!o)
        return CUDA_ErrorMemoryAllocation;
    *o = (struct owner){owners, begin, cuda_current_context};
    owners = o;
    return CUDA_Success;
}

struct cuda_context *cuda_memory_context(uint64_t begin) {
    const struct owner *o = *owner_of(begin);
    return o ? o->context : &cuda_primary_context;
}

enum cuda_error cuda_allocate(void **out, uint64_t bytes) {
    CUDA_LOCK;
    if (!out)
        return CUDA_ErrorInvalidValue;
    *out = NULL;
    uint64_t at = bytes ? heddle_alloc(cuda_core.h, bytes) : 0;
    if (bytes && !at)
        return CUDA_ErrorMemoryAllocation;
    if (at && note_owner(at)) {
        heddle_free(cuda_core.h, at);
        return CUDA_ErrorMemoryAllocation;
    }
    *out = pointer(at);
    return CUDA_Success;
}
enum cuda_error cuda_allocate_pitch(void **out, size_t *pitch, uint64_t width, uint64_t rows) {
    CUDA_LOCK;
    uint64_t row = (width + PITCH - 1) / PITCH * PITCH;
    if (!pitch || row < width || (rows && row > UINT64_MAX / rows))
        return CUDA_ErrorInvalidValue;
    *pitch = row;
    return cuda_allocate(out, row * rows);
}

static enum cuda_error note_block(uint64_t begin, uint64_t bytes, uint64_t device, int type) {
    struct host_block *b = malloc(sizeof *b);
    if (!b)
        return CUDA_ErrorMemoryAllocation;
    *b = (struct host_block){host_blocks, begin, bytes, device, type};
    host_blocks = b;
    cuda_core.shares = true;
    return note_owner(begin);
}

static void forget_block(uint64_t begin) {
    for (struct host_block **b = &host_blocks; *b; b = &(*b)->next)
        if ((*b)->begin == begin) {
            struct host_block *gone = *b;
            *b = gone->next;
            free(gone);
            return;
        }
}

enum cuda_error cuda_allocate_shared(void **out, uint64_t bytes, int type) {
    CUDA_LOCK;
    if (!out)
        return CUDA_ErrorInvalidValue;
    *out = NULL;
    if (!bytes)
        return type == MEMORY_MANAGED ? CUDA_ErrorInvalidValue : CUDA_Success;
    uint64_t at = heddle_alloc_shared(cuda_core.h, bytes);
    if (!at || note_block(at, bytes, at, type))
        return CUDA_ErrorMemoryAllocation;
    *out = pointer(at);
    return CUDA_Success;
}

enum cuda_error cuda_free(void *p) {
    CUDA_LOCK;
    if (!p)
        return CUDA_Success;
    struct cuda_graph_memory *of_graph = cuda_graph_memory_at(p);
    if (of_graph)
        return cuda_graph_memory_return(of_graph);
    if (heddle_free(cuda_core.h, address_of(p)) != HEDDLE_OK)
        return cuda_complain("cudaFree", CUDA_ErrorInvalidValue);
    forget_block(address_of(p));
    forget_owner(address_of(p));
    return CUDA_Success;
}
static const struct host_block *block_of(const void *p) {
    const struct host_block *b = host_blocks;
    while (b && address_of(p) - b->begin >= b->bytes)
        b = b->next;
    return b;
}

enum cuda_error cuda_host_register(void *p, uint64_t bytes) {
    CUDA_LOCK;
    if (!p || !bytes)
        return CUDA_ErrorInvalidValue;
    if (block_of(p) || heddle_buffer(cuda_core.h, address_of(p), NULL, NULL, NULL))
        return CUDA_ErrorHostMemoryAlreadyRegistered;
    /* below this address, kernels see the windows of other state spaces, so the memory gets another device address */
    enum { OWN = 1 << 28 };
    uint64_t at = address_of(p) < OWN                              ? heddle_map_elsewhere(cuda_core.h, p, bytes)
                  : heddle_map(cuda_core.h, p, bytes) == HEDDLE_OK ? address_of(p)
                                                                   : 0;
    return at ? note_block(address_of(p), bytes, at, MEMORY_HOST)
              : cuda_complain("cudaHostRegister", CUDA_ErrorInvalidValue);
}

enum cuda_error cuda_host_unregister(void *p) {
    CUDA_LOCK;
    const struct host_block *b = block_of(p);
    if (!b || b->begin != address_of(p))
        return CUDA_ErrorHostMemoryNotRegistered;
    uint64_t device = b->device;
    forget_block(b->begin);
    forget_owner(address_of(p));
    return cuda_free(pointer(device));
}

enum cuda_error cuda_host_pointer(void **out, void *p) {
    CUDA_LOCK;
    const struct host_block *b = block_of(p);
    if (!out || !b)
        return CUDA_ErrorInvalidValue;
    *out = pointer(b->device + (address_of(p) - b->begin));
    return CUDA_Success;
}

enum cuda_error cuda_host_flags(unsigned *out, const void *p) {
    CUDA_LOCK;
    enum { MAPPED = 2 };
    if (!out || !block_of(p))
        return CUDA_ErrorInvalidValue;
    *out = MAPPED;
    return CUDA_Success;
}

enum cuda_memory cuda_memory_of(const void *p, uint64_t *begin, uint64_t *bytes) {
    CUDA_LOCK;
    const struct host_block *b = block_of(p);
    *begin = *bytes = 0;
    if (b) {
        *begin = b->begin;
        *bytes = b->bytes;
        return b->type;
    }
    /* true if the host sees the memory, too; memory without a host_block is then a managed variable of a module */
    bool shared = false;
    if (!heddle_buffer(cuda_core.h, address_of(p), begin, bytes, &shared))
        return MEMORY_UNREGISTERED;
    return shared ? MEMORY_MANAGED : MEMORY_DEVICE;
}

enum cuda_error cuda_describe_pointer(struct cuda_pointer_attributes *out, const void *p) {
    CUDA_LOCK;
    uint64_t begin, bytes;
    if (!out)
        return CUDA_ErrorInvalidValue;
    void *at = pointer(address_of(p));
    out->type = cuda_memory_of(p, &begin, &bytes);
    out->device = out->type == MEMORY_UNREGISTERED ? -2 : 0;
    const struct host_block *b = block_of(p);
    out->on_device = out->type == MEMORY_UNREGISTERED ? NULL : b ? pointer(b->device + (address_of(p) - b->begin)) : at;
    out->on_host = out->type == MEMORY_DEVICE ? NULL : at;
    return CUDA_Success;
}

enum cuda_error cuda_memory_info(size_t *unused, size_t *all) {
    CUDA_LOCK;
    uint64_t limit, used;
    heddle_memory(cuda_core.h, &limit, &used);
    if (unused)
        *unused = limit - used;
    if (all)
        *all = limit;
    return CUDA_Success;
}
