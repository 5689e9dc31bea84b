/* Loads, stores, prefetches, and instructions that compute addresses. */
#ifndef ROWS_FILE /* see isa/rows.h */
#include "exec_span.h"
#include "isa/machine/blend.h"
#include "isa/rows.h"
#include "isa/walk.h"

/* Host memory may be less aligned than the simulated address (kernel parameters). */
#define UNALIGNED __attribute__((aligned(1), may_alias))
typedef uint8_t mem_u8;
typedef int8_t mem_s8;
typedef uint16_t UNALIGNED mem_u16;
typedef int16_t UNALIGNED mem_s16;
typedef uint32_t UNALIGNED mem_u32;
typedef int32_t UNALIGNED mem_s32;
typedef uint64_t UNALIGNED mem_u64;
typedef unsigned __int128 UNALIGNED mem_b128;

enum { FEW_LANES = 8, HALF = WARP_LANES / 2 }; /* if at most FEW_LANES lanes execute, they are loaded one by one */

/* Defines functions that load element `e` of `n`, from memory of type MT to registers of type RT. One function loads
 * all lanes; the other loads a subset of the lanes (in local memory, each lane has its own address). */
#define LOADER(name, MT, RT)                                                                                           \
    static inline void name##_all(RT *d, const struct span *s, const uint64_t *addr, unsigned e, unsigned n) {         \
        const uintptr_t base = s->base + e * sizeof(MT);                                                               \
        if (s->shape == SHAPE_UNIT && n == 1 && sizeof(MT) == sizeof(RT)) {                                            \
            vec_copy(d, (const void *)(base + s->first[0]), HALF * sizeof(RT));                                        \
            vec_copy(d + HALF, (const void *)(base + s->first[1]), HALF * sizeof(RT));                                 \
            __builtin_prefetch((const void *)(base + s->first[0] + WARP_LANES * sizeof(RT))); /* for the next warp */  \
            __builtin_prefetch((const void *)(base + s->first[1] + WARP_LANES * sizeof(RT)));                          \
        } else if (s->shape == SHAPE_UNIFORM) {                                                                        \
            const RT v[2] = {(RT) * (const MT *)(base + s->first[0]), (RT) * (const MT *)(base + s->first[1])};        \
            vec_fill(d, &v[0], HALF, sizeof(RT));                                                                      \
            vec_fill(d + HALF, &v[1], HALF, sizeof(RT));                                                               \
        } else {                                                                                                       \
            for (unsigned l = 0; l < WARP_LANES; l++)                                                                  \
                d[l] = (RT) * (const MT *)(base + addr[l]);                                                            \
        }                                                                                                              \
    }                                                                                                                  \
    static __attribute__((noinline)) void name##_some(RT *d, const struct span *s, const uint64_t *addr, unsigned e,   \
                                                      unsigned n, rowmask_t m) {                                       \
        const uintptr_t base = s->base + e * sizeof(MT);                                                               \
        const bool few = s->shape == SHAPE_ANY ? __builtin_popcount(m) <= FEW_LANES : !(m & (m - 1));                  \
        if (few || s->lane_step) {                                                                                     \
            for (; m; m &= m - 1) {                                                                                    \
                unsigned l = (unsigned)__builtin_ctz(m);                                                               \
                d[l] = (RT) * (const MT *)(base + addr[l] + l * s->lane_step);                                         \
            }                                                                                                          \
            return;                                                                                                    \
        }                                                                                                              \
        RT all[WARP_LANES]; /* safe: an idle lane has the address of an executing lane */                              \
        name##_all(all, s, addr, e, n);                                                                                \
        blend_elems(d, all, m, WARP_LANES, sizeof *d);                                                                 \
    }                                                                                                                  \
    static inline void name(RT *d, const struct span *s, const uint64_t *addr, unsigned e, unsigned n, rowmask_t m) {  \
        if (m != LANES_ALL || s->lane_step)                                                                            \
            name##_some(d, s, addr, e, n, m);                                                                          \
        else                                                                                                           \
            name##_all(d, s, addr, e, n);                                                                              \
    }
/* Stores the register's low part to memory. Lanes store in ascending order: the last store to an address remains. */
#define STORER(name, MT, RT)                                                                                           \
    static void name(const RT *restrict from, const struct span *s, const uint64_t *restrict addr, unsigned e,         \
                     unsigned n, rowmask_t m) {                                                                        \
        const uintptr_t base = s->base + e * sizeof(MT);                                                               \
        if (m == LANES_ALL && s->shape == SHAPE_UNIT && n == 1 && sizeof(MT) == sizeof(RT)) {                          \
            vec_copy((void *)(base + s->first[0]), from, HALF * sizeof(RT));                                           \
            vec_copy((void *)(base + s->first[1]), from + HALF, HALF * sizeof(RT));                                    \
        } else if (m == LANES_ALL && !s->lane_step) {                                                                  \
            for (unsigned l = 0; l < WARP_LANES; l++)                                                                  \
                *(MT *)(base + addr[l]) = (MT)from[l];                                                                 \
        } else {                                                                                                       \
            for (; m; m &= m - 1) {                                                                                    \
                unsigned l = (unsigned)__builtin_ctz(m);                                                               \
                *(MT *)(base + addr[l] + l * s->lane_step) = (MT)from[l];                                              \
            }                                                                                                          \
        }                                                                                                              \
    }

/* clang-format off */
/* X(memory bytes, register bytes, signed, memory type, register type) */
#define LOADS(X)                                                                                                       \
    X(1, 1, 0, mem_u8, uint8_t)                                                                                        \
    X(1, 2, 0, mem_u8, uint16_t) X(1, 4, 0, mem_u8, uint32_t) X(1, 8, 0, mem_u8, uint64_t)                             \
    X(1, 2, 1, mem_s8, uint16_t) X(1, 4, 1, mem_s8, uint32_t) X(1, 8, 1, mem_s8, uint64_t)                             \
    X(2, 2, 0, mem_u16, uint16_t) X(2, 4, 0, mem_u16, uint32_t) X(2, 8, 0, mem_u16, uint64_t)                          \
    X(2, 4, 1, mem_s16, uint32_t) X(2, 8, 1, mem_s16, uint64_t)                                                        \
    X(4, 4, 0, mem_u32, uint32_t) X(4, 8, 0, mem_u32, uint64_t) X(4, 8, 1, mem_s32, uint64_t)                          \
    X(8, 8, 0, mem_u64, uint64_t) X(16, 16, 0, mem_b128, unsigned __int128)
#define STORES(X)                                                                                                      \
    X(1, 1, mem_u8, uint8_t) X(1, 2, mem_u8, uint16_t) X(1, 4, mem_u8, uint32_t) X(1, 8, mem_u8, uint64_t)             \
    X(2, 2, mem_u16, uint16_t) X(2, 4, mem_u16, uint32_t) X(2, 8, mem_u16, uint64_t)                                   \
    X(4, 4, mem_u32, uint32_t) X(4, 8, mem_u32, uint64_t) X(8, 8, mem_u64, uint64_t)                                   \
    X(16, 16, mem_b128, unsigned __int128)
/* clang-format on */

#define X(mb, rb, sg, MT, RT) LOADER(load_##mb##_##rb##_##sg, MT, RT)
LOADS(X)
#undef X
#define X(mb, rb, MT, RT) STORER(store_##mb##_##rb, MT, RT)
STORES(X)
#undef X

enum { WIDTH_KEY = 32 }; /* factor in KEY(): greater than the bytes of any register */
#define KEY(mb, rb, sg) (((mb)*WIDTH_KEY + (rb)) * 2 + (sg))

static void load_elem(const struct inst *in, void *d, const struct span *s, const uint64_t *addr, unsigned e,
                      unsigned n, rowmask_t m) {
    switch (KEY(in->msize, in->rsize, in->is_signed && in->rsize > in->msize)) {
#define X(mb, rb, sg, MT, RT)                                                                                          \
    case KEY(mb, rb, sg):                                                                                              \
        load_##mb##_##rb##_##sg(d, s, addr, e, n, m);                                                                  \
        break;
        LOADS(X)
#undef X
    }
}

static void store_elem(const struct inst *in, const void *from, const struct span *s, const uint64_t *addr, unsigned e,
                       unsigned n, rowmask_t m) {
    switch (KEY(in->msize, in->rsize, 0)) {
#define X(mb, rb, MT, RT)                                                                                              \
    case KEY(mb, rb, 0):                                                                                               \
        store_##mb##_##rb(from, s, addr, e, n, m);                                                                     \
        break;
        STORES(X)
#undef X
    }
}

/* Returns the register of element e. */
static inline unsigned char *elem_reg(const struct warp *w, const struct inst *in, opnd_t single, unsigned e) {
    return reg_ptr(w, in->n_list ? w->program->lists[in->list + e] : single);
}

enum { MAX_BYTES = 64 }; /* maximum number of bytes that a lane loads or stores at once */

/* Returns true if the warp's ordinary stores to device memory are delayed (held.h). */
static inline bool holds(const struct warp *w) { return w->cta->held && !w->cta->held->off; }
static inline bool has_held(const struct warp *w) { return w->cta->held && w->cta->held->used; }

/* Returns true if all 32 lanes access adjacent elements, in lane order. */
static inline bool in_a_row(const struct span *s, rowmask_t m, unsigned bytes) {
    return s->shape == SHAPE_UNIT && m == LANES_ALL && s->first[1] - s->first[0] == HALF * bytes;
}

/* Adds a store to device memory to the held stores (held.h), with the data packed by lane. Returns false if host memory
 * runs out. */
static bool hold(struct warp *w, const struct inst *in, const struct span *s, const uint64_t *addr, rowmask_t m) {
    unsigned n = inst_elements(in), bytes = elems_bytes(in, n);
    bool unit = in_a_row(s, m, bytes);
    unsigned char *data = held_add(w->cta->held, s->base, addr, unit, m, bytes);
    if (!data)
        return false;
    uint64_t at[WARP_LANES];
    if (n > 1 || in->msize != in->rsize)
        for (unsigned l = 0; l < WARP_LANES; l++)
            at[l] = (uint64_t)l * bytes;
    const struct span packed = {.base = (uintptr_t)data, .first = {0, HALF * bytes}, .shape = SHAPE_UNIT};
    for (unsigned e = 0; e < n; e++) /* lanes that do not store also have space in the record */
        store_elem(in, elem_reg(w, in, in->b, e), &packed, at, e, n, LANES_ALL);
    return true;
}

/* Loads from device memory for one lane, and applies the held stores to the loaded bytes. */
static void load_held(struct warp *w, const struct inst *in, const unsigned char *host, uint64_t addr[], int lane) {
    unsigned n = inst_elements(in);
    _Alignas(16) unsigned char copy[MAX_BYTES];
    held_read(w->cta->held, host, copy, elems_bytes(in, n));
    struct span one = {.base = (uintptr_t)copy - addr[lane], .shape = SHAPE_ANY};
    for (unsigned e = 0; e < n; e++)
        load_elem(in, elem_reg(w, in, in->d, e), &one, addr, e, n, 1u << lane);
}

static enum space lane_space(const struct inst *in, const struct effects *fx, int lane) {
    return in->space == SPACE_GENERIC ? mem_space(fx->addr[lane]) : in->space;
}

/* ---- local memory by words ---- */

/* Byte offsets in a packed array: the element of lane l, of `size` bytes, is at l * size. */
#define STEPS(size)                                                                                                    \
    {                                                                                                                  \
        0, size, 2 * size, 3 * size, 4 * size, 5 * size, 6 * size, 7 * size, 8 * size, 9 * size, 10 * size, 11 * size, \
            12 * size, 13 * size, 14 * size, 15 * size, 16 * size, 17 * size, 18 * size, 19 * size, 20 * size,         \
            21 * size, 22 * size, 23 * size, 24 * size, 25 * size, 26 * size, 27 * size, 28 * size, 29 * size,         \
            30 * size, 31 * size                                                                                       \
    }
static const uint64_t packed_at[5][WARP_LANES] = {STEPS(1), STEPS(2), STEPS(4), STEPS(8), STEPS(16)};
#undef STEPS

/* Reads or writes `bytes` aligned bytes of a lane. */
static inline void word_read(const struct warp *w, unsigned lane, uint64_t at, unsigned char *to, unsigned bytes) {
    for (unsigned i = 0; i < bytes; i += 4)
        memcpy(to + i, warp_local(w, lane, at + i), bytes < 4 ? bytes : 4);
}
static inline void word_write(const struct warp *w, unsigned lane, uint64_t at, const unsigned char *from,
                              unsigned bytes) {
    for (unsigned i = 0; i < bytes; i += 4)
        memcpy(warp_local(w, lane, at + i), from + i, bytes < 4 ? bytes : 4);
}

/* Returns the address of word `at` / 4 of lane 0. The words of the other lanes follow. */
static inline uint32_t *word_row(const struct warp *w, uint64_t at) {
    return (uint32_t *)(void *)warp_local(w, 0, at & ~(uint64_t)3);
}

/* Loads an element for all lanes. `at` is the element's address in each lane's local memory. */
static void load_word_elem(const struct warp *w, const struct inst *in, void *d, const uint64_t *at, bool uniform,
                           rowmask_t m) {
    _Alignas(64) unsigned char packed[WARP_LANES * 16];
    const unsigned size = in->msize;
    if (uniform && size == 4 && in->rsize == 4) {
        blend_elems(d, word_row(w, at[0]), m, WARP_LANES, 4);
    } else if (uniform && size == 8) {
        const uint32_t *low = word_row(w, at[0]), *high = word_row(w, at[0] + 4);
        uint64_t *v = (uint64_t *)(void *)packed;
        LANES(l) v[l] = low[l] | (uint64_t)high[l] << 32;
        blend_elems(d, v, m, WARP_LANES, 8);
    } else {
        const unsigned step = (unsigned)__builtin_ctz(size);
        const struct span s = {.base = (uintptr_t)packed, .shape = SHAPE_ANY};
        for (rowmask_t left = m; left; left &= left - 1) {
            unsigned l = (unsigned)__builtin_ctz(left);
            word_read(w, l, at[l], packed + l * size, size);
        }
        load_elem(in, d, &s, packed_at[step], 0, 1, m);
    }
}

static void store_word_elem(const struct warp *w, const struct inst *in, const void *from, const uint64_t *at,
                            bool uniform, rowmask_t m) {
    _Alignas(64) unsigned char packed[WARP_LANES * 16];
    const unsigned size = in->msize;
    if (uniform && size == 4 && in->rsize == 4) {
        blend_elems(word_row(w, at[0]), from, m, WARP_LANES, 4);
    } else if (uniform && size == 8) {
        const uint64_t *v = from;
        uint32_t *low = (uint32_t *)(void *)packed, *high = low + WARP_LANES;
        LANES(l) {
            low[l] = (uint32_t)v[l];
            high[l] = (uint32_t)(v[l] >> 32);
        }
        blend_elems(word_row(w, at[0]), low, m, WARP_LANES, 4);
        blend_elems(word_row(w, at[0] + 4), high, m, WARP_LANES, 4);
    } else {
        const unsigned step = (unsigned)__builtin_ctz(size);
        const struct span s = {.base = (uintptr_t)packed, .shape = SHAPE_ANY};
        store_elem(in, from, &s, packed_at[step], 0, 1, m);
        for (; m; m &= m - 1) {
            unsigned l = (unsigned)__builtin_ctz(m);
            word_write(w, l, at[l], packed + l * size, size);
        }
    }
}

static __attribute__((noinline)) void access_words(const struct warp *w, const struct inst *in, rowmask_t m,
                                                   const struct effects *fx, bool uniform, bool write) {
    const unsigned n = inst_elements(in);
    uint64_t at[WARP_LANES];
    for (unsigned e = 0; e < n; e++) {
        for (unsigned l = 0; l < WARP_LANES; l++)
            at[l] = fx->addr[l] + e * in->msize;
        if (write)
            store_word_elem(w, in, elem_reg(w, in, in->b, e), at, uniform, m);
        else
            load_word_elem(w, in, elem_reg(w, in, in->d, e), at, uniform, m);
    }
}

/* ---- lane by lane ---- */

/* Executes the access one lane at a time, because the lanes' addresses are not all in one allocation. Each lane gets
 * its own span. */
static __attribute__((noinline)) void by_lane(struct warp *w, const struct inst *in, rowmask_t m, struct effects *fx,
                                              bool write) {
    unsigned n = inst_elements(in);
    mem_lanes_begin(in, fx);
    for (; m; m &= m - 1) {
        int lane = __builtin_ctz(m);
        enum space space = lane_space(in, fx, lane);
        bool device = space == SPACE_GLOBAL;
        unsigned char *host = mem_lane(w, in, fx, lane, write);
        if (!host)
            return;
        if (space == SPACE_LOCAL && !w->local_stride) {
            access_words(w, in, 1u << lane, fx, false, write);
            continue;
        }
        struct span one = {.base = (uintptr_t)host - fx->addr[lane], .shape = SHAPE_ANY};
        if (device && write && holds(w) && hold(w, in, &one, fx->addr, 1u << lane))
            continue;
        if (device && !write && has_held(w)) {
            load_held(w, in, host, fx->addr, lane);
            continue;
        }
        for (unsigned e = 0; e < n; e++) {
            if (write)
                store_elem(in, elem_reg(w, in, in->b, e), &one, fx->addr, e, n, 1u << lane);
            else
                load_elem(in, elem_reg(w, in, in->d, e), &one, fx->addr, e, n, 1u << lane);
        }
    }
}

/* Loads the elements of an instruction from the span `s`. This function is not inline, since most instructions do not
 * call it. */
static __attribute__((noinline)) void load_span(struct warp *w, const struct inst *in, rowmask_t m,
                                                const struct effects *fx, const struct span *s) {
    const unsigned n = inst_elements(in);
    if (s->words) {
        access_words(w, in, m, fx, s->shape == SHAPE_UNIFORM, false);
        return;
    }
    for (unsigned e = 0; e < n; e++)
        load_elem(in, elem_reg(w, in, in->d, e), s, fx->addr, e, n, m);
}

static __attribute__((noinline)) bool load_if_held(struct warp *w, const struct inst *in, rowmask_t m,
                                                   struct effects *fx, const struct span *s) {
    const unsigned bytes = elems_bytes(in, inst_elements(in));
    if (!held_touches(w->cta->held, s->base, fx->addr, in_a_row(s, m, bytes), m, bytes))
        return false;
    for (; m; m &= m - 1) {
        int lane = __builtin_ctz(m);
        load_held(w, in, (const unsigned char *)s->base + fx->addr[lane], fx->addr, lane);
    }
    return true;
}

static __attribute__((noinline)) void store_span(struct warp *w, const struct inst *in, rowmask_t m,
                                                 const struct effects *fx, const struct span *s) {
    if (holds(w) && fx->space == SPACE_GLOBAL && hold(w, in, s, fx->addr, m))
        return;
    const unsigned n = inst_elements(in);
    if (s->words) {
        access_words(w, in, m, fx, s->shape == SHAPE_UNIFORM, true);
        return;
    }
    for (unsigned e = 0; e < n; e++)
        store_elem(in, elem_reg(w, in, in->b, e), s, fx->addr, e, n, m);
}

static __attribute__((noinline)) void load_any(struct warp *w, const struct inst *in, rowmask_t m, struct effects *fx) {
    struct span s;
    if (!span_find(w, in, m, fx, inst_elements(in), in->msize, false, &s))
        by_lane(w, in, m, fx, false);
    else if (!has_held(w) || fx->space != SPACE_GLOBAL || !load_if_held(w, in, m, fx, &s))
        load_span(w, in, m, fx, &s);
}

/* Executes ld. Nearly all loads are 32-bit loads of full warps, so these have a fast path. */
static void exec_ld(struct warp *w, const struct inst *in, rowmask_t m, struct effects *fx) {
    struct span s;
    if (m != LANES_ALL || in->n_list || in->msize != 4 || in->rsize != 4)
        load_any(w, in, m, fx);
    else if (!span_find(w, in, LANES_ALL, fx, 1, 4, false, &s))
        by_lane(w, in, m, fx, false);
    else if (s.lane_step | s.words)
        load_span(w, in, m, fx, &s);
    else if (!has_held(w) || fx->space != SPACE_GLOBAL || !load_if_held(w, in, m, fx, &s))
        load_4_4_0_all(reg_out(w, in->d), &s, fx->addr, 0, 1);
}

/* Checks that every lane's address has a record (struct walk_record), and that the list to which the record points is
 * in one allocation. So the walk unit can read the lists without checks. Otherwise sets a fault and returns false. */
static bool has_lists(struct warp *w, rowmask_t m, struct effects *fx) {
    const struct memory *mem = w->cta->launch->memory;
    for (; m; m &= m - 1) {
        int l = __builtin_ctz(m);
        uint64_t n = 0;
        struct walk_record r;
        if (!mem_read(mem, fx->addr[l], &r, sizeof r)) {
            mem_fault(fx, FAULT_OUT_OF_BOUNDS, l, SPACE_GLOBAL, fx->addr[l], sizeof r);
            return false;
        }
        if (r.list % sizeof n || !mem_read(mem, r.list, &n, sizeof n) || n > UINT32_MAX ||
            !mem_find(mem, r.list, (n + 1) * sizeof n, NULL)) {
            fx_fault_text(fx, FAULT_OUT_OF_BOUNDS, l, "the record of heddle.walk at 0x%llx has no list",
                          (unsigned long long)fx->addr[l]);
            return false;
        }
    }
    return true;
}

static void exec_walk(struct warp *w, const struct inst *in, rowmask_t m, struct effects *fx) {
    mem_addresses(w, in, m, fx, inst_elements(in));
    if (has_lists(w, m, fx))
        exec_ld(w, in, m, fx);
}

static void exec_st(struct warp *w, const struct inst *in, rowmask_t m, struct effects *fx) {
    struct span s;
    if (span_find(w, in, m, fx, inst_elements(in), in->msize, true, &s))
        store_span(w, in, m, fx, &s);
    else
        by_lane(w, in, m, fx, true);
}

/* Computes addresses and never faults. Addresses outside allocations, in shared memory and in parameters are not
 * prefetched. */
static void exec_prefetch(struct warp *w, const struct inst *in, rowmask_t m, struct effects *fx) {
    mem_addresses(w, in, m, fx, 1);
    fx->fetched = 0;
    for (; m; m &= m - 1) {
        int l = __builtin_ctz(m);
        enum space s = in->space == SPACE_GENERIC ? mem_space(fx->addr[l]) : in->space;
        if (in->space == SPACE_GENERIC)
            fx->addr[l] -= mem_window(s);
        bool local = s == SPACE_LOCAL && fx->addr[l] < w->local_bytes;
        bool device = s == SPACE_GLOBAL && mem_find(w->cta->launch->memory, fx->addr[l], 1, &w->alloc_hint);
        fx->fetched |= (rowmask_t)(local || device) << l;
        fx->local_lanes |= (rowmask_t)local << l;
    }
}

/* Hints about a line of the L2 are not modelled: the instruction issues and moves no line. */
static void exec_advice(struct warp *w, const struct inst *in, rowmask_t m, struct effects *fx) {
    mem_addresses(w, in, m, fx, 1);
    fx->fetched = 0;
}

/* Returns true if a generic address is in the space `wanted`, for isspacep. Constant variables are in device memory, in
 * allocations of their own. An address in another CTA's shared memory is in .shared::cluster only. */
static bool in_space(const struct warp *w, const struct inst *in, enum space wanted, uint64_t address) {
    enum space s = mem_space(address);
    if (s == SPACE_SHARED && wanted == SPACE_SHARED) {
        const uint32_t rank = cluster_rank_at(w->cta, address - SHARED_WINDOW);
        return rank < w->cta->cluster->n && (in->imm || rank == w->cta->rank);
    }
    if (s != SPACE_GLOBAL)
        return s == wanted;
    const struct allocation *a = mem_owner(w->cta->launch->memory, address);
    return (a && a->constant ? SPACE_CONST : SPACE_GLOBAL) == wanted && address >= DEVICE_BASE;
}

static void isspacep(struct warp *w, const struct inst *in, rowmask_t m, enum space wanted) {
    const unsigned char *a = reg_ptr(w, in->a);
    rowmask_t yes = 0;
    for (rowmask_t left = m; left; left &= left - 1) {
        int l = __builtin_ctz(left);
        uint64_t at = 0;
        unsigned size = in->asize == 4 ? 4 : 8;
        memcpy(&at, a + (size_t)l * size, size);
        yes |= (rowmask_t)in_space(w, in, wanted, at) << l;
    }
    blend_lanes(reg_ptr(w, in->d), &yes, m, 0);
}

#define ISSPACEP(name, SPACE)                                                                                          \
    static void name(struct warp *w, const struct inst *in, rowmask_t m, struct effects *fx) {                         \
        (void)fx;                                                                                                      \
        isspacep(w, in, m, SPACE);                                                                                     \
    }
ISSPACEP(isspacep_global, SPACE_GLOBAL)
ISSPACEP(isspacep_shared, SPACE_SHARED)
ISSPACEP(isspacep_local, SPACE_LOCAL)
ISSPACEP(isspacep_const, SPACE_CONST)
ISSPACEP(isspacep_param, SPACE_PARAM)

#define LD_ROW(T) WARP_FN(LD, T1(T), 0, LOAD, MEM, NO_OPDS, exec_ld) WARP_FN(LDU, T1(T), 0, LOAD, MEM, NO_OPDS, exec_ld)
#define ST_ROW(T) WARP_FN(ST, T1(T), 0, STORE, MEM, NO_OPDS, exec_st)
#define CVTA_ROWS(name, SP, window)                                                                                    \
    LANE(cvta_##name##_u64, CVTA, T1(U64), FORM(SPACE, SP), INT_ADD, DA(U64, U64), d = a + window)                     \
    LANE(cvta_##name##_u32, CVTA, T1(U32), FORM(SPACE, SP), INT_ADD, DA(U32, U32), d = a + (uint32_t)window)           \
    LANE(cvta_to_##name##_u64, CVTA, T1(U64), FORM(SPACE, SP) | FLAG(TO), INT_ADD, DA(U64, U64), d = a - window)       \
    LANE(cvta_to_##name##_u32, CVTA, T1(U32), FORM(SPACE, SP) | FLAG(TO), INT_ADD, DA(U32, U32),                       \
         d = a - (uint32_t)window)

/* getctarank: the rank of the CTA whose shared memory contains the address, generic or not. */
#define GETCTARANK_FN(name, T)                                                                                         \
    static void getctarank_##name(struct warp *w, const struct inst *in, rowmask_t m, struct effects *fx) {            \
        const T *a = reg_ptr(w, in->a);                                                                                \
        uint32_t rank[WARP_LANES];                                                                                     \
        (void)fx;                                                                                                      \
        for (unsigned l = 0; l < WARP_LANES; l++)                                                                      \
            rank[l] = cluster_rank_at(w->cta, a[l] % SHARED_WINDOW);                                                   \
        blend_lanes(reg_ptr(w, in->d), rank, m, sizeof rank[0]);                                                       \
    }
GETCTARANK_FN(u32, uint32_t)
GETCTARANK_FN(u64, uint64_t)

/* mapa replaces the rank in an address (machine/cluster.h). It handles generic and shared addresses alike, because the
 * window of generic addresses is aligned to its own size. */
#define MAPA_ROWS(name, T)                                                                                             \
    LANE(mapa_##name, MAPA, T1(T), 0, INT_ADD, DAB(T, T, U32), d = WITH_RANK(a, b))                                    \
    WARP_FN(GETCTARANK, T1(T), 0, WARP, INT_ADD, OPDS(U32, NONE, T, NONE, NONE, NONE), getctarank_##name)
#define WITH_RANK(a, b)                                                                                                \
    (((a) & ~(__typeof__(a))(SHARED_WINDOW - 1)) | ((a) & (__typeof__(a))(CLUSTER_STEP - 1))) +                        \
        (__typeof__(a))cluster_address(b, 0)

#define ROWS_FILE "isa/exec/exec_mem.c"
#define ROWS_NAME mem
#include "isa/rows_expand.h"
#else
/* clang-format off */
/* Rows of loads, stores, prefetches, and conversions of addresses to and from generic. */
LD_ROW(U8)
LD_ROW(U16)
LD_ROW(U32)
LD_ROW(U64)
LD_ROW(S8)
LD_ROW(S16)
LD_ROW(S32)
LD_ROW(S64)
LD_ROW(B8)
LD_ROW(B16)
LD_ROW(B32)
LD_ROW(B64)
LD_ROW(B128)
LD_ROW(F32)
LD_ROW(F64)
WARP_FN(HEDDLE, T1(B32), FORM(MODE, WALK) | FORM(SPACE, GLOBAL) | FORM(VEC, V2), LOAD, MEM, NO_OPDS, exec_walk)
ST_ROW(U8)
ST_ROW(U16)
ST_ROW(U32)
ST_ROW(U64)
ST_ROW(S8)
ST_ROW(S16)
ST_ROW(S32)
ST_ROW(S64)
ST_ROW(B8)
ST_ROW(B16)
ST_ROW(B32)
ST_ROW(B64)
ST_ROW(B128)
ST_ROW(F32)
ST_ROW(F64)
WARP_FN(PREFETCH, T0, 0, PREFETCH, MEM, NO_OPDS, exec_prefetch)
WARP_FN(PREFETCHU, T0, 0, PREFETCH, MEM, NO_OPDS, exec_prefetch)
WARP_FN(APPLYPRIORITY, T0, 0, PREFETCH, MEM, NO_OPDS, exec_advice)
NOTHING(CREATEPOLICY, T1(B64), 0, NOP, INT_OTHER, NO_OPDS, )
WARP_FN(DISCARD, T0, 0, PREFETCH, MEM, NO_OPDS, exec_advice)
CVTA_ROWS(global, GLOBAL, 0)
CVTA_ROWS(shared, SHARED, SHARED_WINDOW)
CVTA_ROWS(local, LOCAL, LOCAL_WINDOW)
CVTA_ROWS(const, CONST, 0)
CVTA_ROWS(param, PARAM, PARAM_WINDOW)
WARP_FN(ISSPACEP, T0, FORM(SPACE, GLOBAL), WARP, INT_ADD, OPDS(PRED, NONE, U64, NONE, NONE, NONE), isspacep_global)
WARP_FN(ISSPACEP, T0, FORM(SPACE, SHARED), WARP, INT_ADD, OPDS(PRED, NONE, U64, NONE, NONE, NONE), isspacep_shared)
WARP_FN(ISSPACEP, T0, FORM(SPACE, LOCAL), WARP, INT_ADD, OPDS(PRED, NONE, U64, NONE, NONE, NONE), isspacep_local)
WARP_FN(ISSPACEP, T0, FORM(SPACE, CONST), WARP, INT_ADD, OPDS(PRED, NONE, U64, NONE, NONE, NONE), isspacep_const)
WARP_FN(ISSPACEP, T0, FORM(SPACE, PARAM), WARP, INT_ADD, OPDS(PRED, NONE, U64, NONE, NONE, NONE), isspacep_param)
MAPA_ROWS(u32, U32)
MAPA_ROWS(u64, U64)
/* clang-format on */
#endif
