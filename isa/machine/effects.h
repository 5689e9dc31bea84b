#ifndef ISA_EFFECTS_H
#define ISA_EFFECTS_H
/* The effects of an instruction on a warp, reported by executors to their drivers, and access to a warp's registers. */
#include "shape.h"
#include "warp.h"
#include <string.h>

enum barrier_mode { BARRIER_SYNC, BARRIER_ARRIVE, BARRIER_AND, BARRIER_OR, BARRIER_POPC };

/* The effects of one instruction. The driver uses the fields for control and faults; the timing model uses the
 * addresses. */
struct effects {
    lanemask_t lanes; /* lanes that executed: active and guard true */
    uint8_t fault;    /* enum fault_kind; on a fault, neither the faulting lane nor higher lanes have written results */
    uint8_t fault_lane;
    uint8_t fault_bytes;
    /* memory: state space; SPACE_GENERIC if lanes access different spaces (see the masks below) */
    uint8_t space;
    uint8_t n_elems, msize; /* memory: elements per lane, at addr[l], addr[l] + msize, ... */
    struct halves halves;   /* memory: pattern of addr[], for accesses of n_elems * msize bytes */
    uint64_t fault_address;
    char *fault_text;                     /* text of the fault, from malloc(); NULL: none */
    lanemask_t shared_lanes, local_lanes; /* memory: lanes whose generic address is shared or local */
    lanemask_t fetched; /* K_PREFETCH: lanes whose line a cache may fetch; K_COPY: lanes that read global memory */
    /* control */
    lanemask_t taken; /* K_BRANCH: lanes that go to in->target; K_EXIT, K_RET, K_TRAP: lanes that exit; K_COMPOUND: set
                       * by its operations (isa/compound.h) */
    int n_targets;    /* K_BRX, K_CALL, K_RET: number of groups in `targets` */
    struct target targets[MAX_WARP_LANES];
    /* barrier */
    uint32_t barrier, barrier_threads; /* barrier number; thread count, 0 for the whole CTA */
    uint8_t barrier_mode;              /* enum barrier_mode */
    lanemask_t barrier_pred;           /* bar.red: value of the predicate per lane */
    _Alignas(64)
        /* memory: byte addresses of executing lanes in the space; for local memory, offsets in the thread's own
         * local memory */
        uint64_t addr[MAX_WARP_LANES];
    uint64_t
        to[MAX_WARP_LANES]; /* K_COPY: shared memory addresses to which lanes write msize bytes; addr: addresses they
                              * read */
};

/* Returns the storage of an operand: lane values, or a lane mask for a predicate. */
static inline void *reg_ptr(const struct warp *w, opnd_t o) { return w->bank[o & 1] + (o >> 1); }
/* Returns the storage of a destination operand, which is never a constant. */
static inline void *reg_out(const struct warp *w, opnd_t o) { return w->bank[0] + (o >> 1); }
static inline rowmask_t pred_get(const struct warp *w, opnd_t o) {
    rowmask_t m;
    memcpy(&m, reg_ptr(w, o), sizeof m);
    return m;
}
/* Returns the lanes of `active`, lanes of the row of `w`, whose guard is true. */
static inline rowmask_t guard_row(const struct warp *w, const struct inst *in, rowmask_t active) {
    if (in->guard == NO_GUARD)
        return active;
    rowmask_t p;
    memcpy(&p, w->bank[0] + in->guard, sizeof p);
    return active & (in->guard_not ? ~p : p);
}
/* Returns the lanes of `active`, lanes of the warp `w`, whose guard is true. */
static inline lanemask_t guard_lanes(const struct warp *w, const struct inst *in, lanemask_t active) {
    lanemask_t m = guard_row(w, in, (rowmask_t)active);
    return __builtin_expect(w->high != NULL, 0) ? warp_lanes((rowmask_t)m, guard_row(w->high, in, warp_row(active, 1)))
                                                : m;
}
/* Returns the lanes that execute an instruction issued for the `active` lanes of a path. The guard of a branch, call,
 * return or exit is its condition: all active lanes evaluate it. The guard of any other instruction, including a
 * barrier, selects the lanes that execute it. */
static inline lanemask_t fx_executing(const struct inst *in, const struct effects *fx, lanemask_t active) {
    return in->kind >= K_BRANCH && in->kind <= K_EXIT ? active : fx->lanes;
}
/* Adds lanes to the group of fx->targets with target `pc`. */
void fx_target(struct effects *fx, uint32_t pc, lanemask_t lanes);
/* Notes in `f` which lanes execute the faulting load, store or atomic of launch `l`, and which of them fail. `f` has
 * the lane, the address, the space and the kind of the fault. */
void fault_note_lanes(struct fault *f, const struct launch *l, const struct inst *in, const struct effects *fx);
/* Reports a fault that has no address. `fmt` and its arguments describe it. */
void fx_fault_text(struct effects *fx, enum fault_kind kind, int lane, const char *fmt, ...)
    __attribute__((format(printf, 4, 5)));
/* Copies the lanes of `m` from `from` to `to`. Elements have `size` bytes. If `size` is 0, `from` and `to` are lane
 * masks. */
void blend_lanes(void *to, const void *from, rowmask_t m, unsigned size);
/* Returns true if the faulting access is a write. In a copy, the access to shared memory is the write. */
static inline bool fx_is_store(const struct inst *in, const struct effects *fx) {
    return in->kind == K_STORE || in->kind == K_ATOM || (in->kind == K_COPY && fx->space == SPACE_SHARED);
}

#endif
