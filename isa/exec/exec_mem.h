#ifndef ISA_EXEC_MEM_H
#define ISA_EXEC_MEM_H
/* Turns the addresses of a memory instruction into checked host pointers. Internal to isa/. Nearly always, all lanes of
 * a warp access one allocation. Then one check covers the warp, and a lane's host pointer is a common base plus its
 * address. Other cases (several allocations, several state spaces, a fault) are executed lane by lane in ascending
 * order. So a fault leaves memory and registers as if lanes had executed one after another. */
#include "exec.h"

/* A portable build compiles this code once per CPU level (isa/levels.h), and each copy has its own versions of these
 * functions. */
#ifdef ROWS_LEVEL
#define OWN__(name, level) name##level
#define OWN_(name, level)  OWN__(name, level)
#define OWN(name)          OWN_(name, ROWS_LEVEL)
#define mem_space          OWN(mem_space)
#define mem_window         OWN(mem_window)
#define mem_addresses      OWN(mem_addresses)
#define mem_span           OWN(mem_span)
#define mem_some_addresses OWN(mem_some_addresses)
#define mem_lane           OWN(mem_lane)
#define mem_lanes_begin    OWN(mem_lanes_begin)
#define mem_generic        OWN(mem_generic)
#define mem_fault          OWN(mem_fault)
#endif

struct span {
    /* host address of device address 0: the access of lane l is at base + addr[l] + l * lane_step */
    uintptr_t base;
    uint64_t first[2];  /* addresses of lanes 0 and 16, even if they do not execute; not set for SHAPE_ANY */
    uint32_t lane_step; /* local memory: bytes from one lane's memory to the next lane's; else 0 */
    /* local memory is interleaved by words (warp_local()): the access of lane l is at warp_local(w, l, addr[l]) */
    bool words;
    /* address pattern (isa/machine/shape.h). Unless it is SHAPE_ANY, the accesses of all 32 lanes are inside the
     * checked memory, even those of lanes that do not execute */
    enum shape shape;
};

static inline unsigned elems_bytes(const struct inst *in, unsigned n) { return in->msize * n; }

/* mem_space() returns the state space of a generic address; constant variables are device memory and count as global.
 * mem_window() returns the generic address of a space's byte 0. */
enum space mem_space(uint64_t address);
uint64_t mem_window(enum space s);
/* Fills the memory fields of fx, and fx->addr of all lanes (lanes that do not execute get the address of an executing
 * lane). `m` is not empty; the bytes of an access are a power of two. */
void mem_addresses(const struct warp *w, const struct inst *in, rowmask_t m, struct effects *fx, unsigned n_elems);
/* Calls mem_addresses(), and finds the span that holds all lanes' accesses. Turns generic addresses in fx->addr into
 * addresses of their space. Returns false if the caller must execute the access lane by lane. */
bool mem_span(struct warp *w, const struct inst *in, rowmask_t m, struct effects *fx, unsigned n_elems, bool write,
              struct span *out);
/* Returns the host address of one lane's access. Turns a generic fx->addr[lane] into an address of its space. On a
 * fault, stores the fault in fx and returns NULL. */
unsigned char *mem_lane(struct warp *w, const struct inst *in, struct effects *fx, int lane, bool write);
/* Initialises fx for an access that executes lane by lane. Call it before the first mem_lane() of the instruction. */
void mem_lanes_begin(const struct inst *in, struct effects *fx);
/* Returns the host pointer of generic address `at` for `lane`, and the number of bytes that follow in its allocation
 * (for strings, and argument buffers of system calls). Returns NULL if the address is in no allocation. */
unsigned char *mem_generic(const struct warp *w, int lane, uint64_t at, uint64_t *bytes);
void mem_fault(struct effects *fx, enum fault_kind kind, int lane, enum space space, uint64_t address, unsigned bytes);
#endif
