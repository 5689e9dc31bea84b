/* Executes and prints the instruction that sums over a warp. Each step calls the functions of the shuffle and the
 * addition that it replaces, for the executing lanes. So every lane gets the result of the ladder, bit for bit. A
 * serial sum (program_reduce.serial) adds in the order of the tree and rounds once. Its result is compared with the
 * program's sum. */
#include "isa/exec/exec_warp.h"
#include "isa/machine/effects.h"
#include "isa/softfloat.h"
#include "reduce_parts.h"

/* Byte offsets of two areas in the sink (OPND_SINK). The areas hold the lanes' own values and the shuffled values. No
 * instruction of the program reads the sink, so this code may use it. */
enum { AT_OWN = 256, AT_OTHER = 384 };
_Static_assert(AT_OTHER + WARP_LANES * sizeof(float) <= SINK_BYTES, "the sink holds both");

static struct inst shuffle_of(const struct warp *w, const struct inst *in, unsigned step) {
    const struct program_reduce *r = w->program->compounds[in->imm].what;
    return (struct inst){
        .fn.warp = r->shuffle,
        .a = AT_OWN << 1,
        .b = w->program->lists[in->list + step],
        .c = in->c,
        .e = in->e,
        .d = AT_OTHER << 1,
        .d2 = OPND_SINK,
        .row = r->shuffle_row,
    };
}

/* Returns the lane that `lane` reads in the shuffle of a step: `lane` itself if the shuffle has no source lane for
 * it. */
static int source_lane(const struct warp *w, const struct inst *in, unsigned step, int lane) {
    const struct program_reduce *r = w->program->compounds[in->imm].what;
    struct inst shuffle = shuffle_of(w, in, step);
    if (r->tree || r->serial)
        return lane;
    return shuffle_lane(w, &shuffle, lane);
}

/* Returns operand b of a lane: an address in shared memory, or for shuffles the distance or lane number. */
static uint64_t operand_b(const struct warp *w, const struct inst *in, const struct program_reduce *r, unsigned lane) {
    if (r->wide)
        return ((const uint64_t *)reg_ptr(w, in->b))[lane];
    return ((const uint32_t *)reg_ptr(w, in->b))[lane];
}

/* Returns the address `more` bytes beyond the value of a lane. */
static uint64_t word_at(const struct warp *w, const struct inst *in, const struct program_reduce *r, unsigned lane,
                        uint32_t more) {
    const uint64_t at = operand_b(w, in, r, lane) + (uint64_t)(int64_t)(int32_t)r->at + more;
    return r->wide ? at : (uint32_t)at;
}

/* Returns true if the tree computes the sum: the whole warp executes, and only lane r->lane uses the sum, or all lanes
 * use it. For a sum in shared memory, the values of the lanes must be in consecutive words. */
static bool suits_tree(const struct warp *w, const struct inst *in, const struct program_reduce *r, rowmask_t m) {
    const uint32_t *members = reg_ptr(w, in->e);
    const uint64_t first = operand_b(w, in, r, 0);
    if (m != LANES_ALL || (in->e != OPND_ZERO && members[0] != LANES_ALL))
        return false;
    for (unsigned l = 1; r->tree && l < WARP_LANES; l++)
        if (operand_b(w, in, r, l) != (r->wide ? first + l * sizeof(float) : (uint32_t)(first + l * sizeof(float))) ||
            (r->reads && word_at(w, in, r, l, 0) == r->read))
            return false;
    for (unsigned l = 0; !r->tree && r->lane != REDUCE_ALL && l < WARP_LANES; l++)
        if (l != r->lane && ((uint32_t)operand_b(w, in, r, l) & r->mask) == r->value)
            return false;
    return true;
}

/* ---- sums in shared memory ---- */

static unsigned char *shared_at(const struct warp *w, uint64_t address, unsigned lane, struct effects *fx) {
    if (address % sizeof(float) == 0 && address < w->cta->shared_bytes &&
        address + sizeof(float) <= w->cta->shared_bytes)
        return w->cta->shared + address;
    fx->fault = address % sizeof(float) ? FAULT_MISALIGNED : FAULT_OUT_OF_BOUNDS;
    fx->fault_text = NULL;
    fx->fault_lane = (uint8_t)lane;
    fx->fault_address = address;
    fx->fault_bytes = sizeof(float);
    fx->space = SPACE_SHARED;
    return NULL;
}

/* Executes one step: all lanes load, then all add, then all store, in ascending order. Returns false if a lane
 * faulted. */
static bool tree_step(struct warp *w, const struct inst *in, const struct program_reduce *r, unsigned k, rowmask_t m,
                      float *own, float *other, struct effects *fx) {
    _Alignas(64) unsigned char nothing[SINK_BYTES];
    const void *zero = reg_ptr(w, OPND_ZERO);
    for (rowmask_t left = m; left; left &= left - 1) {
        unsigned l = (unsigned)__builtin_ctz(left);
        const uint32_t apart = r->distance[k] * (uint32_t)sizeof(float);
        const unsigned char *mine = shared_at(w, word_at(w, in, r, l, 0), l, fx);
        const unsigned char *theirs = mine ? shared_at(w, word_at(w, in, r, l, apart), l, fx) : NULL;
        if (!theirs)
            return false;
        memcpy(&other[l], theirs, sizeof *other);
        if (r->reload[k])
            memcpy(&own[l], mine, sizeof *own);
    }
    r->add(own, nothing, r->own_first[k] ? own : other, r->own_first[k] ? other : own, zero, zero);
    for (rowmask_t left = m; left; left &= left - 1) {
        unsigned l = (unsigned)__builtin_ctz(left);
        memcpy(w->cta->shared + word_at(w, in, r, l, 0), &own[l], sizeof *own);
    }
    return true;
}

/* ---- serial sums ---- */

/* Returns the sum of n values in the order of the tree, unrounded: neighbours first; a value without a neighbour goes
 * to the next level. */
static double add_neighbours(double *v, unsigned n) {
    for (; n > 1; n = (n + 1) / 2)
        for (unsigned k = 0; k < n; k += 2)
            v[k / 2] = k + 1 < n ? v[k] + v[k + 1] : v[k];
    return v[0];
}

static float serial_lane(const struct warp *w, const struct program_reduce *r, uint64_t from, float more, bool ftz) {
    double v[REDUCE_SERIAL];
    for (unsigned k = 0; k < r->serial; k++) {
        float f;
        memcpy(&f, w->cta->shared + from + k * sizeof f, sizeof f);
        v[k] = (double)f32_flush(f, ftz);
    }
    return f32_result((float)(add_neighbours(v, r->serial) + (double)f32_flush(more, ftz)), ftz, false);
}

/* Executes a serial sum. Also computes the program's sum, which rounds each addition, and compares the two. */
static void exec_serial(struct warp *w, const struct inst *in, const struct program_reduce *r, rowmask_t m,
                        struct effects *fx) {
    _Alignas(64) unsigned char nothing[SINK_BYTES];
    _Alignas(64) float own[WARP_LANES], other[WARP_LANES] = {0};
    const float *a = reg_ptr(w, in->a);
    const void *zero = reg_ptr(w, OPND_ZERO);
    uint32_t n_rows;
    bool ftz = form_get(isa_rows(&n_rows)[r->add_row].form, CAT_FTZ) != 0;
    fx->taken = m & (m - 1) ? 0 : m;
    memcpy(own, a, sizeof own);
    for (unsigned k = 0; k < r->serial; k++) {
        for (rowmask_t left = m; left; left &= left - 1) {
            unsigned l = (unsigned)__builtin_ctz(left);
            const unsigned char *at = shared_at(w, word_at(w, in, r, l, k * (uint32_t)sizeof *other), l, fx);
            if (!at)
                return;
            memcpy(&other[l], at, sizeof *other);
        }
        r->add(own, nothing, own, other, zero, zero);
    }
    for (rowmask_t left = m; left; left &= left - 1) {
        unsigned l = (unsigned)__builtin_ctz(left);
        float have = serial_lane(w, r, word_at(w, in, r, l, 0), a[l], ftz);
        rounding_error_see(&w->cta->rounding_error, have, own[l]);
        own[l] = have;
    }
    if (in->d != OPND_SINK)
        blend_lanes(reg_ptr(w, in->d), own, m, sizeof *own);
}

static void exec_reduce(struct warp *w, const struct inst *in, rowmask_t m, struct effects *fx) {
    _Alignas(64) unsigned char nothing[SINK_BYTES];
    const struct program_reduce *r = w->program->compounds[in->imm].what;
    float *own = reg_ptr(w, AT_OWN << 1), *other = reg_ptr(w, AT_OTHER << 1);
    const void *zero = reg_ptr(w, OPND_ZERO);
    if (r->serial) {
        exec_serial(w, in, r, m, fx);
        return;
    }
    fx->taken = suits_tree(w, in, r, m) ? m : 0;
    memcpy(own, reg_ptr(w, in->a), WARP_LANES * sizeof *own);
    memset(other, 0, WARP_LANES * sizeof *other);
    for (unsigned k = 0; k < REDUCE_STEPS; k++) {
        if (r->tree) {
            if (!tree_step(w, in, r, k, m, own, other, fx))
                return;
            continue;
        }
        struct inst shuffle = shuffle_of(w, in, k);
        shuffle.fn.warp(w, &shuffle, m, fx);
        r->add(own, nothing, r->own_first[k] ? own : other, r->own_first[k] ? other : own, zero, zero);
    }
    if (in->d != OPND_SINK)
        blend_lanes(reg_ptr(w, in->d), own, m, sizeof *own);
}

/* Writes the operations, as in "shfl.down.b32, add.f32, 16 to 1, for lane 0". */
static void print_steps(const struct program_reduce *r, char *out, size_t size) {
    char shuffle[64], add[64];
    uint32_t n;
    const struct isa_row *rows = isa_rows(&n);
    if (r->tree || r->serial)
        snprintf(shuffle, sizeof shuffle, "shared");
    else
        isa_row_name(&rows[r->shuffle_row], shuffle, sizeof shuffle);
    isa_row_name(&rows[r->add_row], add, sizeof add);
    if (r->serial) {
        snprintf(out, size, "%s, %s, %u words in a row", shuffle, add, r->serial);
        return;
    }
    int len = snprintf(out, size, "%s, %s, %u to %u", shuffle, add, r->distance[0], r->distance[REDUCE_STEPS - 1]);
    if (r->lane != REDUCE_ALL && len > 0 && (size_t)len < size)
        snprintf(out + len, size - (size_t)len, ", for lane %u", r->lane);
}

/* Writes the rest of "#reduce r1, r2: shfl.down.b32, add.f32, 16 to 1, for lane 0" after the name. */
static void print(const struct compound_printer *p, const struct inst *in, const void *what) {
    char steps[192];
    print_steps(what, steps, sizeof steps);
    p->text(p->ctx, " ");
    p->operand(p->ctx, in->d, T_F32);
    p->text(p->ctx, ", ");
    p->operand(p->ctx, in->a, T_F32);
    p->text(p->ctx, ": ");
    p->text(p->ctx, steps);
}

static const char *wrong(const struct inst *in, const void *what) {
    const struct program_reduce *r = what;
    return in->n_list != (r->serial ? 0 : REDUCE_STEPS) ? "it has not a distance for each step" : NULL;
}

const struct compound_ops reduce_ops = {
    .name = "#reduce",
    .help = "sum of an f32 register over the lanes of a warp, as a ladder of shuffles gives it",
    .latency = LAT_F32_ADD,
    .execute = exec_reduce,
    .print = print,
    .wrong = wrong,
    .source_lane = source_lane,
    .steps = REDUCE_STEPS,
    .timing = &reduce_timing,
};

struct inst reduce_make(struct ir *ir, const struct program_reduce *r) {
    enum compound_memory memory = r->tree     ? COMPOUND_WRITES_SHARED
                                  : r->serial ? COMPOUND_READS_SHARED
                                              : COMPOUND_NO_MEMORY;
    struct program_reduce *what = arena_alloc(ir->keep, sizeof *what);
    *what = *r;
    struct inst in = ir_compound(
        ir, &(struct program_compound){.ops = &reduce_ops, .what = what, .memory = (uint8_t)memory, .wide_b = r->wide});
    if (r->serial)
        return in;
    in.list = ir->n_lists;
    in.n_list = REDUCE_STEPS;
    for (unsigned k = 0; k < REDUCE_STEPS; k++)
        ir_list_add(ir, ir_constant(ir, RC_32, r->distance[k], 0));
    return in;
}

void reduce_set_members(struct inst *in, opnd_t members) {
    in->e = members;
    in->hints |= members == OPND_ZERO ? HINT_COLLECTIVE : HINT_COLLECTIVE | HINT_MEMBERS;
}
