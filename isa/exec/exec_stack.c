/* alloca, stacksave, stackrestore. The stack grows upwards from the end of the static frames. Calls of recursive
 * functions take their frames from it, too (call.h). Addresses are .local addresses. */
#ifndef ROWS_FILE /* see isa/rows.h */
#include "isa/machine/call.h"
#include "isa/rows.h"

static uint64_t value_get(const struct warp *w, opnd_t o, unsigned bytes, int lane) {
    uint64_t v = 0;
    memcpy(&v, (const unsigned char *)reg_ptr(w, o) + (unsigned)lane * bytes, bytes);
    return v;
}

static void value_put(struct warp *w, opnd_t o, unsigned bytes, int lane, uint64_t v) {
    memcpy((unsigned char *)reg_ptr(w, o) + (unsigned)lane * bytes, &v, bytes);
}

/* Returns the stack pointer of a lane. If the host has no memory for it, stores a fault in fx and returns NULL. */
static uint32_t *pointer_of(struct warp *w, int lane, struct effects *fx) {
    uint32_t *at = calls_stack_pointer(w, lane);
    if (!at)
        fx_fault_text(fx, FAULT_MEMORY, lane, "the stack of a warp");
    return at;
}

static void exec_alloca(struct warp *w, const struct inst *in, rowmask_t m, struct effects *fx, unsigned bytes) {
    for (; m; m &= m - 1) {
        int l = __builtin_ctz(m);
        uint32_t *at = pointer_of(w, l, fx);
        if (!at)
            return;
        uint64_t size = value_get(w, in->a, bytes, l), align = (uint64_t)in->imm;
        uint64_t begin = (*at + align - 1) & ~(align - 1);
        if (begin > w->local_bytes || size > w->local_bytes - begin) {
            uint32_t first = calls_stack_begin(w->program);
            fx_fault_text(fx, FAULT_STACK, l,
                          "alloca of %llu bytes aligned to %llu, with %u of the thread's %u bytes of stack in use",
                          (unsigned long long)size, (unsigned long long)align, *at - first, w->local_bytes - first);
            return;
        }
        *at = (uint32_t)(begin + size);
        value_put(w, in->d, bytes, l, begin);
    }
}

static void exec_stacksave(struct warp *w, const struct inst *in, rowmask_t m, struct effects *fx, unsigned bytes) {
    for (; m; m &= m - 1) {
        int l = __builtin_ctz(m);
        const uint32_t *at = pointer_of(w, l, fx);
        if (!at)
            return;
        value_put(w, in->d, bytes, l, *at);
    }
}

/* Executes stackrestore, which can only free memory. A value above the stack pointer is a fault, since memory below
 * this value was freed after the value was saved. */
static void exec_stackrestore(struct warp *w, const struct inst *in, rowmask_t m, struct effects *fx, unsigned bytes) {
    for (; m; m &= m - 1) {
        int l = __builtin_ctz(m);
        uint32_t *at = pointer_of(w, l, fx);
        if (!at)
            return;
        uint64_t to = value_get(w, in->a, bytes, l);
        if (to < calls_stack_begin(w->program) || to > *at) {
            fx_fault_text(fx, FAULT_STACK, l, "stackrestore of 0x%llx; the stack in use is from 0x%x to 0x%x",
                          (unsigned long long)to, calls_stack_begin(w->program), *at);
            return;
        }
        *at = (uint32_t)to;
    }
}

#define STACK_FUNCTION(name, t, bytes)                                                                                 \
    static void name##_##t(struct warp *w, const struct inst *in, rowmask_t m, struct effects *fx) {                   \
        exec_##name(w, in, m, fx, bytes);                                                                              \
    }
#define STACK_FUNCTIONS(t, bytes)                                                                                      \
    STACK_FUNCTION(alloca, t, bytes)                                                                                   \
    STACK_FUNCTION(stacksave, t, bytes)                                                                                \
    STACK_FUNCTION(stackrestore, t, bytes)
STACK_FUNCTIONS(u32, 4)
STACK_FUNCTIONS(u64, 8)

#define STACK_ROWS(T, t)                                                                                               \
    WARP_FN(ALLOCA, T1(T), 0, WARP, INT_OTHER, OPDS(T, NONE, T, NONE, NONE, NONE), alloca_##t)                         \
    WARP_FN(STACKSAVE, T1(T), 0, WARP, INT_OTHER, OPDS(T, NONE, NONE, NONE, NONE, NONE), stacksave_##t)                \
    WARP_FN(STACKRESTORE, T1(T), 0, WARP, INT_OTHER, OPDS(NONE, NONE, T, NONE, NONE, NONE), stackrestore_##t)

#define ROWS_FILE "isa/exec/exec_stack.c"
#define ROWS_NAME stack
#include "isa/rows_expand.h"
#else
/* clang-format off */
/* Rows of alloca, stacksave and stackrestore. */
STACK_ROWS(U32, u32)
STACK_ROWS(U64, u64)
/* clang-format on */
#endif
