#ifndef ISA_MEMORY_H
#define ISA_MEMORY_H
/* Device memory: allocations with their own host storage, so that a bounds check and an address translation are the
 * same look-up. Addresses start at DEVICE_BASE, 256-byte aligned, with a gap between neighbours so that a small
 * overrun never lands in the next allocation. Memory of the host may be mapped: it keeps the host's addresses. Not
 * changed while a kernel runs, except by the device-side malloc. */
#include "isa/types.h"

/* What stands in a range of addresses that a program keeps for itself (mem_reserve()). */
enum mem_reserved {
    RANGE_NONE,     /* no such range */
    RANGE_UNMAPPED, /* addresses, and nothing behind them */
    RANGE_CLOSED,   /* memory that nobody may touch yet */
    RANGE_READ,
    RANGE_WRITE
};

struct allocation {
    uint64_t begin, end;    /* device addresses [begin, end) */
    unsigned char *host;    /* storage of end - begin bytes */
    const char *name;       /* of a module variable, or NULL for a buffer */
    bool live;              /* false after mem_free: kept for the message about use after free */
    bool read_only;         /* .const variables: kernels may not write */
    uint32_t number;        /* order of allocation, from 1, for messages */
    void *storage;          /* what holds `host`, to free it; NULL for what is mapped */
    bool mapped;            /* the host's own addresses; gone from the list after mem_free */
    bool padded;            /* MEM_SLACK bytes at either end are no part of the buffer, and kernels may touch them */
    unsigned char reserved; /* enum mem_reserved; `live` from RANGE_READ on */
    uint32_t serial;        /* of this entry, from 0, and of no other, while `number` may be that of several */
    uint64_t pages;         /* bytes of `host` to give back to the host's system: mem_alloc_shared(), a file; else 0 */
};

struct device_heap; /* what malloc() of kernels hands out; isa/machine/heap.c */
void device_heap_free(struct device_heap *h);

/* The least page of a GPU's memory: within the pages of a buffer no GPU sees that an access misses it. */
enum { MEM_SLACK = 64 << 10 };
struct memory {
    struct allocation *list; /* sorted by address */
    uint32_t n, cap, numbered, mapped, serials;
    uint64_t next, next_shared; /* next free address; that of mem_alloc_shared(), 0: none yet */
    uint64_t packed;            /* next address of buffers that lie without gaps; 0: all allocations lie apart */
    uint64_t live_bytes, limit_bytes;
    struct device_heap *heap; /* NULL until a launch may need it */
    uint64_t heap_bytes;      /* that it will have; 0: DEVICE_HEAP_BYTES */
    struct allocation host;   /* live after mem_map_host(): what is in no other allocation */
    bool page_bounds;         /* mem_alloc() pads buffers by MEM_SLACK */
};

void mem_init(struct memory *m, uint64_t limit_bytes /* 0: 16 GiB */);
/* From now on mem_alloc() places buffers from PACKED_BASE on, each where the one before ends, rounded up to 256 bytes.
 * An overrun may then hit the next buffer. Variables, buffers that are padded and memory of the host lie apart as
 * before. */
void mem_pack(struct memory *m);
void mem_free_all(struct memory *m);
/* Zeroed memory; `align` a power of two (at least 256 is used). 0 when out of memory or beyond the limit.
 * `name` may be NULL; it must outlive the allocation. */
uint64_t mem_alloc(struct memory *m, uint64_t bytes, uint64_t align, const char *name, bool read_only);
/* The same in pages that the host has at the same address: SHARED_PAGES and up, the same ones in every run. */
uint64_t mem_alloc_shared(struct memory *m, uint64_t bytes, const char *name);
/* Makes [host, host + bytes) device memory, at the same address, until mem_free(). False when memory is out, or the
 * addresses are not free. */
bool mem_map(struct memory *m, void *host, uint64_t bytes);
/* The host's memory at an address of the device's own, with the same lowest byte; 0 when there is no room. */
uint64_t mem_map_elsewhere(struct memory *m, void *host, uint64_t bytes);
/* Makes everything else device memory, too: all that the host's process has, at the same addresses. What it has not,
 * kernels touch as the host itself would: by a signal. Before the first allocation. */
void mem_map_host(struct memory *m);
/* Moves what mem_alloc() gave into a file without a name, for other processes to map: its descriptor, which the caller
 * closes; the allocation keeps its address. -1: there is none that begins at `address`, or no memory. */
int mem_move_to_file(struct memory *m, uint64_t address);
/* Keeps `bytes` of addresses, which are given nothing yet: at `hint` where that is free and a multiple of `align` (a
 * power of two), else at any such multiple. 0: out of memory or of addresses. */
uint64_t mem_reserve(struct memory *m, uint64_t bytes, uint64_t align, uint64_t hint);
/* A part of a range of mem_reserve(); `host` is for what may be touched. */
struct mem_piece {
    uint64_t begin, end;
    unsigned char *host; /* the caller's, for as long as it stands here */
    enum mem_reserved what;
};
/* What now stands in the range [begin, end) of mem_reserve(): `n` pieces by address, which fill it; none: the range is
 * given back, and its addresses do not come again. False when memory is out; then nothing has changed. */
bool mem_place(struct memory *m, uint64_t begin, uint64_t end, const struct mem_piece *pieces, uint32_t n);
/* Takes `bytes` of the memory that there is for what is not allocated here, or gives them back. False: there are not so
 * many. */
bool mem_take(struct memory *m, uint64_t bytes);
void mem_give(struct memory *m, uint64_t bytes);
/* False when `address` is not the start of a live allocation, or in a range of mem_reserve(). */
bool mem_free(struct memory *m, uint64_t address);
/* The live allocation that holds [address, address + bytes), or NULL. `hint` is an index to try first and is
 * updated; one a warp keeps look-ups out of the loop. */
const struct allocation *mem_find(const struct memory *m, uint64_t address, uint64_t bytes, uint32_t *hint);
/* The buffer of an allocation without what pads it. */
uint64_t mem_begin(const struct allocation *a);
uint64_t mem_bytes(const struct allocation *a);
/* mem_find() for the host, whose copies are always as exact as buffers are. */
const struct allocation *mem_find_buffer(const struct memory *m, uint64_t address, uint64_t bytes);
/* The allocation that holds `address`, freed or not; NULL when none does. */
const struct allocation *mem_owner(const struct memory *m, uint64_t address);
/* Host copies; false when the range is not inside one live allocation. */
bool mem_read(const struct memory *m, uint64_t address, void *to, uint64_t bytes);
bool mem_write(struct memory *m, uint64_t address, const void *from, uint64_t bytes);
/* One sentence about where `address` is: "12 bytes past the end of buffer 3 (4096 bytes at 0x10000300)". */
void mem_describe(const struct memory *m, uint64_t address, char *out, size_t size);
#endif
