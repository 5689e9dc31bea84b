#ifndef ISA_EXEC_SPAN_H
#define ISA_EXEC_SPAN_H
/* Computes the addresses of loads and stores from registers, and finds the memory that they access (the fast path). The
 * functions are inline, since files that include them are compiled for each instruction-set level of the host
 * (isa/levels.h). exec_mem.h documents them. */
#include "exec_mem.h"
#include "isa/machine/lane_vectors.h"

/* ADDRESSES(name, T, V): computes addresses from base registers of type T (they wrap as T does) and returns their shape
 * for accesses of 2^shift bytes. The first executing lane of each half and the first two executing lanes of the warp
 * suggest a shape; one comparison per lane then confirms it. The function is inlined once for full masks and once for
 * partial masks. It sets `first` to the addresses of lanes 0 and 16, even if these lanes do not execute, except for
 * SHAPE_ANY. A half without an executing lane uses the address of the other half. */
#define ADDRESSES(name, T, V)                                                                                          \
    static inline __attribute__((always_inline)) enum shape name(const T *base, T offset, rowmask_t m, unsigned shift, \
                                                                 uint64_t *addr, uint64_t *first) {                    \
        enum { N = VEC_BYTES / sizeof(T) };                                                                            \
        static const T number[16] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};                            \
        const rowmask_t low = m & 0xffff, high = m >> 16, rest = m & (m - 1);                                          \
        const unsigned f = (unsigned)__builtin_ctz(m), g = rest ? (unsigned)__builtin_ctz(rest) : f,                   \
                       f0 = low ? (unsigned)__builtin_ctz(low) : f,                                                    \
                       f1 = high ? 16 + (unsigned)__builtin_ctz(high) : f;                                             \
        const bool unit = g != f && (T)(base[g] - base[f]) == (T)((T)(g - f) << shift);                                \
        const T follows = -(T)unit;                                                                                    \
        const T start[2] = {base[f0] + offset - ((T)(f0 & 15) << shift & follows),                                     \
                            base[f1] + offset - ((T)(f1 & 15) << shift & follows)};                                    \
        vec_##V steps, wrong = {0};                                                                                    \
        memcpy(&steps, number, sizeof steps);                                                                          \
        steps = steps << shift & follows;                                                                              \
        vec_##V expected = start[0] + steps;                                                                           \
        for (unsigned l = 0; l < WARP_LANES; l += N) {                                                                 \
            vec_##V at;                                                                                                \
            memcpy(&at, base + l, sizeof at);                                                                          \
            at += offset;                                                                                              \
            if (l == 16)                                                                                               \
                expected = start[1] + steps;                                                                           \
            vec_##V off = at ^ expected;                                                                               \
            if (m != LANES_ALL) {                                                                                      \
                const vec_lanes_##V active = vec_lanes_of_##V(m >> l);                                                 \
                const vec_##V idle = base[f] + offset - (vec_##V){0};                                                  \
                at = vec_select_##V(active, at, idle);                                                                 \
                off = vec_select_##V(active, off, (vec_##V){0});                                                       \
            }                                                                                                          \
            wrong |= off;                                                                                              \
            vec_put_##V(addr + l, &at);                                                                                \
            expected += ((T)N << shift) & follows;                                                                     \
        }                                                                                                              \
        first[0] = start[0];                                                                                           \
        first[1] = start[1];                                                                                           \
        return vec_any(&wrong) ? SHAPE_ANY : unit ? SHAPE_UNIT : SHAPE_UNIFORM;                                        \
    }
ADDRESSES(addresses_u32, uint32_t, u32)
ADDRESSES(addresses_u64, uint64_t, u64)
#undef ADDRESSES

static inline enum shape one_address(uint64_t at, uint64_t *addr, uint64_t *first) {
    vec_fill(addr, &at, WARP_LANES, sizeof at);
    first[0] = first[1] = at;
    return SHAPE_UNIFORM;
}

/* Computes the addresses of a warp in which not all lanes execute. The function is not inline, to keep the code for
 * full warps short. */
enum shape mem_some_addresses(const void *base, const struct inst *in, rowmask_t m, unsigned shift, uint64_t *addr,
                              uint64_t *first);

/* Computes addresses as mem_addresses() does. Also returns the first address of each half of the warp. */
static inline __attribute__((always_inline)) enum shape span_addresses(const struct warp *w, const struct inst *in,
                                                                       rowmask_t m, struct effects *fx,
                                                                       unsigned n_elems, unsigned msize,
                                                                       uint64_t *first) {
    const unsigned shift = (unsigned)__builtin_ctz(n_elems * msize);
    const void *base = reg_ptr(w, in->a);
    const uint64_t offset = (uint64_t)in->imm;
    fx->n_elems = (uint8_t)n_elems;
    fx->msize = (uint8_t)msize;
    fx->space = in->space;
    fx->shared_lanes = fx->local_lanes = 0;
    if (in->a & 1) { /* the base is a constant, as for parameters and variables */
        const uint64_t wide = in->asize == 4 ? 0 : *(const uint64_t *)base;
        return one_address(in->asize == 4 ? *(const uint32_t *)base + (uint32_t)offset : wide + offset, fx->addr,
                           first);
    }
    if (m != LANES_ALL)
        return mem_some_addresses(base, in, m, shift, fx->addr, first);
    return in->asize == 4 ? addresses_u32(base, (uint32_t)offset, LANES_ALL, shift, fx->addr, first)
                          : addresses_u64(base, offset, LANES_ALL, shift, fx->addr, first);
}

/* Returns true if accesses of `bytes` bytes at all addresses are aligned and in [begin, begin + size). The top bit of
 * (offset | limit - offset) is set exactly if offset > limit, for limits below 2^63. */
static inline bool all_inside(const uint64_t *addr, uint64_t begin, uint64_t size, unsigned bytes) {
    const uint64_t limit = size - bytes;
    uint64_t outside = 0, bits = 0;
    for (int l = 0; l < WARP_LANES; l++) {
        const uint64_t offset = addr[l] - begin;
        outside |= offset | (limit - offset);
        bits |= addr[l];
    }
    return size >= bytes && !(outside >> 63) && !(bits & (bytes - 1));
}

/* Checks as all_inside() does, for halves of a warp that access `extent` bytes each. */
static inline bool halves_inside(const uint64_t *first, uint64_t begin, uint64_t size, uint64_t extent,
                                 unsigned bytes) {
    const uint64_t limit = size - extent, at[2] = {first[0] - begin, first[1] - begin};
    return size >= extent && at[0] <= limit && at[1] <= limit && !((first[0] | first[1]) & (bytes - 1));
}

/* Returns the allocation that contains a device address. Returns NULL if there is none, or if `write` is set and the
 * allocation is read-only. */
static inline const struct allocation *device_place(struct warp *w, const struct inst *in, uint64_t address,
                                                    unsigned bytes, bool write) {
    const struct memory *mem = w->cta->launch->memory;
    uint32_t *hint = &w->inst_hint[(uintptr_t)in / sizeof *in % (sizeof w->inst_hint / sizeof w->inst_hint[0])];
    const struct allocation *a = &mem->list[*hint];
    if (__builtin_expect(*hint >= mem->n || !a->live || address - a->begin >= a->end - a->begin, 0))
        a = mem_find(mem, address, bytes, hint);
    return !a || (write && a->read_only) ? NULL : a;
}

/* Works as mem_span(), for elements of `msize` bytes. */
static inline __attribute__((always_inline)) bool span_find(struct warp *w, const struct inst *in, rowmask_t m,
                                                            struct effects *fx, unsigned n_elems, unsigned msize,
                                                            bool write, struct span *out) {
    const unsigned bytes = n_elems * msize;
    uint64_t first[2];
    enum shape shape = span_addresses(w, in, m, fx, n_elems, msize, first);
    uint64_t *addr = fx->addr, begin = 0, size, window = 0;
    enum space s = in->space;
    if (__builtin_expect(s == SPACE_GENERIC, 0)) {
        s = mem_space(addr[0]);
        begin = window = mem_window(s);
        fx->space = s;
    }
    unsigned char *host;
    out->lane_step = 0;
    out->words = false;
    if (s == SPACE_SHARED) {
        fx->shared_lanes = m;
        host = w->cta->shared;
        size = w->cta->shared_bytes;
    } else if (s == SPACE_GLOBAL || s == SPACE_CONST) {
        const struct allocation *a = device_place(w, in, addr[0], bytes, write);
        if (!a)
            return false;
        begin = a->begin;
        size = a->end - begin;
        host = a->host;
        if (in->asize == 4 && a->end > UINT32_MAX && shape == SHAPE_UNIT)
            shape = SHAPE_ANY; /* an address could wrap around inside a half of the warp */
    } else if (s == SPACE_LOCAL) {
        fx->local_lanes = m;
        host = w->local;
        size = w->local_bytes;
        out->lane_step = w->local_stride;
        out->words = !w->local_stride;
        if (!out->words || shape != SHAPE_UNIFORM || first[0] != first[1])
            shape = SHAPE_ANY;
    } else {
        host = (unsigned char *)(uintptr_t)w->cta->launch->params;
        size = w->program->param_bytes;
        if (write)
            return false;
    }
    if (shape != SHAPE_ANY && !halves_inside(first, begin, size, shape == SHAPE_UNIT ? 16 * bytes : bytes, bytes))
        shape = SHAPE_ANY; /* lanes that do not execute may be outside the allocation */
    if (shape == SHAPE_ANY && !all_inside(addr, begin, size, bytes))
        return false;
    if (__builtin_expect(window != 0, 0))
        for (int l = 0; l < WARP_LANES; l++)
            addr[l] -= window;
    out->base = (uintptr_t)host + window - begin;
    fx->halves.first[0] = out->first[0] = first[0] - window;
    fx->halves.first[1] = out->first[1] = first[1] - window;
    out->shape = shape;
    fx->halves.shape = (uint8_t)(s == SPACE_LOCAL ? SHAPE_ANY : shape);
    return true;
}
#endif
