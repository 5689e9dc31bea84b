#include "exec_mem.h"

void mem_fault(struct effects *fx, enum fault_kind kind, int lane, enum space space, uint64_t address, unsigned bytes) {
    fx->fault = kind;
    fx->fault_lane = (uint8_t)lane;
    fx->fault_bytes = (uint8_t)bytes;
    fx->fault_address = address;
    fx->space = space;
    fx->fault_text = NULL;
}

/* Addresses of all lanes from the base register: 32-bit addresses wrap at 32 bits. */
static void add_offset(const struct warp *w, const struct inst *in, uint64_t *addr) {
    if (in->asize == 4) {
        const uint32_t *a = reg_ptr(w, in->a);
        uint32_t imm = (uint32_t)in->imm;
        for (int l = 0; l < WARP_LANES; l++)
            addr[l] = (uint32_t)(a[l] + imm);
    } else {
        const uint64_t *a = reg_ptr(w, in->a);
        uint64_t imm = (uint64_t)in->imm;
        for (int l = 0; l < WARP_LANES; l++)
            addr[l] = a[l] + imm;
    }
}

void mem_addresses(const struct warp *w, const struct inst *in, lanemask_t m, struct effects *fx, unsigned n_elems) {
    fx->n_elems = (uint8_t)n_elems;
    fx->msize = in->msize;
    fx->space = in->space;
    fx->shared_lanes = fx->local_lanes = 0;
    add_offset(w, in, fx->addr);
    if (m != LANES_ALL) { /* so that checks need not look at the mask */
        uint64_t first = fx->addr[__builtin_ctz(m)];
        for (int l = 0; l < WARP_LANES; l++)
            fx->addr[l] = m >> l & 1 ? fx->addr[l] : first;
    }
}

/* Do accesses of `bytes` bytes at all addresses lie in [begin, begin + size), aligned? Also finds their shape. The top
 * bit of (offset | limit - offset) is set exactly when offset > limit, for limits below 2^63. */
static bool check_all(const uint64_t *addr, uint64_t begin, uint64_t size, unsigned bytes, enum shape *shape) {
    if (size < bytes)
        return false;
    uint64_t limit = size - bytes, first = addr[0], outside = 0, bits = 0, differs = 0, gaps = 0;
    for (int l = 0; l < WARP_LANES; l++) {
        uint64_t offset = addr[l] - begin, from_first = addr[l] - first;
        outside |= offset | (limit - offset);
        bits |= addr[l];
        differs |= from_first;
        gaps |= from_first ^ ((uint64_t)l * bytes);
    }
    *shape = !differs ? SHAPE_UNIFORM : !gaps ? SHAPE_UNIT : SHAPE_ANY;
    return !(outside >> 63) && !(bits & (bytes - 1));
}

static void rebase(uint64_t *addr, uint64_t window) {
    for (int l = 0; l < WARP_LANES; l++)
        addr[l] -= window;
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

/* What a state space without look-up is for this warp: host pointer of byte 0 and size. */
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

bool mem_span(struct warp *w, const struct inst *in, lanemask_t m, struct effects *fx, bool write, struct span *out) {
    unsigned bytes = elems_bytes(in, fx->n_elems);
    uint64_t *addr = fx->addr, begin = 0, size;
    enum space s = in->space;
    if (s == SPACE_GENERIC)
        s = mem_space(addr[0]);
    uint64_t window = in->space == SPACE_GENERIC ? mem_window(s) : 0;
    unsigned char *host;
    bool device = s == SPACE_GLOBAL || s == SPACE_CONST;
    if (device) {
        const struct allocation *a = mem_find(w->cta->launch->memory, addr[0], bytes, &w->alloc_hint);
        if (!a || (write && a->read_only))
            return false;
        begin = a->begin;
        size = a->end - a->begin;
        host = a->host;
    } else {
        if (write && s == SPACE_PARAM)
            return false;
        host = flat_space(w, s, &size);
        begin = window;
    }
    if (!check_all(addr, begin, size, bytes, &out->shape))
        return false;
    if (window)
        rebase(addr, window);
    out->base = (uintptr_t)host - (device ? begin : 0);
    out->lane_step = 0;
    fx->space = s;
    if (s == SPACE_SHARED)
        fx->shared_lanes = m;
    if (s == SPACE_LOCAL) {
        fx->local_lanes = m;
        out->lane_step = w->local_stride;
        out->shape = SHAPE_ANY;
    }
    return true;
}

void mem_lanes_begin(const struct inst *in, struct effects *fx) {
    fx->space = in->space;
    fx->shared_lanes = fx->local_lanes = 0;
}

/* Why a device access failed. */
static enum fault_kind device_fault(const struct memory *mem, uint64_t at, bool read_only) {
    const struct allocation *a = mem_owner(mem, at);
    if (a && !a->live)
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
        host += (size_t)lane * w->local_stride;
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
    if (offset >= size)
        return NULL;
    *bytes = size - offset;
    return host + offset + (s == SPACE_LOCAL ? (size_t)lane * w->local_stride : 0);
}
