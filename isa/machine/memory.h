#ifndef ISA_MEMORY_H
#define ISA_MEMORY_H
/* Device memory. Each allocation has its own host storage, so a single look-up checks bounds and translates the
 * address. Addresses start at DEVICE_BASE and are aligned to 256 bytes. Gaps between allocations prevent a small
 * overrun from reaching the next allocation. Host memory can be mapped at its host addresses. Allocations do not
 * change while a kernel runs, except by malloc() in kernels. */
#include "isa/types.h"

/* The state of an address range reserved by mem_reserve(). */
enum mem_reserved {
    RANGE_NONE,     /* not reserved */
    RANGE_UNMAPPED, /* addresses without memory */
    RANGE_CLOSED,   /* memory without access rights yet */
    RANGE_READ,
    RANGE_WRITE
};

struct allocation {
    uint64_t begin, end;    /* device addresses [begin, end) */
    unsigned char *host;    /* storage of end - begin bytes */
    const char *name;       /* name of a module variable; NULL: a buffer */
    bool live;              /* false after mem_free(): the entry is kept to report use after free */
    bool constant;          /* a .const variable */
    bool read_only;         /* kernels may not write */
    uint32_t number;        /* number in the order of allocation, from 1; messages name buffers by it */
    void *storage;          /* start of the allocated block that contains `host`, for free(); NULL: mapped memory */
    bool mapped;            /* mapped at host addresses; mem_free() removes it from the list */
    bool padded;            /* MEM_SLACK bytes at each end are padding that kernels may access */
    unsigned char reserved; /* enum mem_reserved; kernels may access the range if RANGE_READ or RANGE_WRITE */
    uint32_t serial;        /* unique id of this entry, from 0; several entries may share `number` */
    uint64_t pages;         /* bytes of `host` to unmap, for mem_alloc_shared() and files; else 0 */
};

struct device_heap; /* the heap of malloc() in kernels: heap.h */

/* Size of the smallest page of GPU memory: a GPU does not detect an overrun within a buffer's pages. */
enum { MEM_SLACK = 64 << 10 };
struct memory {
    struct allocation *list; /* sorted by address */
    uint32_t n, cap, numbered, mapped, serials;
    bool small_pages; /* no huge pages at host addresses: the checker reads which small pages the host has touched */
    uint64_t next, next_shared; /* next free address, and next free address of mem_alloc_shared() (0 if not yet used) */
    uint64_t packed;            /* next address for packed buffers; 0 means that allocations have gaps */
    uint64_t live_bytes, limit_bytes;
    struct device_heap *heap; /* NULL until first needed */
    uint64_t heap_bytes;      /* size of the heap; 0: DEVICE_HEAP_BYTES */
    /* an allocation that stands for all memory outside the other allocations; live after mem_map_host() */
    struct allocation host;
    bool page_bounds;      /* mem_alloc() pads allocations by MEM_SLACK; see also shared_room() */
    bool guards_constants; /* kernels may not write .const variables; a GPU does not detect such stores */
    char *folder;     /* folder of the files that hold large buffers (mem_use_folder()); NULL: buffers are in memory */
    int folder_error; /* errno if the file of the latest allocation could not be created; else 0 */
};

/* Starts an empty device memory of at most `limit_bytes`; 0: 16 GiB. */
void mem_init(struct memory *m, uint64_t limit_bytes);
/* Keeps later buffers of at least MEM_FILE_BYTES in unnamed files of `folder`, so that they may exceed the host's
 * memory. Each file reserves its disk space when the buffer is allocated. Returns false if out of memory. */
enum { MEM_FILE_BYTES = 1 << 20 };
bool mem_use_folder(struct memory *m, const char *folder);
/* Packs later buffers of mem_alloc() from PACKED_BASE on: each begins at the end of the previous one, rounded up to 256
 * bytes. An overrun may then hit the next buffer. Variables, padded buffers and host memory still have gaps. */
void mem_pack(struct memory *m);
/* Frees all allocations and clears `m`. */
void mem_free_all(struct memory *m);
/* Allocates zeroed memory and returns its address, 0 if out of memory or beyond the limit. `align`: a power of two; at
 * least 256 is used. `name` may be NULL and must outlive the allocation. `constant`: for a .const variable. */
uint64_t mem_alloc(struct memory *m, uint64_t bytes, uint64_t align, const char *name, bool constant);
/* Allocates like mem_alloc(), but at addresses that the host can access too. They start at SHARED_PAGES and are
 * equal in every run. */
uint64_t mem_alloc_shared(struct memory *m, uint64_t bytes, const char *name);
/* Maps [host, host + bytes) as device memory at the same address, until mem_free(). Returns false if out of memory or
 * if the addresses are in use. */
bool mem_map(struct memory *m, void *host, uint64_t bytes);
/* Maps host memory at an address in the device's own range, whose lowest byte equals that of the host address. Returns
 * the address, or 0 if there is no room. */
uint64_t mem_map_elsewhere(struct memory *m, void *host, uint64_t bytes);
/* Maps all memory of the host process that is outside the other allocations as device memory, at the same addresses.
 * Access to an unmapped host address raises a signal. Must precede the first allocation. */
void mem_map_host(struct memory *m);
/* Moves an allocation of mem_alloc() to an anonymous file that other processes can map. Its address does not change.
 * Returns the file descriptor, which the caller closes. Returns -1 if no allocation begins at `address` or if out of
 * memory. */
int mem_move_to_file(struct memory *m, uint64_t address);
/* Reserves `bytes` bytes of addresses without memory. Uses `hint` if it is free and a multiple of `align` (a power
 * of two), else some other multiple of `align`. Returns the address, or 0 if out of memory or addresses. */
uint64_t mem_reserve(struct memory *m, uint64_t bytes, uint64_t align, uint64_t hint);
/* A part of a range reserved by mem_reserve(). */
struct mem_piece {
    uint64_t begin, end;
    /* storage of the piece, which the caller keeps allocated while the piece exists; unused if the piece has no access
     * rights */
    unsigned char *host;
    enum mem_reserved what;
};
/* Divides the reserved range [begin, end) anew into `n` pieces, which are sorted by address and fill the range. n = 0
 * frees the range; its addresses are not reused. Returns false without any effect if out of memory. */
bool mem_place(struct memory *m, uint64_t begin, uint64_t end, const struct mem_piece *pieces, uint32_t n);
/* mem_take() counts `bytes` bytes of memory allocated elsewhere against the limit. It returns false if the limit would
 * be exceeded. mem_give() subtracts them again. */
bool mem_take(struct memory *m, uint64_t bytes);
void mem_give(struct memory *m, uint64_t bytes);
/* Creates the heap of kernels; does nothing if it exists. Must not be called while a launch runs, since it rearranges
 * device memory. Returns false if out of memory. */
bool mem_make_heap(struct memory *m);
/* Sets the size of a heap not created yet, in bytes. Returns false if the heap exists. */
bool mem_set_heap_size(struct memory *m, uint64_t bytes);
/* Frees an allocation. Returns false if `address` is not the start of a live allocation, or is in a range of
 * mem_reserve(). */
bool mem_free(struct memory *m, uint64_t address);
/* Returns the live allocation that contains [address, address + bytes), or NULL. `hint` (may be NULL) is an index to
 * try first and is updated; one hint per warp avoids most searches. */
const struct allocation *mem_find(const struct memory *m, uint64_t address, uint64_t bytes, uint32_t *hint);
/* Return the first address and the size of an allocation without its padding. */
uint64_t mem_begin(const struct allocation *a);
uint64_t mem_bytes(const struct allocation *a);
/* A live allocation of a saved memory. */
struct mem_saved {
    uint64_t begin, end;
    const char *name; /* name of a variable, which must outlive the memory; NULL: the allocation is a buffer */
    uint32_t number, serial;
    /* read_only: a .const variable or a read_range, which is a read-only part of a range of mem_reserve() */
    bool read_only, padded, read_range;
};
/* Makes `list`, which is sorted by address, the allocations of `m`. An allocation with the same addresses and serial
 * keeps its bytes. The other allocations are freed, and new ones are zeroed. Returns false without any effect if out of
 * memory, or if two entries of the list overlap. */
bool mem_restore(struct memory *m, const struct mem_saved *list, uint32_t n);
/* Finds an allocation as mem_find() does, but excludes its padding, because copies by the host must stay inside the
 * buffer. */
const struct allocation *mem_find_buffer(const struct memory *m, uint64_t address, uint64_t bytes);
/* Returns the allocation that contains `address`, live or freed, or NULL. */
const struct allocation *mem_owner(const struct memory *m, uint64_t address);
/* Copy between host and device memory. Return false if the range is not inside one live allocation. */
bool mem_read(const struct memory *m, uint64_t address, void *to, uint64_t bytes);
bool mem_write(struct memory *m, uint64_t address, const void *from, uint64_t bytes);
/* Describes where `address` is: "12 bytes past the end of buffer 3 (4096 bytes at 0x10000300)". */
void mem_describe(const struct memory *m, uint64_t address, char *out, size_t size);
/* Returns the allocation that mem_describe() would name for `address`, or NULL if it would name none. */
const struct allocation *mem_nearest(const struct memory *m, uint64_t address);
/* Returns the distance in bytes from `address` to mem_nearest(): 0 inside of the allocation, 1 for the byte before or
 * behind it, UINT64_MAX if there is no such allocation. */
uint64_t mem_distance(const struct memory *m, uint64_t address);
/* Returns true if page_bounds allows kernels to access all `bytes` bytes at `address`, which is outside of the
 * allocations. */
bool mem_page_allows(const struct memory *m, uint64_t address, uint64_t bytes);
#endif
