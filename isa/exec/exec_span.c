/* The slow path of memory instructions: finds addresses, checks them, and returns host pointers for one lane at a time
 * (exec_mem.h). exec_span.h has the fast path. */
#include "exec_span.h"

void mem_fault(struct effects *fx, enum fault_kind kind, int lane, enum space space, uint64_t address, unsigned bytes) {
    fx->fault = kind;
    fx->fault_lane = (uint8_t)lane;
    fx->fault_bytes = (uint8_t)bytes;
    fx->fault_address = address;
    fx->space = space;
    fx->fault_text = NULL;
}

enum shape mem_some_addresses(const void *base, const struct inst *in, rowmask_t m, unsigned shift, uint64_t *addr,
                              uint64_t *first) {
    if (!(m & (m - 1))) {
        const int l = __builtin_ctz(m);
        const uint64_t wide = in->asize == 4 ? 0 : ((const uint64_t *)base)[l];
        return one_address(in->asize == 4 ? ((const uint32_t *)base)[l] + (uint32_t)in->imm : wide + (uint64_t)in->imm,
                           addr, first);
    }
    return in->asize == 4 ? addresses_u32(base, (uint32_t)in->imm, m, shift, addr, first)
                          : addresses_u64(base, (uint64_t)in->imm, m, shift, addr, first);
}

void mem_addresses(const struct warp *w, const struct inst *in, rowmask_t m, struct effects *fx, unsigned n_elems) {
    uint64_t first[2];
    span_addresses(w, in, m, fx, n_elems, in->msize, first);
    fx->halves.shape = SHAPE_ANY;
}

enum space mem_space(uint64_t address) {
    if (address >= DEVICE_BASE)
        return SPACE_GLOBAL;
    if (address >= LOCAL_WINDOW)
        return SPACE_LOCAL;
    if (address >= SHARED_WINDOW)
        return SPACE_SHARED;
    return address >= PARAM_WINDOW ? SPACE_PARAM : SPACE_GLOBAL;
}

uint64_t mem_window(enum space s) {
    switch (s) {
    case SPACE_SHARED:
        return SHARED_WINDOW;
    case SPACE_LOCAL:
        return LOCAL_WINDOW;
    case SPACE_PARAM:
        return PARAM_WINDOW;
    default:
        return 0;
    }
}

/* Returns the host pointer of byte 0 and the size of a state space that is one block of memory, so that no allocation
 * must be looked up. */
static unsigned char *flat_space(const struct warp *w, enum space s, uint64_t *size) {
    switch (s) {
    case SPACE_SHARED:
        *size = w->cta->shared_bytes;
        return w->cta->shared;
    case SPACE_LOCAL:
        *size = w->local_bytes;
        return w->local;
    default:
        *size = w->program->param_bytes;
        return (unsigned char *)(uintptr_t)w->cta->launch->params;
    }
}

bool mem_span(struct warp *w, const struct inst *in, rowmask_t m, struct effects *fx, unsigned n_elems, bool write,
              struct span *out) {
    return span_find(w, in, m, fx, n_elems, in->msize, write, out);
}

void mem_lanes_begin(const struct inst *in, struct effects *fx) {
    fx->space = in->space;
    fx->halves.shape = SHAPE_ANY;
    fx->shared_lanes = fx->local_lanes = 0;
}

/* Returns the reason why a device access failed. */
static enum fault_kind device_fault(const struct memory *mem, uint64_t at, bool read_only) {
    const struct allocation *a = mem_owner(mem, at);
    if (a && !a->live && !a->reserved)
        return FAULT_USE_AFTER_FREE;
    return read_only ? FAULT_READ_ONLY : FAULT_OUT_OF_BOUNDS;
}

unsigned char *mem_lane(struct warp *w, const struct inst *in, struct effects *fx, int lane, bool write) {
    unsigned bytes = elems_bytes(in, fx->n_elems);
    enum space s = in->space == SPACE_GENERIC ? mem_space(fx->addr[lane]) : in->space;
    uint64_t at = fx->addr[lane] - (in->space == SPACE_GENERIC ? mem_window(s) : 0), size;
    if (at & (bytes - 1)) {
        mem_fault(fx, FAULT_MISALIGNED, lane, s, at, bytes);
        return NULL;
    }
    if (s == SPACE_GLOBAL || s == SPACE_CONST) {
        const struct memory *mem = w->cta->launch->memory;
        const struct allocation *a = mem_find(mem, at, bytes, &w->alloc_hint);
        if (!a || (write && a->read_only)) {
            mem_fault(fx, device_fault(mem, at, a != NULL), lane, s, at, bytes);
            return NULL;
        }
        return a->host + (at - a->begin);
    }
    unsigned char *host = flat_space(w, s, &size);
    if (s == SPACE_SHARED && at >= CLUSTER_STEP && cluster_owns(w->cta, at)) {
        host = cluster_lane(w->cta, fx, lane, &at, bytes, write);
        fx->addr[lane] = at;
        fx->shared_lanes |= 1u << lane;
        return host;
    }
    bool inside = bytes <= size && at <= size - bytes;
    if (!inside || (write && s == SPACE_PARAM)) {
        mem_fault(fx, inside ? FAULT_READ_ONLY : FAULT_OUT_OF_BOUNDS, lane, s, at, bytes);
        return NULL;
    }
    fx->addr[lane] = at;
    if (s == SPACE_SHARED)
        fx->shared_lanes |= 1u << lane;
    if (s == SPACE_LOCAL) {
        fx->local_lanes |= 1u << lane;
        return warp_local(w, (unsigned)lane, at);
    }
    return host + at;
}

unsigned char *mem_generic(const struct warp *w, int lane, uint64_t at, uint64_t *bytes) {
    enum space s = mem_space(at);
    if (s == SPACE_GLOBAL) {
        const struct allocation *a = mem_find(w->cta->launch->memory, at, 1, NULL);
        if (!a)
            return NULL;
        *bytes = a->end - at;
        return a->host + (at - a->begin);
    }
    uint64_t size, offset = at - mem_window(s);
    unsigned char *host = flat_space(w, s, &size);
    if (s == SPACE_SHARED && offset >= CLUSTER_STEP) {
        const struct cluster_place p = cluster_place(w->cta, offset);
        host = p.cta ? p.cta->shared : NULL;
        size = p.cta ? p.cta->shared_bytes : 0;
        offset = p.offset;
    }
    if (offset >= size)
        return NULL;
    *bytes = size - offset;
    if (s != SPACE_LOCAL)
        return host + offset;
    if (!w->local_stride && *bytes > 4 - (offset & 3))
        *bytes = 4 - (offset & 3);
    return warp_local(w, (unsigned)lane, offset);
}
