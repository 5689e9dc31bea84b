/* Executes instructions with a member mask (warpsync.h). A lane waits until all members of its mask have arrived. The
 * members then execute the instruction together, even if they are on different paths. */
#include "warpsync.h"
#include "isa/decode.h"

uint8_t warp_sync_hints(const struct inst *in) {
    uint32_t n;
    if (in->kind == K_WARPSYNC)
        return HINT_MEMBERS;
    if (in->kind != K_WARP && in->kind != K_LOAD)
        return 0;
    switch (isa_rows(&n)[in->row].op) {
    case OP_SHFL:
    case OP_VOTE:
    case OP_MATCH:
    case OP_REDUX:
    case OP_ELECT:
        return in->e == OPND_ZERO ? HINT_COLLECTIVE : HINT_COLLECTIVE | HINT_MEMBERS;
    case OP_LDMATRIX:
    case OP_FRAGMENT:
    case OP_MMA:
    case OP_MMAMIX:
    case OP_WHOLE:
    case OP_SETMAXNREG:
    case OP_WGMMA:
        return HINT_COLLECTIVE | HINT_MEMBERS | HINT_ALIGNED;
    case OP_TCGEN05:
        return form_get(isa_rows(&n)[in->row].form, CAT_SYNC) ? HINT_COLLECTIVE | HINT_MEMBERS | HINT_ALIGNED : 0;
    case OP_ACTIVEMASK:
        return HINT_COLLECTIVE;
    default:
        return 0;
    }
}

static inline rowmask_t mask_of(const struct warp *w, const struct inst *in, int lane) {
    return ((const rowmask_t *)reg_ptr(w, in->e))[lane];
}

bool warp_sync_together(const struct warp *w, const struct inst *in, rowmask_t m) {
    if (!m)
        return true;
    rowmask_t mask = mask_of(w, in, __builtin_ctz(m));
    if ((mask & w->live & ~m) || w->sync.waiting & m)
        return false;
    if (in->e & 1) /* a constant mask */
        return true;
    for (rowmask_t rest = m & (m - 1); rest; rest &= rest - 1)
        if (mask_of(w, in, __builtin_ctz(rest)) != mask)
            return false;
    return true;
}

static const struct inst *waits_at(const struct warp *w, int lane) { return &w->program->code[w->sync.pc[lane]]; }

/* Returns true if all lanes of a warp must execute the instruction at one place (.aligned). */
static bool requires_whole_warp(const struct inst *in) {
    return (in->kind == K_WARP || in->kind == K_LOAD) && in->hints & HINT_ALIGNED;
}

/* Returns true if lanes at these two instructions may execute together if their masks agree. For a warp-wide sum
 * (#reduce), both must be one instruction, because the pass that creates the sum ensures that no thread waits
 * elsewhere. */
static bool may_act_together(const struct inst *a, const struct inst *b) {
    return a->row == b->row && (a == b || (a->kind != K_COMPOUND && !requires_whole_warp(a)));
}

/* Returns the lanes for which a lane at the instruction `in` waits. An instruction of the whole warp also waits for
 * exited lanes, so it never completes if a lane has exited. */
static rowmask_t waits_for(const struct warp *w, const struct inst *in, int lane) {
    return mask_of(w, in, lane) & (requires_whole_warp(in) ? LANES_ALL : w->live);
}

/* Returns the lanes that wait at the same operation as `lane` and with the same mask. */
static rowmask_t group_of(const struct warp *w, int lane) {
    const struct inst *in = waits_at(w, lane);
    rowmask_t mask = mask_of(w, in, lane), group = 0;
    for (rowmask_t m = w->sync.waiting; m; m &= m - 1) {
        int l = __builtin_ctz(m);
        const struct inst *other = waits_at(w, l);
        if (may_act_together(other, in) && mask_of(w, other, l) == mask)
            group |= 1u << l;
    }
    return group;
}

static rowmask_t lanes_at(const struct warp *w, rowmask_t group, uint32_t pc) {
    rowmask_t m = 0;
    for (; group; group &= group - 1)
        if (w->sync.pc[__builtin_ctz(group)] == pc)
            m |= group & -group;
    return m;
}

/* Returns the bytes per lane of the value that other lanes read; 0: a predicate. */
static unsigned value_bytes(const struct inst *in) {
    uint32_t n;
    const struct isa_row *row = &isa_rows(&n)[in->row];
    return row->a == T_PRED || row->a == T_NONE ? 0 : type_bytes(row->a);
}

/* Byte offsets of scratch memory in the sink, whose contents no instruction reads: first the values of all lanes, then
 * the results. */
enum { AT_VALUES = 0, AT_RESULT = 256, AT_RESULT2 = 384 };
_Static_assert(AT_RESULT2 + sizeof(rowmask_t) <= SINK_BYTES, "the sink holds a value, a result and a predicate");

/* Executes one operation for lanes at several instructions, each with its own registers. Every instruction runs with
 * the values of all lanes, and its own lanes keep the result. Results are written after all values have been read. */
static void execute_several(struct warp *w, rowmask_t group, struct effects *fx) {
    _Alignas(64) unsigned char values[AT_RESULT] = {0}, result[WARP_LANES * sizeof(uint32_t)] = {0};
    rowmask_t result2 = 0;
    for (rowmask_t rest = group; rest;) {
        const struct inst *in = waits_at(w, __builtin_ctz(rest));
        rowmask_t here = lanes_at(w, rest, w->sync.pc[__builtin_ctz(rest)]);
        blend_lanes(values, reg_ptr(w, in->a), here, value_bytes(in));
        rest &= ~here;
    }
    for (int step = 0; step < 2; step++)
        for (rowmask_t rest = group; rest;) {
            const struct inst *in = waits_at(w, __builtin_ctz(rest));
            rowmask_t here = lanes_at(w, rest, w->sync.pc[__builtin_ctz(rest)]);
            struct inst with = *in;
            rest &= ~here;
            if (step == 1) {
                if (in->d != OPND_SINK)
                    blend_lanes(reg_ptr(w, in->d), result, here, in->dsize);
                if (in->d2 != OPND_SINK)
                    blend_lanes(reg_ptr(w, in->d2), &result2, here, in->d2size);
                continue;
            }
            with.a = AT_VALUES << 1;
            with.d = AT_RESULT << 1;
            with.d2 = AT_RESULT2 << 1;
            memcpy(reg_ptr(w, with.a), values, sizeof values);
            with.fn.warp(w, &with, group, fx);
            blend_lanes(result, reg_ptr(w, with.d), here, in->dsize);
            blend_lanes(&result2, reg_ptr(w, with.d2), here, 0);
        }
}

static void execute(struct warp *w, rowmask_t group, struct effects *fx) {
    uint32_t pc = w->sync.pc[__builtin_ctz(group)];
    const struct inst *in = &w->program->code[pc];
    if (in->kind == K_WARPSYNC)
        return;
    if (lanes_at(w, group, pc) == group)
        in->fn.warp(w, in, group, fx);
    else
        execute_several(w, group, fx);
}

rowmask_t warp_sync_exit(struct warp *w, struct effects *fx) {
    rowmask_t seen = 0, released = 0;
    for (rowmask_t left; (left = w->sync.waiting & ~seen) != 0;) {
        int lane = __builtin_ctz(left);
        rowmask_t group = group_of(w, lane);
        seen |= group;
        if (waits_for(w, waits_at(w, lane), lane) & ~group)
            continue;
        execute(w, group, fx);
        w->sync.waiting &= ~group;
        released |= group;
    }
    return released;
}

rowmask_t warp_sync_arrive(struct warp *w, const struct inst *in, rowmask_t m, struct effects *fx) {
    w->sync.waiting |= m;
    for (; m; m &= m - 1)
        w->sync.pc[__builtin_ctz(m)] = (uint32_t)(in - w->program->code);
    return warp_sync_exit(w, fx);
}

rowmask_t warp_sync_missing(const struct warp *w, rowmask_t lanes, uint32_t pc) {
    rowmask_t missing = 0;
    for (rowmask_t m = lanes_at(w, w->sync.waiting & lanes, pc); m; m &= m - 1) {
        int l = __builtin_ctz(m);
        missing |= waits_for(w, waits_at(w, l), l) & ~group_of(w, l);
    }
    return missing;
}

const char *warp_sync_mistake(const struct warp *w, rowmask_t lanes) {
    const char *mistake = "";
    for (rowmask_t m = w->sync.waiting & lanes; m; m &= m - 1) {
        int l = __builtin_ctz(m);
        if (!(mask_of(w, waits_at(w, l), l) >> l & 1))
            return "; a member mask without the calling thread is undefined in PTX";
        if (warp_sync_missing(w, 1u << l, w->sync.pc[l]) & lanes_at(w, w->sync.waiting, w->sync.pc[l]))
            mistake = "; lanes that wait here for each other have different member masks";
    }
    return mistake;
}
