#ifndef ISA_EFFECTS_H
#define ISA_EFFECTS_H
/* What an instruction did to a warp, as executors tell their drivers, and how both reach a warp's registers. */
#include "shape.h"
#include "warp.h"
#include <string.h>

enum barrier_mode { BARRIER_SYNC, BARRIER_ARRIVE, BARRIER_AND, BARRIER_OR, BARRIER_POPC };

/* What an instruction did, for those who need to know: the driver (control, faults), the timing model (addresses). */
struct effects {
    lanemask_t lanes; /* that executed: active and guard */
    uint8_t fault;    /* enum fault_kind; nothing was written by the faulting lane or those after it */
    uint8_t fault_lane;
    uint8_t fault_bytes;
    uint8_t space;          /* memory: where it went; SPACE_GENERIC when lanes differ (see the masks) */
    uint8_t n_elems, msize; /* memory: elements a lane at addr[l], addr[l] + msize, ... */
    struct halves halves;   /* memory: how addr[] lie, of accesses of n_elems * msize bytes */
    uint64_t fault_address;
    char *fault_text;                     /* malloc'ed, or NULL */
    lanemask_t shared_lanes, local_lanes; /* memory: lanes whose generic address was shared or local */
    lanemask_t fetched; /* K_PREFETCH: lanes with an address whose line a cache can take; K_COPY: that read there */
    /* control */
    lanemask_t taken; /* K_BRANCH: lanes that go to in->target; K_EXIT, K_RET, K_TRAP: lanes that leave;
                         K_COMPOUND: what its operations say (isa/compound.h) */
    int n_targets;    /* K_BRX, K_CALL, K_RET: groups */
    struct target targets[WARP_LANES];
    /* barrier */
    uint32_t barrier, barrier_threads; /* number; threads, 0 for all of the CTA */
    uint8_t barrier_mode;              /* enum barrier_mode */
    lanemask_t barrier_pred;           /* red: the predicate's lanes */
    _Alignas(64) uint64_t
        addr[WARP_LANES];    /* memory: byte addresses of executing lanes (in the space; a thread's own for local) */
    uint64_t to[WARP_LANES]; /* K_COPY: where in shared memory they write msize bytes; addr: where they read */
};

static inline void *reg_ptr(const struct warp *w, opnd_t o) { return w->bank[o & 1] + (o >> 1); }
/* A destination: never a constant. */
static inline void *reg_out(const struct warp *w, opnd_t o) { return w->bank[0] + (o >> 1); }
static inline lanemask_t pred_get(const struct warp *w, opnd_t o) {
    lanemask_t m;
    memcpy(&m, reg_ptr(w, o), sizeof m);
    return m;
}
/* The lanes of `active` whose guard holds. */
static inline lanemask_t guard_lanes(const struct warp *w, const struct inst *in, lanemask_t active) {
    if (in->guard == NO_GUARD)
        return active;
    lanemask_t p;
    memcpy(&p, w->bank[0] + in->guard, sizeof p);
    return active & (in->guard_not ? ~p : p);
}
/* Lanes that execute an instruction which `active` lanes of a path issue. The guard of a branch, a call, a return or an
 * exit is its condition: all active lanes evaluate it, and it says where each of them goes. The guard of any other
 * instruction, a barrier's too, says which lanes execute it. */
static inline lanemask_t fx_executing(const struct inst *in, const struct effects *fx, lanemask_t active) {
    return in->kind >= K_BRANCH && in->kind <= K_EXIT ? active : fx->lanes;
}
/* Adds a lane to the group of fx->targets that goes to `pc`. */
void fx_target(struct effects *fx, uint32_t pc, int lane);
/* A fault that is not about an address. */
void fx_fault_text(struct effects *fx, enum fault_kind kind, int lane, const char *fmt, ...)
    __attribute__((format(printf, 4, 5)));
/* Copies the lanes of `m` from `from` to `to`: elements of `size` bytes, or one mask when size is 0. */
void blend_lanes(void *to, const void *from, lanemask_t m, unsigned size);
/* Did the access that failed write? Of a copy, the one to shared memory does. */
static inline bool fx_is_store(const struct inst *in, const struct effects *fx) {
    return in->kind == K_STORE || in->kind == K_ATOM || (in->kind == K_COPY && fx->space == SPACE_SHARED);
}
#endif
