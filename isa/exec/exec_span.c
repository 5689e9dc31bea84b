#include "exec_mem.h"
#ifdef __AVX512F__
#include <immintrin.h>
#endif

void mem_fault(struct effects *fx, enum fault_kind kind, int lane, enum space space, uint64_t address, unsigned bytes) {
    fx->fault = kind;
    fx->fault_lane = (uint8_t)lane;
    fx->fault_bytes = (uint8_t)bytes;
    fx->fault_address = address;
    fx->space = space;
    fx->fault_text = NULL;
}

/* Eight lanes' addresses. */
typedef uint64_t lanes8 __attribute__((vector_size(64)));
enum { PARTS = WARP_LANES / 8 };

static const lanes8 lane_number[PARTS] = {{0, 1, 2, 3, 4, 5, 6, 7},
                                          {8, 9, 10, 11, 12, 13, 14, 15},
                                          {16, 17, 18, 19, 20, 21, 22, 23},
                                          {24, 25, 26, 27, 28, 29, 30, 31}};

static inline bool any_bits(const lanes8 *v) {
#ifdef __AVX512F__
    return _mm512_test_epi64_mask((__m512i)*v, (__m512i)*v) != 0;
#else
    return ((*v)[0] | (*v)[1] | (*v)[2] | (*v)[3] | (*v)[4] | (*v)[5] | (*v)[6] | (*v)[7]) != 0;
#endif
}

/* Base addresses of eight lanes. */
static inline void base_of(const void *base, unsigned bytes, int part, lanes8 *out) {
    if (bytes == 4) {
#ifdef __AVX512F__
        *out = (lanes8)_mm512_cvtepu32_epi64(_mm256_loadu_si256((const __m256i *)base + part));
#else
        for (int l = 0; l < 8; l++)
            (*out)[l] = ((const uint32_t *)base)[8 * part + l];
#endif
    } else {
        memcpy(out, (const lanes8 *)base + part, sizeof *out);
    }
}

/* Addresses from base registers of `bytes` bytes (those of 32 bits wrap at 32 bits), and their shape for accesses of
 * 2^shift bytes. Lanes that do not execute get the address of the first that does, so that checks need not look at the
 * mask. Inlined for each kind of register and mask. */
static inline __attribute__((always_inline)) enum shape addresses(const void *base, unsigned bytes, uint64_t offset,
                                                                  lanemask_t m, unsigned shift, uint64_t *addr) {
    int lane = __builtin_ctz(m);
    uint64_t wrap = bytes == 4 ? UINT32_MAX : UINT64_MAX;
    uint64_t start = bytes == 4 ? ((const uint32_t *)base)[lane] : ((const uint64_t *)base)[lane];
    lanes8 first = ((start + offset) & wrap) - (lanes8){0}, differs = {0}, gaps = {0};
    for (int i = 0; i < PARTS; i++) {
        lanes8 at;
        base_of(base, bytes, i, &at);
        at = (at + offset) & wrap;
        if (m != LANES_ALL) {
            lanes8 active = -((m >> lane_number[i]) & 1);
            at = (at & active) | (first & ~active);
        }
        memcpy(addr + 8 * i, &at, sizeof at);
        lanes8 from_first = at - first;
        differs |= from_first;
        gaps |= from_first ^ (lane_number[i] << shift);
    }
    if (m == LANES_ALL && !any_bits(&gaps))
        return SHAPE_UNIT;
    return any_bits(&differs) ? SHAPE_ANY : SHAPE_UNIFORM;
}

static inline __attribute__((always_inline)) enum shape
all_addresses(const struct warp *w, const struct inst *in, lanemask_t m, struct effects *fx, unsigned n_elems) {
    fx->n_elems = (uint8_t)n_elems;
    fx->msize = in->msize;
    fx->space = in->space;
    fx->shared_lanes = fx->local_lanes = 0;
    unsigned shift = (unsigned)__builtin_ctz(elems_bytes(in, n_elems));
    const void *base = reg_ptr(w, in->a);
    uint64_t offset = (uint64_t)in->imm;
    if (in->asize == 4)
        return m == LANES_ALL ? addresses(base, 4, offset, LANES_ALL, shift, fx->addr)
                              : addresses(base, 4, offset, m, shift, fx->addr);
    return m == LANES_ALL ? addresses(base, 8, offset, LANES_ALL, shift, fx->addr)
                          : addresses(base, 8, offset, m, shift, fx->addr);
}

enum shape mem_addresses(const struct warp *w, const struct inst *in, lanemask_t m, struct effects *fx,
                         unsigned n_elems) {
    return all_addresses(w, in, m, fx, n_elems);
}

/* Do accesses of `bytes` bytes at all addresses lie in [begin, begin + size), aligned? The top bit of
 * (offset | limit - offset) is set exactly when offset > limit, for limits below 2^63. */
static bool check_all(const uint64_t *addr, enum shape shape, uint64_t begin, uint64_t size, unsigned bytes) {
    if (size < bytes)
        return false;
    uint64_t limit = size - bytes, outside = 0, bits = 0;
    if (shape != SHAPE_ANY) {
        uint64_t first = addr[0] - begin, span = shape == SHAPE_UNIT ? (uint64_t)bytes * (WARP_LANES - 1) : 0;
        return first <= limit && span <= limit - first && !(addr[0] & (bytes - 1));
    }
    for (int l = 0; l < WARP_LANES; l++) {
        uint64_t offset = addr[l] - begin;
        outside |= offset | (limit - offset);
        bits |= addr[l];
    }
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

bool mem_span(struct warp *w, const struct inst *in, lanemask_t m, struct effects *fx, unsigned n_elems, bool write,
              struct span *out) {
    out->shape = all_addresses(w, in, m, fx, n_elems);
    unsigned bytes = elems_bytes(in, fx->n_elems);
    uint64_t *addr = fx->addr, begin = 0, size;
    enum space s = in->space;
    if (s == SPACE_GENERIC)
        s = mem_space(addr[0]);
    uint64_t window = in->space == SPACE_GENERIC ? mem_window(s) : 0;
    unsigned char *host;
    bool device = s == SPACE_GLOBAL || s == SPACE_CONST;
    if (device) {
        const struct memory *mem = w->cta->launch->memory;
        uint32_t *hint = &w->inst_hint[(uintptr_t)in / sizeof *in % (sizeof w->inst_hint / sizeof w->inst_hint[0])];
        const struct allocation *a = &mem->list[*hint];
        if (*hint >= mem->n || !a->live || addr[0] - a->begin >= a->end - a->begin)
            a = mem_find(mem, addr[0], bytes, hint);
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
    if (!check_all(addr, out->shape, begin, size, bytes))
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
