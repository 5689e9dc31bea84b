/* Predicts whether a path repeats itself as long as memory does not change (repeat.h). */
#include "repeat.h"
#include "isa/compound.h"
#include "isa/decode.h"
#include "isa/exec/exec_mem.h"
#include <stdlib.h>
#include <string.h>

/* Returns true if memory still holds the old values that an atomic returned. Lanes with the same address execute one
 * after another, and each lane returns the value that it found in memory. If the final value equals every returned
 * value, memory never changed. */
static bool unchanged(const struct warp *w, const struct inst *in, const struct effects *fx) {
    const unsigned char *d = reg_ptr(w, in->d);
    if (w->capture || in->d == OPND_SINK || in->n_list || in->dsize != in->msize)
        /* if the result is a predicate, the instruction is a wait at an mbarrier, which does not change memory */
        return !w->capture && in->d != OPND_SINK && in->dsize == 0;
    for (lanemask_t m = fx->lanes; m; m &= m - 1) {
        int l = __builtin_ctz(m);
        bool shared = in->space == SPACE_SHARED || fx->shared_lanes >> l & 1;
        uint64_t room, at = fx->addr[l] + (shared ? mem_window(SPACE_SHARED) : 0);
        const unsigned char *now = mem_generic(w, l, at, &room);
        if (!now || room < in->msize || memcmp(now, d + (unsigned)l * in->dsize, in->msize) != 0)
            return false;
    }
    return true;
}

/* Returns true if the store writes only local memory of its own threads. */
static bool is_private(const struct inst *in, const struct effects *fx) {
    return in->space == SPACE_LOCAL || (in->space == SPACE_GENERIC && !(fx->lanes & ~fx->local_lanes));
}

static enum repeat by_kind(const struct warp *w, const struct inst *in, lanemask_t lanes, const struct effects *fx) {
    uint32_t n;
    switch (in->kind) {
    case K_LANE:
    case K_CVT:
    case K_FENCE:
    case K_NOP:
    case K_PREFETCH:
    case K_BRANCH:
    case K_BRX:
    case K_WARPSYNC:
    case K_BSSY:
    case K_BSYNC:
    case K_BREAK:
        return REPEAT_FINE;
    case K_LOAD:
        return !(in->hints & HINT_COLLECTIVE) || lanes == w->live ? REPEAT_FINE : REPEAT_ALONE;
    case K_ATOM:
        return !fx->lanes || unchanged(w, in, fx) ? REPEAT_FINE : REPEAT_CHANGES;
    case K_COMPOUND:
        if (compound_of(w->program, in)->memory == COMPOUND_WRITES_SHARED)
            return REPEAT_CHANGES;
        return !(in->hints & HINT_COLLECTIVE) || lanes == w->live ? REPEAT_FINE : REPEAT_ALONE;
    case K_WARP:
        if (in->hints & HINT_COLLECTIVE)
            return lanes == w->live ? REPEAT_FINE : REPEAT_ALONE;
        switch (isa_rows(&n)[in->row].op) {
        case OP_NANOSLEEP:
        case OP_LOP3:
            return REPEAT_FINE;
        case OP_SREG:
            return REPEAT_UNKNOWN;
        default: /* heap operations and printing have side effects */
            return REPEAT_CHANGES;
        }
    case K_STORE:
        return is_private(in, fx) ? REPEAT_UNKNOWN : REPEAT_CHANGES;
    case K_CALL:
    case K_RET:
        return REPEAT_UNKNOWN;
    case K_BARRIER:
        return REPEAT_ALONE;
    case K_TEX:
        return isa_rows(&n)[in->row].op == OP_TEX ? REPEAT_FINE : REPEAT_CHANGES;
    default:
        return REPEAT_CHANGES;
    }
}

/* Classifies the executed instruction. An instruction with HINT_DEQ also depends on queue entries, which are not part
 * of the warp's registers. */
enum repeat inst_repeats(const struct warp *w, const struct inst *in, lanemask_t lanes, const struct effects *fx) {
    if (w->high)
        return REPEAT_CHANGES;
    enum repeat by = by_kind(w, in, lanes, fx);
    return by == REPEAT_FINE && in->hints & HINT_DEQ ? REPEAT_ALONE : by;
}

/* Returns true if the registers of `lanes` are equal in two copies of bank 0. */
static bool regs_same(const struct program *p, const unsigned char *a, const unsigned char *b, lanemask_t lanes) {
    if (lanes == LANES_ALL)
        return memcmp(a + SINK_BYTES, b + SINK_BYTES, p->reg_bytes - SINK_BYTES) == 0;
    for (uint32_t at = p->reg_area[0]; at < p->reg_area[1]; at += sizeof(lanemask_t)) {
        lanemask_t x, y;
        memcpy(&x, a + at, sizeof x);
        memcpy(&y, b + at, sizeof y);
        if ((x ^ y) & lanes)
            return false;
    }
    for (int c = 1; c < N_REG_AREAS; c++) {
        uint32_t bytes = 1u << (c - 1), step = bytes * WARP_LANES;
        for (uint32_t at = p->reg_area[c]; at + step <= p->reg_area[c + 1]; at += step)
            for (lanemask_t m = lanes; m; m &= m - 1) {
                uint32_t l = at + (uint32_t)__builtin_ctz(m) * bytes;
                if (memcmp(a + l, b + l, bytes) != 0)
                    return false;
            }
    }
    return true;
}

/* WAITING_ROUNDS: number of iterations after which a loop that waits is considered to make no progress. It is assumed
 * that a loop has by then executed all paths that depend on a clock or a counter. ROUNDS_AGAIN: number of iterations
 * that the loop must still execute after repeat_again(). */
enum { WAITING_ROUNDS = 255, ROUNDS_AGAIN = 4 };

void repeat_forget(struct repeat_warp *r) {
    r->repeats = 0;
    r->n = r->visits = 0;
    memset(r->rounds, 0, sizeof r->rounds);
}

void repeat_again(struct repeat_warp *r) {
    r->repeats = 0;
    r->n = r->visits = 0;
    for (int l = 0; l < WARP_LANES; l++)
        if (r->rounds[l] > WAITING_ROUNDS - ROUNDS_AGAIN)
            r->rounds[l] = WAITING_ROUNDS - ROUNDS_AGAIN;
}

void repeat_unknown(struct repeat_warp *r) {
    r->n = 0;
    for (int l = 0; l < WARP_LANES; l++)
        if (r->rounds[l] < WAITING_ROUNDS)
            r->repeats &= ~(1u << l);
}

void repeat_wait(struct repeat_warp *r, lanemask_t lanes) {
    for (; lanes; lanes &= lanes - 1) {
        int l = __builtin_ctz(lanes);
        if (r->rounds[l] < WAITING_ROUNDS)
            r->rounds[l]++;
        else
            r->repeats |= 1u << l;
    }
}

void repeat_free(struct repeat_warp *r) {
    for (int i = 0; i < WARP_LANES; i++)
        free(r->at[i].regs);
    memset(r, 0, sizeof *r);
}

/* Takes a snapshot. If host memory runs out, the repetition of this path is not detected, which is safe. */
static void take_snapshot(struct repeat_snapshot *s, const struct warp *w) {
    size_t bytes = w->program->reg_bytes;
    if (s->bytes < bytes) {
        free(s->regs);
        s->regs = malloc(bytes);
        s->bytes = s->regs ? bytes : 0;
    }
    if (s->regs)
        memcpy(s->regs, w->bank[0], bytes);
    s->visits = 0;
}

void repeat_visit(struct repeat_warp *r, const struct warp *w, uint32_t pc, lanemask_t lanes) {
    uint32_t i = 0;
    r->visits++;
    while (i < r->n && (r->at[i].pc != pc || r->at[i].lanes != lanes))
        i++;
    if (i == WARP_LANES)
        return;
    struct repeat_snapshot *s = &r->at[i];
    if (i == r->n) {
        r->n++;
        s->pc = pc;
        s->lanes = lanes;
        s->again = 1;
        take_snapshot(s, w);
        return;
    }
    if (s->regs && regs_same(w->program, s->regs, w->bank[0], lanes))
        r->repeats |= lanes;
    if (++s->visits < s->again)
        return;
    s->again *= 2;
    take_snapshot(s, w);
}
