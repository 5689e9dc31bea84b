/* Allocates and starts a CTA with its warps, and computes special registers (warp.h). */
#include "warp.h"
#include "call.h"
#include "isa/arith.h"
#include "isa/tensor_memory.h"
#include "pending.h"
#include "shared_room.h"
#include <stdlib.h>
#include <string.h>

enum { SHARED_ALIGN = 16 };

uint32_t launch_shared_bytes(const struct launch *l) {
    uint64_t fixed = round_up(l->program->shared_bytes, SHARED_ALIGN);
    uint64_t all = l->dynamic_shared ? fixed + l->dynamic_shared : l->program->shared_bytes;
    return all > UINT32_MAX ? UINT32_MAX : (uint32_t)all;
}

/* Returns the number of bytes from one lane's local memory to the next lane's. Above 64 bytes, it is an odd number of
 * cache lines, so that lanes of a warp do not share cache sets. */
static uint32_t local_stride(uint32_t bytes) {
    if (!bytes)
        return 0;
    uint32_t lines = (uint32_t)(round_up(bytes, 64) / 64);
    return (bytes <= 64 ? (uint32_t)round_up(bytes, 16) : (lines | 1) * 64);
}

/* Bytes that a barrier holds for each warp. */
enum { BARRIER_BYTES = sizeof(const struct inst *) + sizeof(lanemask_t) + sizeof(uint8_t) };

/* Returns how many barriers a CTA of the program has. */
static size_t barriers_of(const struct program *p) { return p->warp_groups ? N_CTA_BARRIERS : GROUP_BARRIERS; }

/* Gives the barriers of a CTA their arrays. */
static void place_barriers(struct cta *c, unsigned char *at) {
    const size_t n = c->n_warps, all = barriers_of(c->launch->program) * n;
    const struct inst **inst = (const struct inst **)(void *)at;
    lanemask_t *waiting = (lanemask_t *)(void *)(inst + all);
    uint8_t *mode = (uint8_t *)(waiting + all);
    for (size_t i = 0; i < barriers_of(c->launch->program); i++)
        c->barriers[i] = (struct cta_barrier){.waiting = waiting + i * n, .inst = inst + i * n, .mode = mode + i * n};
}

/* Returns true for a special register that has the same values in all CTAs of a launch. */
static bool is_fixed(enum special s) {
    return s <= SPECIAL_NTID_Z || s == SPECIAL_CONST || (s >= SPECIAL_NCTAID_X && s <= SPECIAL_NWARPID) ||
           (s >= SPECIAL_LANEMASK_EQ && s <= SPECIAL_TILE_HALF);
}

/* Finds the bytes of bank 0 that hold only special registers of 4 bytes. Instructions do not write these bytes, so
 * cta_start() need not write them again for each CTA. */
static void find_specials(struct cta *c) {
    const struct program *p = c->launch->program;
    enum { BYTES = 4 * WARP_LANES };
    uint32_t n = 0, low = UINT32_MAX, high = 0;
    for (uint32_t i = 0; i < p->n_specials; i++)
        if (p->specials[i].bytes == 4) {
            n++;
            low = p->specials[i].offset < low ? p->specials[i].offset : low;
            high = p->specials[i].offset > high ? p->specials[i].offset : high;
        }
    const bool together = n && high + BYTES - low == n * BYTES;
    c->specials_begin = together ? low : 0;
    c->specials_end = together ? high + BYTES : 0;
}

struct cta *cta_new(const struct launch *l) {
    const struct program *p = l->program;
    uint32_t threads = dim3_count(l->block), n_warps = launch_warps(l);
    uint32_t local_bytes = p->local_bytes + calls_stack_bytes(p), stride = local_stride(local_bytes);
    uint32_t lane_bytes = p->local_by_word ? (uint32_t)round_up(local_bytes, 4) : stride;
    uint32_t n_rows = launch_lanes(l) > WARP_LANES ? 2 * n_warps : n_warps;
    size_t warps = round_up(sizeof(struct cta), 64), waits = warps + round_up(n_rows * sizeof(struct warp), 64);
    size_t regs = waits + round_up(barriers_of(p) * (size_t)n_warps * BARRIER_BYTES, 64);
    size_t shared = regs + (size_t)n_rows * p->reg_bytes;
    const uint32_t shared_bytes = shared_room(l);
    size_t local = shared + round_up(shared_bytes, 64);
    size_t all = local + (size_t)n_rows * WARP_LANES * lane_bytes;
    /* cta_start() zeroes registers and shared memory. With local memory, the block comes from calloc(), because parts
     * of stacks that no thread uses then occupy no host memory. The address of the allocated block is stored right
     * before the CTA. */
    unsigned char *storage = stride ? calloc(1, all + 128) : malloc(all + 128);
    if (!storage)
        return NULL;
    unsigned char *at = (unsigned char *)round_up((uintptr_t)storage + sizeof(void *), 64);
    memset(at, 0, regs);
    memcpy(at - sizeof(void *), &storage, sizeof(void *));
    struct cta *c = (struct cta *)at;
    c->launch = l;
    c->shared = at + shared;
    c->shared_bytes = shared_bytes;
    c->n_warps = n_warps;
    c->n_threads = threads;
    c->warps = (struct warp *)(at + warps);
    place_barriers(c, at + waits);
    find_specials(c);
    cluster_join(&c->alone, c, 0);
    c->n_rows = n_rows;
    for (uint32_t i = 0; i < n_rows; i++) {
        struct warp *w = &c->warps[i];
        w->bank[0] = at + regs + (size_t)i * p->reg_bytes;
        w->bank[1] = p->constants;
        w->program = p;
        w->cta = c;
        w->index = i % n_warps;
        w->high = i + n_warps < n_rows ? w + n_warps : NULL;
        w->first = w->index * launch_lanes(l) + i / n_warps * WARP_LANES;
        uint32_t lanes = threads > w->first ? threads - w->first : 0;
        w->launched = lanes >= launch_lanes(l) ? launch_full_warp(l) : ((lanemask_t)1 << lanes) - 1;
        if (i >= n_warps)
            w->launched = (rowmask_t)w->launched;
        w->local = at + local + (size_t)i * WARP_LANES * lane_bytes;
        w->local_stride = p->local_by_word ? 0 : stride;
        w->local_bytes = local_bytes;
    }
    return c;
}

void cta_free_tensor(struct cta *c) {
    if (c->tensor && c->tensor_used)
        *c->tensor_used -= tensor_used(c->tensor);
    free(c->tensor);
    c->tensor = NULL;
}

void cta_free(struct cta *c) {
    if (!c)
        return;
    for (uint32_t i = 0; i < c->n_rows; i++) {
        calls_free(c->warps[i].calls);
        pending_free(c->warps[i].copies);
    }
    cta_free_tensor(c);
    void *storage;
    memcpy(&storage, (unsigned char *)c - sizeof(void *), sizeof(void *));
    free(storage);
}

/* Returns the component x, y or z (0, 1 or 2) of dimensions. */
static uint32_t component(struct dim3 d, unsigned i) { return i == 0 ? d.x : i == 1 ? d.y : d.z; }

static uint64_t cluster_special(const struct cta *c, enum special s) {
    const struct launch *l = c->launch;
    const struct dim3 shape = launch_cluster(l);
    const unsigned of = s < SPECIAL_CLUSTER_CTARANK ? (s - SPECIAL_CLUSTERID_X) % 3 : 0;
    switch (s) {
    case SPECIAL_CLUSTER_CTARANK:
        return launch_cluster_rank(l, c->id);
    case SPECIAL_CLUSTER_NCTARANK:
        return dim3_count(shape);
    case SPECIAL_IS_EXPLICIT_CLUSTER: /* true if launch or kernel declare clusters, even clusters of one CTA */
        return l->cluster.x != 0 || l->program->cluster.x != 0;
    default:
        break;
    }
    switch ((s - SPECIAL_CLUSTERID_X) / 3) {
    case 0: /* %clusterid */
        return component(c->id, of) / component(shape, of);
    case 1: /* %nclusterid */
        return component(l->grid, of) / component(shape, of);
    case 2: /* %cluster_ctaid */
        return component(c->id, of) % component(shape, of);
    default: /* %cluster_nctaid */
        return component(shape, of);
    }
}

uint64_t warp_special(const struct warp *w, enum special s) {
    const struct cta *c = w->cta;
    const struct launch *l = c->launch;
    if (s >= SPECIAL_CLUSTERID_X && s <= SPECIAL_IS_EXPLICIT_CLUSTER)
        return cluster_special(c, s);
    switch (s) {
    case SPECIAL_NTID_X:
        return l->block.x;
    case SPECIAL_NTID_Y:
        return l->block.y;
    case SPECIAL_NTID_Z:
        return l->block.z;
    case SPECIAL_CTAID_X:
        return c->id.x;
    case SPECIAL_CTAID_Y:
        return c->id.y;
    case SPECIAL_CTAID_Z:
        return c->id.z;
    case SPECIAL_NCTAID_X:
        return l->grid.x;
    case SPECIAL_NCTAID_Y:
        return l->grid.y;
    case SPECIAL_NCTAID_Z:
        return l->grid.z;
    case SPECIAL_WARPID:
        return w->index;
    case SPECIAL_NWARPID:
        return MAX_CTA_THREADS / WARP_LANES;
    case SPECIAL_SMID:
        return w->smid;
    case SPECIAL_NSMID:
        return l->n_sms ? l->n_sms : 1;
    case SPECIAL_GRIDID:
        return l->number;
    case SPECIAL_ENVREG1:
        return (uint32_t)(l->workspace >> 32);
    case SPECIAL_ENVREG2:
        return (uint32_t)l->workspace;
    case SPECIAL_TOTAL_SMEM:
    case SPECIAL_AGGR_SMEM:
        return launch_shared_bytes(l);
    case SPECIAL_DYNAMIC_SMEM:
        return l->dynamic_shared;
    default:
        return 0;
    }
}

/* For n and `of` up to MAX_CTA_THREADS, n / of equals n * reciprocal(of) >> SHIFT. The reason: reciprocal(of) exceeds
 * 2^SHIFT / of by less than 1. So n * reciprocal(of) / 2^SHIFT exceeds the exact quotient by less than n / 2^SHIFT,
 * which is at most 1 / of. An excess below 1 / of does not reach the next integer. */
enum { SHIFT = 20 };
static uint32_t reciprocal(uint32_t of) { return ((1u << SHIFT) + of - 1) / of; }

/* Computes all lanes at once, because no lane's result depends on the previous lane. */
void warp_thread_ids(struct dim3 b, uint32_t t, enum special s, uint32_t out[WARP_LANES]) {
    const uint32_t by_row = reciprocal(b.x), by_plane = reciprocal(b.y);
    _Static_assert(MAX_CTA_THREADS * MAX_CTA_THREADS <= 1 << SHIFT, "SHIFT");
    if (s == SPECIAL_TID_X)
        for (uint32_t l = 0; l < WARP_LANES; l++)
            out[l] = t + l - ((t + l) * by_row >> SHIFT) * b.x;
    else if (s == SPECIAL_TID_Y)
        for (uint32_t l = 0; l < WARP_LANES; l++) {
            uint32_t row = (t + l) * by_row >> SHIFT;
            out[l] = row - (row * by_plane >> SHIFT) * b.y;
        }
    else
        for (uint32_t l = 0; l < WARP_LANES; l++)
            out[l] = ((t + l) * by_row >> SHIFT) * by_plane >> SHIFT;
}

static uint32_t lane_special(enum special s, uint32_t lane) {
    switch (s) {
    case SPECIAL_LANEID:
        return lane;
    case SPECIAL_LANEMASK_EQ:
        return 1u << lane;
    case SPECIAL_LANEMASK_LT:
        return (1u << lane) - 1;
    case SPECIAL_LANEMASK_LE:
        return (2u << lane) - 1;
    case SPECIAL_LANEMASK_GT:
        return ~((2u << lane) - 1);
    case SPECIAL_QUAD:
        return lane / 4;
    case SPECIAL_QUAD_PLACE:
        return lane % 4;
    case SPECIAL_TILE_ROW:
        return lane % 16 * 2;
    case SPECIAL_TILE_HALF:
        return lane / 16;
    default: /* SPECIAL_LANEMASK_GE */
        return ~((1u << lane) - 1);
    }
}

/* Returns a parameter, or a word of a .const variable. */
static uint64_t constant_word(const struct warp *w, const struct special_init *init) {
    const struct launch *l = w->cta->launch;
    uint64_t value = 0;
    if (init->id == SPECIAL_PARAM)
        memcpy(&value, l->params + init->param, init->bytes);
    else if (!mem_read(l->memory, init->address, &value, init->bytes))
        value = 0;
    return value;
}

static void fill_special(struct warp *w, const struct special_init *init) {
    enum special s = init->id;
    unsigned char *to = w->bank[0] + init->offset;
    bool by_lane = s == SPECIAL_LANEID || (s >= SPECIAL_LANEMASK_EQ && s <= SPECIAL_TILE_HALF);
    uint32_t narrow[WARP_LANES];
    uint64_t wide[WARP_LANES], all = s <= SPECIAL_TID_Z || by_lane              ? 0
                                     : s == SPECIAL_PARAM || s == SPECIAL_CONST ? constant_word(w, init)
                                                                                : warp_special(w, s);
    if (s <= SPECIAL_TID_Z)
        warp_thread_ids(w->cta->launch->block, w->first, s, narrow);
    else
        for (uint32_t l = 0; l < WARP_LANES; l++)
            narrow[l] = by_lane ? lane_special(s, l) : (uint32_t)all;
    if (init->bytes != 8) {
        memcpy(to, narrow, sizeof narrow);
        return;
    }
    for (uint32_t l = 0; l < WARP_LANES; l++)
        wide[l] = all ? all : narrow[l];
    memcpy(to, wide, sizeof wide);
}

/* Zeroes the registers of all rows, and sets the special registers. Skips registers that an earlier CTA has set to the
 * same values. */
static void start_registers(struct cta *c) {
    const struct program *p = c->launch->program;
    const uint32_t begin = c->specials_begin, end = c->specials_end;
    for (uint32_t i = 0; i < c->n_rows; i++) {
        struct warp *w = &c->warps[i];
        memset(w->bank[0], 0, begin);
        memset(w->bank[0] + end, 0, p->reg_bytes - end);
        for (uint32_t s = 0; s < p->n_specials; s++) {
            const struct special_init *init = &p->specials[s];
            if (!c->fixed_filled || !is_fixed(init->id) || init->offset < begin || init->offset >= end)
                fill_special(w, init);
        }
    }
    c->fixed_filled = true;
}

void cta_start(struct cta *c, struct dim3 id, uint32_t smid) {
    const struct program *p = c->launch->program;
    struct dim3 g = c->launch->grid;
    c->id = id;
    c->linear_id = id.x + (uint64_t)g.x * (id.y + (uint64_t)g.y * id.z);
    c->live_threads = c->n_threads;
    c->cluster_arrived = 0;
    while (c->barriers_used) /* the previous CTA did not finish, so some barriers are in use */
        cta_barrier_reset(c, (uint32_t)__builtin_ctz(c->barriers_used));
    memset(c->shared, 0, c->shared_bytes);
    for (uint32_t i = 0; i < c->n_rows; i++) {
        struct warp *w = &c->warps[i];
        w->live = w->launched;
        w->smid = smid;
        w->clock = 0;
        w->sync.waiting = 0;
        w->cluster_arrived = w->cluster_passed = 0;
        if (p->local_by_word)
            memset(w->local, 0, round_up(p->local_bytes, 4) * WARP_LANES);
        else if (p->local_bytes)
            for (uint32_t l = 0; l < WARP_LANES; l++)
                memset(w->local + (size_t)l * w->local_stride, 0, p->local_bytes);
        calls_reset(w);
        if (w->copies)
            pending_forget(w);
    }
    start_registers(c);
    cta_free_tensor(c);
}
