#ifndef ISA_INTERP_NATIVE_H
#define ISA_INTERP_NATIVE_H
/* The interpreter's interface to native code, which runs a block natively if the block is compiled. interp_jit.[ch]
 * implements this interface with isa/jit. A build with JIT=0 uses interp_no_jit.c instead. */
#include "interp.h"
#include "isa/machine/effects.h"

struct cta_run;
struct spe_entry;
struct tally;

/* For the stack model: lets the path with these lanes continue after a block. `in` is the block's last instruction, or
 * the branch or exit after it, which then executes and adds its lanes to *threads. Returns the path that continues, or
 * NULL if there is none. */
typedef const struct spe_entry *native_path_after(struct cta_run *r, struct warp *w, const struct inst *in,
                                                  lanemask_t lanes, uint64_t *threads);
/* Functions of the interpreter that native code calls for the stack model. */
struct native_paths {
    native_path_after *after;
    void (*release)(struct cta_run *r, uint32_t barrier); /* cta_release_barrier() */
};

#ifdef HEDDLE_NO_JIT
/* Native code state of one CTA. */
struct native_cta {
    struct jit *code; /* NULL */
};

static inline bool native_is_taken(struct native_cta *n, const struct inst *in) {
    (void)n, (void)in;
    return false;
}
static inline void native_may_go_on(struct native_cta *n, uint64_t budget, uint32_t rpc) {
    (void)n, (void)budget, (void)rpc;
}
static inline bool native_has_moved(struct native_cta *n) {
    (void)n;
    return false;
}
static inline void native_cta_start(struct cta_run *r, const struct native_paths *paths) { (void)r, (void)paths; }
static inline void native_turn(struct native_cta *n, struct warp *w, uint64_t budget) {
    (void)n, (void)w, (void)budget;
}
static inline struct warp *native_warp(const struct native_cta *n, struct warp *w) {
    (void)n;
    return w;
}
static inline bool native_block(struct cta_run *r, struct native_cta *n, const struct warp *w, const struct inst **in,
                                lanemask_t *lanes, uint64_t *clock, struct tally *t) {
    (void)r, (void)n, (void)w, (void)in, (void)lanes, (void)clock, (void)t;
    return false;
}
#else
#include "interp_jit.h"
#endif
#endif
