/* The shared memory that threads may access without a fault. */
#ifndef ISA_MACHINE_SHARED_ROOM_H
#define ISA_MACHINE_SHARED_ROOM_H
#include "isa/arith.h"
#include "warp.h"

enum { SHARED_UNIT = 128 }; /* bytes; the smallest unit in which GPUs allocate shared memory */

/* Returns launch_shared_bytes(), rounded up to SHARED_UNIT. */
static inline uint32_t shared_units(const struct launch *l) {
    const uint32_t bytes = launch_shared_bytes(l);
    return bytes <= UINT32_MAX - SHARED_UNIT ? (uint32_t)round_up(bytes, SHARED_UNIT) : bytes;
}

/* Returns launch_shared_bytes(), which page_bounds rounds up to SHARED_UNIT. */
static inline uint32_t shared_room(const struct launch *l) {
    return l->memory && l->memory->page_bounds ? shared_units(l) : launch_shared_bytes(l);
}

#endif
