/* Asynchronous matrix instructions and proxies under the checker.
 * - Registers of wgmma belong to the hardware from the instruction to the wgmma.wait_group that waits for its group: no
 *   thread may access the accumulators or change a. A register that a thread has changed needs a wgmma.fence before a
 *   wgmma uses it. The results of tcgen05.ld, and the sources of tcgen05.st, need tcgen05.wait.
 * - Cells of tensor memory that tcgen05.mma writes need a tcgen05.commit and a wait at its mbarrier before tcgen05.ld
 *   reads them.
 * - Shared memory that threads have written needs fence.proxy.async before a bulk copy reads it, and before wgmma reads
 *   the first 16 bytes of a matrix; the file checks no further bytes of matrices.
 * An instruction with a guard is checked only if it is not plain arithmetic. */
#include "check_state.h"
#include "isa/control_uses.h"
#include "isa/exec/exec.h"
#include "isa/group_matrix.h"
#include "isa/tensor_memory.h"
#include <stdlib.h>

enum owner { OWNED_BY_NONE, OWNED_BY_SUMS, OWNED_BY_FACTORS, OWNED_BY_LOAD, OWNED_BY_STORE };
/* A register, or a word of a larger register. */
struct tensor_reg {
    uint32_t pc;     /* PC of the instruction that owns the register or, without an owner, has changed it */
    uint32_t group;  /* OWNED_BY_SUMS and OWNED_BY_FACTORS: number of the wgmma group */
    uint8_t owner;   /* enum owner */
    uint8_t changed; /* a thread has written the register since the last wgmma.fence */
};
struct tensor_warp {
    struct tensor_reg *reg; /* by byte offset in bank 0, divided by 4; NULL: the warp has no asynchronous registers */
    uint32_t groups;        /* wgmma groups that the warp has closed */
    bool fenced;            /* the warp has executed a wgmma.fence */
};
/* Columns [first, first + n) that an unfinished tcgen05.mma writes. */
struct tensor_cells {
    uint32_t first, n, pc, thread;
    uint64_t signal; /* the mbarrier of its commit; NO_SIGNAL: not committed */
};
#define NO_SIGNAL UINT64_MAX
struct check_tensor {
    struct tensor_warp warp[CHECK_WARPS];
    struct tensor_cells *cells;
    uint32_t n_cells;
    uint64_t *written; /* bit i: a thread has written shared memory at 16 * i, without a fence.proxy.async since */
    uint32_t units;    /* number of 16-byte units of shared memory */
};

static struct check_tensor *state_of(struct check_cta *c) {
    if (!c->tensor && !(c->tensor = calloc(1, sizeof *c->tensor)))
        c->checker->out_of_memory = true;
    return c->tensor;
}

void tensor_forget(struct check_cta *c) {
    for (int i = 0; c->tensor && i < CHECK_WARPS; i++)
        free(c->tensor->warp[i].reg);
    if (c->tensor) {
        free(c->tensor->cells);
        free(c->tensor->written);
    }
    free(c->tensor);
    c->tensor = NULL;
}

/* ---- registers ---- */

/* Returns the tracked registers of the warp. Allocates them at the first call. Returns NULL if out of memory. */
static struct tensor_warp *warp_of(struct check_cta *c, const struct warp *w) {
    struct check_tensor *t = state_of(c);
    struct tensor_warp *tw = t ? &t->warp[w->index] : NULL;
    if (tw && !tw->reg && !(tw->reg = calloc(w->program->reg_bytes / 4, sizeof *tw->reg))) {
        c->checker->out_of_memory = true;
        return NULL;
    }
    return tw;
}

struct use {
    struct check_cta *c;
    const struct warp *w;
    const struct inst *in;
    struct tensor_warp *tw;
};

static void use_register(void *ctx, uint32_t offset, enum control_use how, unsigned position) {
    const struct use *u = ctx;
    struct tensor_reg *r = &u->tw->reg[offset / 4];
    const bool writes = how == CONTROL_WRITES;
    (void)position;
    if (r->owner && (writes || r->owner == OWNED_BY_SUMS || r->owner == OWNED_BY_LOAD)) {
        struct finding *f = check_count(u->c, CHECK_REGISTER, check_pc(u->w, u->in), r->pc);
        if (f) {
            f->thread = f->other_thread = check_thread(u->w, 0);
            f->other_cta = u->c->cta->id;
            f->is_write = writes;
        }
        r->owner = OWNED_BY_NONE;
    }
    if (writes) {
        r->changed = true;
        r->pc = check_pc(u->w, u->in);
    }
}

static void check_registers(struct check_cta *c, const struct warp *w, const struct inst *in, struct tensor_warp *tw) {
    struct use u = {c, w, in, tw};
    control_uses(w->program, in, use_register, &u);
}

void tensor_block(struct check_cta *c, const struct warp *w, const struct inst *in) {
    struct tensor_warp *tw = c->tensor ? &c->tensor->warp[w->index] : NULL;
    if (!tw || !tw->reg)
        return;
    for (; in->kind == K_LANE; in++) {
        if (in->guard == NO_GUARD)
            check_registers(c, w, in, tw);
        if (in->ends_block)
            return;
    }
}

/* Makes the instruction the owner of `n` registers of its list. Reports registers of a wgmma that have changed since
 * the last wgmma.fence. */
static void own(struct check_cta *c, const struct warp *w, const struct inst *in, uint32_t first, uint32_t n,
                enum owner owner) {
    struct tensor_warp *tw = warp_of(c, w);
    const opnd_t *list = w->program->lists + in->list + first;
    const bool of_group = owner == OWNED_BY_SUMS || owner == OWNED_BY_FACTORS;
    for (uint32_t i = 0; tw && i < n; i++) {
        struct tensor_reg *r = &tw->reg[(list[i] >> 1) / 4];
        if (list[i] & 1 || list[i] == OPND_SINK)
            continue;
        if (of_group && (r->changed || !tw->fenced)) {
            struct finding *f = check_count(c, CHECK_GROUP_FENCE, check_pc(w, in), r->changed ? r->pc : NO_PC);
            if (f) {
                f->thread = f->other_thread = check_thread(w, 0);
                f->other_cta = c->cta->id;
            }
            r->changed = false;
        }
        *r = (struct tensor_reg){check_pc(w, in), tw->groups, (uint8_t)owner, false};
    }
}

static void free_registers(const struct warp *w, struct tensor_warp *tw, enum owner from, enum owner to,
                           uint32_t groups) {
    for (uint32_t i = 0; i < w->program->reg_bytes / 4; i++)
        if (tw->reg[i].owner >= from && tw->reg[i].owner <= to && tw->reg[i].group < groups)
            tw->reg[i].owner = OWNED_BY_NONE;
}

static void fence_registers(const struct warp *w, struct tensor_warp *tw) {
    tw->fenced = true;
    for (uint32_t i = 0; i < w->program->reg_bytes / 4; i++)
        tw->reg[i].changed = false;
}

/* ---- shared memory and proxies ---- */

void proxy_write(const struct now *n, rowmask_t lanes, const struct effects *fx) {
    struct check_tensor *t = state_of(n->c);
    if (!t)
        return;
    if (!t->written) {
        t->units = n->c->cta->shared_bytes / 16 + 1;
        t->written = calloc(t->units / 64 + 1, sizeof *t->written);
        n->c->checker->out_of_memory |= !t->written;
    }
    for (; t->written && lanes; lanes &= lanes - 1) {
        const uint64_t at = fx->addr[__builtin_ctz(lanes)], last = (at + n->bytes - 1) / 16;
        for (uint64_t i = at / 16; i <= last && i < t->units; i++)
            t->written[i / 64] |= 1ull << i % 64;
    }
}

/* Returns a write to the 16-byte unit that is not ordered before the current instruction, or with `any` any write.
 * Returns NULL if there is none. */
static const struct access *write_of(const struct now *n, uint64_t unit, int lane, bool any) {
    unsigned shift;
    const struct granule *g = shadow_at(n->c->checker, &n->c->shared, unit * 16, 16, 4, &shift);
    for (unsigned i = 0; g && i < 16u >> shift; i++)
        for (int strong = 0; strong < 2; strong++) {
            const struct access *a = strong ? &g[i].strong_write : &g[i].write;
            if (a->time && a->cta == n->c->serial && (any || !order_is_before(n, a, lane)))
                return a;
        }
    return NULL;
}

void proxy_fence(const struct now *n, rowmask_t lanes) {
    struct check_tensor *t = n->c->tensor;
    for (uint32_t word = 0; t && t->written && lanes && word <= t->units / 64; word++)
        for (uint64_t left = t->written[word]; left; left &= left - 1) {
            const unsigned bit = (unsigned)__builtin_ctzll(left);
            if (!write_of(n, 64ull * word + bit, __builtin_ctz(lanes), false))
                t->written[word] &= ~(1ull << bit);
        }
}

void proxy_access(const struct now *n, int lane, uint64_t address, uint64_t bytes, bool write) {
    struct check_tensor *t = n->c->tensor;
    bool found = false;
    if (!t || !t->written || !bytes)
        return;
    for (uint64_t i = address / 16; i <= (address + bytes - 1) / 16 && i < t->units; i++) {
        if (!(t->written[i / 64] >> i % 64 & 1))
            continue;
        t->written[i / 64] &= ~(1ull << i % 64);
        const struct access *a = write || found ? NULL : write_of(n, i, lane, true);
        if (!a)
            continue;
        found = true;
        struct finding *f = check_count(n->c, CHECK_PROXY, n->pc, a->pc);
        if (!f)
            continue;
        f->thread = check_thread(n->w, lane);
        f->other_thread = a->thread;
        f->other_cta = n->c->cta->id;
        f->space = SPACE_SHARED;
        f->address = i * 16;
        f->bytes = 16;
    }
}

/* Checks the first 16 bytes of the matrix that a descriptor names. */
static void descriptor(const struct now *n, opnd_t from) {
    const uint64_t d = ((const uint64_t *)reg_ptr(n->w, from))[0];
    proxy_access(n, 0, (d & 0x3fff) << 4, 16, false);
}

/* ---- tensor memory ---- */

static void add_cells(struct check_cta *c, const struct tensor_cells *cells) {
    struct check_tensor *t = state_of(c);
    struct tensor_cells *more = t ? realloc(t->cells, (t->n_cells + 1) * sizeof *more) : NULL;
    if (!more) {
        c->checker->out_of_memory = true;
        return;
    }
    t->cells = more;
    t->cells[t->n_cells++] = *cells;
}

/* Records the columns of matrix d that a tcgen05.mma writes. Bits 17 to 22 of the instruction descriptor are N / 8. */
static void product(struct check_cta *c, const struct warp *w, const struct inst *in, rowmask_t lanes) {
    const struct tensor_form f = tensor_unpack(in->imm);
    const int lane = __builtin_ctz(lanes);
    const uint32_t *d = reg_ptr(w, in->a), *what = reg_ptr(w, w->program->lists[in->list]);
    add_cells(c, &(struct tensor_cells){(d[lane] + (uint32_t)f.offset) & 0xffff, (what[lane] >> 17 & 63) * 8,
                                        check_pc(w, in), check_thread(w, lane), NO_SIGNAL});
}

void tensor_commit(const struct now *n, rowmask_t lanes, const uint64_t *at) {
    struct check_tensor *t = n->c->tensor;
    for (uint32_t i = 0; t && i < t->n_cells; i++) {
        struct tensor_cells *p = &t->cells[i];
        const unsigned lane = p->thread % WARP_LANES;
        if (p->signal == NO_SIGNAL && p->thread / WARP_LANES == n->w->index && lanes >> lane & 1)
            p->signal = at[lane];
    }
}

void tensor_phase_ended(struct check_cta *c, uint64_t mbarrier) {
    struct check_tensor *t = c->tensor;
    uint32_t kept = 0;
    for (uint32_t i = 0; t && i < t->n_cells; i++)
        if (t->cells[i].signal != mbarrier)
            t->cells[kept++] = t->cells[i];
    if (t)
        t->n_cells = kept;
}

/* Checks the first column that a tcgen05.ld or .st accesses. */
static void check_cells(struct check_cta *c, const struct warp *w, const struct inst *in, bool write) {
    const uint32_t at = (*(const uint32_t *)reg_ptr(w, in->a) + (uint32_t)tensor_unpack(in->imm).offset) & 0xffff;
    for (uint32_t i = 0; c->tensor && i < c->tensor->n_cells; i++) {
        const struct tensor_cells *p = &c->tensor->cells[i];
        struct finding *f =
            at >= p->first && at < p->first + p->n ? check_count(c, CHECK_CELLS, check_pc(w, in), p->pc) : NULL;
        if (!f)
            continue;
        f->thread = check_thread(w, 0);
        f->other_thread = p->thread;
        f->other_cta = c->cta->id;
        f->address = at;
        f->is_write = write;
    }
}

/* ---- instructions ---- */

void tensor_before(struct check_cta *c, const struct warp *w, const struct inst *in, rowmask_t lanes) {
    struct tensor_warp *tw = c->tensor ? &c->tensor->warp[w->index] : NULL;
    const bool reads_cells = in->kind == K_WARP && check_opcode(in) == OP_TCGEN05;
    if (reads_cells) {
        uint32_t n;
        const unsigned what = form_get(isa_rows(&n)[in->row].form, CAT_MODE2);
        if (what == MODE2_LD || what == MODE2_ST)
            check_cells(c, w, in, what == MODE2_ST);
    }
    if (tw && tw->reg && lanes && !(in->kind == K_WARP && check_opcode(in) == OP_WGMMA))
        check_registers(c, w, in, tw);
}

static void after_group(const struct now *n, unsigned what) {
    const struct inst *in = n->in;
    struct tensor_warp *tw = warp_of(n->c, n->w);
    if (!tw)
        return;
    if (what == MODE2_MMA_ASYNC) {
        const struct group_form f = group_unpack(in->imm);
        own(n->c, n->w, in, 0, in->msize, OWNED_BY_SUMS);
        own(n->c, n->w, in, in->msize, f.registers ? GROUP_A_REGISTERS : 0, OWNED_BY_FACTORS);
        if (!f.registers)
            descriptor(n, in->a);
        descriptor(n, in->b);
    } else if (what == MODE2_COMMIT_GROUP) {
        tw->groups++;
    } else {
        fence_registers(n->w, tw);
    }
}

void tensor_wait_group(struct check_cta *c, const struct warp *w, const struct inst *in) {
    struct tensor_warp *tw = c->tensor ? &c->tensor->warp[w->index] : NULL;
    const uint32_t left = (uint32_t)in->imm;
    if (tw && tw->reg)
        free_registers(w, tw, OWNED_BY_SUMS, OWNED_BY_FACTORS, tw->groups > left ? tw->groups - left : 0);
}

/* tcgen05.alloc writes an address to shared memory. */
static void allocation(const struct now *n, const struct effects *fx) {
    struct now write = *n;
    struct effects at = {.space = SPACE_SHARED, .msize = 4, .n_elems = 1};
    write.strong = WEAK;
    write.reads = false;
    write.writes = true;
    write.bytes = 4;
    at.addr[0] = fx->addr[0];
    if (!n->c->foreign)
        race_accesses(&write, &n->c->shared, 0, 1, &at, SPACE_SHARED);
}

void tensor_after(const struct now *n, const struct effects *fx) {
    const rowmask_t lanes = (rowmask_t)fx->lanes;
    uint32_t n_rows;
    const struct inst *in = n->in;
    const unsigned what = form_get(isa_rows(&n_rows)[in->row].form, CAT_MODE2);
    if (!lanes)
        return;
    if (check_opcode(in) == OP_WGMMA) {
        after_group(n, what);
    } else if (what == MODE2_LD) {
        own(n->c, n->w, in, 0, in->msize, OWNED_BY_LOAD);
    } else if (what == MODE2_ST) {
        own(n->c, n->w, in, 0, in->n_list, OWNED_BY_STORE);
    } else if (what == MODE2_ALLOC) {
        allocation(n, fx);
    } else if (what == MODE2_MULTIPLY) {
        product(n->c, n->w, in, lanes);
    } else if (what == MODE2_NONE && form_get(isa_rows(&n_rows)[in->row].form, CAT_SYNC) && n->c->tensor &&
               n->c->tensor->warp[n->w->index].reg) {
        /* tcgen05.wait; .wait::ld and .wait::st have one row, so both end here */
        free_registers(n->w, &n->c->tensor->warp[n->w->index], OWNED_BY_LOAD, OWNED_BY_STORE, UINT32_MAX);
    }
}
