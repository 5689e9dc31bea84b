/* All of tcgen05 except tcgen05.mma (exec_tcgen05_mma.c): allocation, loads, stores and copies of tensor memory, and
 * arrivals (PTX ISA 9.7.16). Every operation changes memory when its instruction executes. PTX allows that, because a
 * thread must wait for an operation before it accesses the data of the operation. So waits and fences do nothing here.
 * cp, shift and commit act once for each lane that executes them, in ascending order. With .cta_group::2 they act on
 * both CTAs of the pair: cp copies in each CTA from the CTA's own shared memory. */
#ifndef ROWS_FILE /* see isa/rows.h */
#include "exec_tcgen05.h"
#include "exec_mbarrier.h"
#include "isa/group_matrix.h"
#include "isa/rows.h"
#include <stdlib.h>

enum { SMALLEST = 32, WARP_ROWS = 32, SHIFT_COLUMNS = 8 };

/* Faults unless all lanes of the warp execute. */
static bool is_whole(rowmask_t m, struct effects *fx) {
    if (m != LANES_ALL)
        fx_fault_text(fx, FAULT_PARTIAL_WARP, __builtin_ctz(m),
                      "this tcgen05 is executed by all 32 lanes of a warp together; here by lanes 0x%08x alone", m);
    return m == LANES_ALL;
}

/* ---- allocation ---- */

/* Checks a number of columns. */
static bool columns_fit(uint32_t n, struct effects *fx) {
    if (n >= SMALLEST && n <= TENSOR_COLUMNS && (n & (n - 1)) == 0)
        return true;
    fx_fault_text(fx, FAULT_UNSUPPORTED, 0, "%u columns of tensor memory; a number is a power of two from 32 to 512",
                  n);
    return false;
}

/* Finds `units` adjacent units that are free in all `n` CTAs. Returns the first unit, or -1 if there are none. */
static int find_units(struct cta *const cta[2], unsigned n, unsigned units) {
    for (unsigned at = 0; at + units <= TENSOR_UNITS; at += units) {
        bool all = true;
        for (unsigned i = 0; i < units * n; i++)
            all &= !cta[i / units]->tensor->owner[at + i % units];
        if (all)
            return (int)at;
    }
    return -1;
}

/* Returns true if the SM of CTA `c` has n free columns. Only the timing model limits the columns of an SM. */
static bool sm_has_columns(const struct cta *c, uint32_t n) {
    return !c->tensor_used || *c->tensor_used + n <= TENSOR_COLUMNS;
}

static void take_units(struct cta *c, unsigned first, unsigned units) {
    memset(c->tensor->owner + first, (int)units, units);
    if (c->tensor_used)
        *c->tensor_used += units * TENSOR_UNIT;
}

/* Allocates n columns in the CTAs. The warp that comes first allocates for both CTAs of a pair, so that the peer's warp
 * gets the same columns. Returns the first column, or -1 if no columns are free: the warp then tries again. */
static int allocate(struct cta *own, struct cta *const cta[2], unsigned ctas, uint32_t n, struct effects *fx) {
    struct tensor_memory *t = own->tensor;
    const unsigned units = n / TENSOR_UNIT;
    if (ctas == 2 && t->promises) {
        const struct tensor_promise p = t->promise[0];
        memmove(t->promise, t->promise + 1, --t->promises * sizeof *t->promise);
        if (p.columns == n)
            return p.column;
        fx_fault_text(fx, FAULT_UNSUPPORTED, 0, "%u columns of tensor memory, but the peer CTA allocated %u", n,
                      p.columns);
        return -1;
    }
    const int first = find_units(cta, ctas, units);
    if (first < 0 || !sm_has_columns(cta[0], n) || (ctas == 2 && !sm_has_columns(cta[1], n)))
        return -1;
    for (unsigned i = 0; i < ctas; i++)
        take_units(cta[i], (unsigned)first, units);
    if (ctas == 2) {
        struct tensor_memory *peer = cta[own == cta[0]]->tensor;
        peer->promise[peer->promises++] =
            (struct tensor_promise){(uint16_t)((unsigned)first * TENSOR_UNIT), (uint16_t)n};
    }
    return first * TENSOR_UNIT;
}

/* Allocates columns and sets the predicate d. If no columns are free, the predicate becomes false and the code that
 * lowering adds executes the instruction again. */
static void exec_alloc(struct warp *w, const struct inst *in, rowmask_t m, struct effects *fx) {
    const uint32_t n = *(const uint32_t *)reg_ptr(w, in->b);
    const bool pair = in->c != OPND_ZERO; /* a constant 1 */
    const rowmask_t none = 0;
    struct cta *cta[2];
    if (!is_whole(m, fx) || !columns_fit(n, fx))
        return;
    const unsigned ctas = tensor_ctas(w->cta, pair, 0, fx, cta);
    for (unsigned i = 0; i < ctas; i++)
        if (!cta[i]->tensor && !(cta[i]->tensor = calloc(1, sizeof *cta[i]->tensor))) {
            tensor_refuse(fx, 0, "no memory is left on the host for tensor memory");
            return;
        }
    if (!ctas)
        return;
    if (w->cta->tensor->relinquished) {
        tensor_refuse(fx, 0, "tcgen05.alloc after tcgen05.relinquish_alloc_permit");
        return;
    }
    mem_addresses(w, in, 1, fx, 1);
    mem_lanes_begin(in, fx);
    unsigned char *at = mem_lane(w, in, fx, 0, true);
    if (!at)
        return;
    if (!(fx->shared_lanes & 1) || cluster_is_remote(fx->addr[0])) {
        tensor_refuse(fx, 0, "tcgen05.alloc writes the address to shared memory of its CTA");
        return;
    }
    const int column = allocate(w->cta, cta, ctas, n, fx);
    if (fx->fault)
        return;
    blend_lanes(reg_out(w, in->d), column < 0 ? &none : &m, m, 0);
    if (column >= 0)
        memcpy(at, &column, sizeof(uint32_t));
}

static void exec_dealloc(struct warp *w, const struct inst *in, rowmask_t m, struct effects *fx) {
    struct tensor_memory *t = w->cta->tensor;
    const uint32_t address = *(const uint32_t *)reg_ptr(w, in->a), n = *(const uint32_t *)reg_ptr(w, in->b);
    const unsigned first = address / TENSOR_UNIT, units = n / TENSOR_UNIT;
    if (!is_whole(m, fx) || !columns_fit(n, fx))
        return;
    bool right = t && address % TENSOR_UNIT == 0 && address <= TENSOR_COLUMNS - n && first % units == 0;
    for (unsigned i = 0; right && i < units; i++)
        right = t->owner[first + i] == units;
    if (!right) {
        fx_fault_text(fx, FAULT_UNSUPPORTED, 0, "tcgen05.alloc returned no %u columns at 0x%08x", n, address);
        return;
    }
    memset(t->owner + first, 0, units);
    if (w->cta->tensor_used)
        *w->cta->tensor_used -= n;
}

static void exec_relinquish(struct warp *w, const struct inst *in, rowmask_t m, struct effects *fx) {
    (void)in;
    if (is_whole(m, fx) && w->cta->tensor)
        w->cta->tensor->relinquished = true;
}

/* ---- ld, st ---- */

/* Sets the row and the column of tensor memory that register `r` of a lane accesses. With .pack or .unpack, the column
 * counts packed elements. */
static void cell_of(const struct tensor_form *f, unsigned lane, unsigned r, unsigned *row, unsigned *column) {
    const unsigned g = lane / 4, t = lane % 4;
    switch (f->code) {
    case TENSOR_16X64B:
        *row = g + 8 * (t % 2);
        *column = 2 * r + t / 2;
        return;
    case TENSOR_16X128B:
        *row = g + 8 * (r % 2);
        *column = r / 2 * 4 + t;
        return;
    case TENSOR_16X256B:
        *row = g + 8 * (r / 2 % 2);
        *column = r / 4 * 8 + 2 * t + r % 2;
        return;
    case TENSOR_16X32BX2:
        *row = lane % 16;
        *column = r;
        return;
    default:
        *row = lane;
        *column = r;
    }
}

static void move_cells(struct warp *w, const struct inst *in, rowmask_t m, struct effects *fx, bool load) {
    const struct tensor_form f = tensor_unpack(in->imm);
    const uint32_t *address = reg_ptr(w, in->a), n = in->n_list - (tensor_unpack(in->imm).flags & TENSOR_RED ? 1u : 0);
    const opnd_t *list = w->program->lists + in->list;
    const unsigned first_row = w->index % GROUP_WARPS * WARP_ROWS, step = f.flags & TENSOR_PACK ? 2 : 1;
    if (!is_whole(m, fx))
        return;
    for (int l = 1; l < WARP_LANES; l++)
        if (address[l] != address[0]) {
            tensor_refuse(fx, l, "the address of tensor memory differs between the lanes of the warp");
            return;
        }
    const uint32_t at = address[0] + (uint32_t)f.offset, lane = at >> 16, column = at & 0xffff;
    const bool half = f.code != TENSOR_32X32B;
    if (lane != first_row && !(half && lane == first_row + WARP_ROWS / 2)) {
        fx_fault_text(
            fx, FAULT_UNSUPPORTED, 0,
            "address 0x%08x of tensor memory is in lane %u; this warp accesses lanes %u to %u, from the first%s "
            "of them on",
            at, lane, first_row, first_row + WARP_ROWS - 1, half ? " or the 17th" : "");
        return;
    }
    unsigned last_row, last;
    cell_of(&f, WARP_LANES - 1, n - 1, &last_row, &last);
    if (!tensor_allocated(w->cta, column, (last + 1) * step, 0, fx) ||
        (f.code == TENSOR_16X32BX2 && !tensor_allocated(w->cta, column + f.more, n * step, 0, fx)))
        return;
    for (unsigned r = 0; r < n; r++) {
        uint32_t *word = load ? reg_out(w, list[r]) : reg_ptr(w, list[r]);
        for (unsigned l = 0; l < WARP_LANES; l++) {
            unsigned row, c;
            cell_of(&f, l, r, &row, &c);
            c = column + c * step + (f.code == TENSOR_16X32BX2 && l >= 16 ? f.more : 0);
            uint32_t *cell = &w->cta->tensor->cell[c][lane + row], *next = step == 2 ? cell + TENSOR_LANES : cell;
            if (load) {
                word[l] = step == 2 ? (*cell & 0xffff) | *next << 16 : *cell;
            } else {
                *next = step == 2 ? word[l] >> 16 : word[l];
                *cell = step == 2 ? word[l] & 0xffff : word[l];
            }
        }
    }
}

/* Returns the minimum or maximum of two words of this type. */
static uint32_t combine(unsigned type, unsigned flags, uint32_t a, uint32_t b) {
    const bool max = flags & TENSOR_MAX;
    if (type == T_F32)
        return f32_bits(f32_minmax(f32_from_bits(a), f32_from_bits(b), max, flags & TENSOR_NAN, false));
    const bool greater = type == T_S32 ? (int32_t)a > (int32_t)b : a > b;
    return greater == max ? a : b;
}

/* Reduces the words that each lane has loaded to their minimum or maximum. With .abs, uses magnitudes. */
static void combine_columns(struct warp *w, const struct inst *in) {
    const unsigned flags = tensor_unpack(in->imm).flags, n = in->n_list - 1u;
    const opnd_t *list = w->program->lists + in->list;
    const uint32_t keep = flags & TENSOR_ABS ? 0x7fffffff : UINT32_MAX;
    uint32_t rows, result[WARP_LANES];
    const unsigned type = isa_rows(&rows)[in->row].types[0];
    for (unsigned l = 0; l < WARP_LANES; l++) {
        result[l] = ((const uint32_t *)reg_ptr(w, list[0]))[l] & keep;
        for (unsigned r = 1; r < n; r++)
            result[l] = combine(type, flags, result[l], ((const uint32_t *)reg_ptr(w, list[r]))[l] & keep);
    }
    memcpy(reg_out(w, list[n]), result, sizeof result);
}

static void exec_ld(struct warp *w, const struct inst *in, rowmask_t m, struct effects *fx) {
    move_cells(w, in, m, fx, true);
    if (!fx->fault && tensor_unpack(in->imm).flags & TENSOR_RED)
        combine_columns(w, in);
}
static void exec_st(struct warp *w, const struct inst *in, rowmask_t m, struct effects *fx) {
    move_cells(w, in, m, fx, false);
}
static void exec_wait(struct warp *w, const struct inst *in, rowmask_t m, struct effects *fx) {
    (void)w, (void)in;
    (void)is_whole(m, fx);
}
static void exec_nothing(struct warp *w, const struct inst *in, rowmask_t m, struct effects *fx) {
    (void)w, (void)in, (void)m, (void)fx;
}

/* ---- cp, shift ---- */

/* Expands 16 numbers of 4 or 6 bits and their padding to 16 bytes, one for each number. A number of 4 bits goes to bits
 * 2 to 5 of its byte, where tcgen05.mma reads it [reading]. */
static void expand(unsigned source, const unsigned char *from, unsigned char to[TILE_CHUNK]) {
    const unsigned bits = source == TENSOR_B4X16_P64 ? 4 : 6;
    for (unsigned i = 0; i < TILE_CHUNK; i++) {
        const unsigned at = i * bits, v = (unsigned)(from[at / 8] | from[at / 8 + 1] << 8) >> at % 8;
        to[i] = (unsigned char)(bits == 4 ? (v & 15) << 2 : v & 63);
    }
}

/* Returns the row of the source matrix that cp copies to a lane, or -1 if the lane gets none. The four rows of 4x256b
 * go to one lane of each of four warps. */
static int row_of_lane(unsigned copy, unsigned lane, unsigned first) {
    const unsigned warp = lane / WARP_ROWS, rows = tensor_copy_rows(copy);
    if (rows == 4)
        return lane % WARP_ROWS == first ? (int)warp : -1;
    return (int)(copy == TENSOR_CP_64X128B_01_23 ? warp / 2 * WARP_ROWS + lane % WARP_ROWS : lane % rows);
}

/* Copies a matrix from the shared memory of a CTA to the CTA's tensor memory. */
static bool copy_matrix(struct cta *c, const struct tensor_form *f, uint32_t at, uint64_t descriptor, int l,
                        struct effects *fx) {
    const uint32_t column = at & 0xffff;
    const unsigned chunks = f->code == TENSOR_CP_128X256B || f->code == TENSOR_CP_4X256B ? 2 : 1;
    struct tile t;
    if (!tensor_matrix(descriptor, "the matrix", false, false, l, fx, &t) ||
        !tensor_allocated(c, column, 4 * chunks, l, fx))
        return false;
    for (unsigned lane = 0; lane < TENSOR_LANES; lane++)
        for (unsigned i = 0; i < chunks; i++) {
            const int row = row_of_lane(f->code, lane, at >> 16);
            const unsigned char *from = row < 0 ? NULL : tensor_chunk(c, tile_at(&t, (uint32_t)row, i), l, fx);
            unsigned char bytes[TILE_CHUNK];
            uint32_t word[4];
            if (row >= 0 && !from)
                return false;
            if (from && f->more != TENSOR_BYTES)
                expand(f->more, from, bytes);
            if (from)
                memcpy(word, f->more != TENSOR_BYTES ? bytes : from, sizeof word);
            for (unsigned x = 0; x < 4 && from; x++)
                c->tensor->cell[column + 4 * i + x][lane] = word[x];
        }
    return true;
}

static void exec_cp(struct warp *w, const struct inst *in, rowmask_t m, struct effects *fx) {
    const struct tensor_form f = tensor_unpack(in->imm);
    for (; m; m &= m - 1) {
        const int l = __builtin_ctz(m);
        const uint32_t at = ((const uint32_t *)reg_ptr(w, in->a))[l] + (uint32_t)f.offset;
        struct cta *cta[2];
        const unsigned ctas = tensor_ctas(w->cta, f.flags & TENSOR_PAIR, l, fx, cta);
        if (at >> 16 >= (f.code == TENSOR_CP_4X256B ? WARP_ROWS : 1u))
            tensor_refuse(fx, l,
                          "the address of tcgen05.cp is in lane 0, or for .4x256b in lane 0 to 31 of tensor memory");
        for (unsigned i = 0; i < ctas && !fx->fault; i++)
            copy_matrix(cta[i], &f, at, ((const uint64_t *)reg_ptr(w, in->b))[l], l, fx);
        if (fx->fault)
            return;
    }
}

/* Shifts 32 bytes of the 32 lanes of a warp down by a lane: lane i gets the data of lane i + 1, and the last lane keeps
 * its data [reading]. */
static void shift_lanes(struct cta *c, uint32_t at, int l, struct effects *fx) {
    if (!tensor_allocated(c, at & 0xffff, SHIFT_COLUMNS, l, fx))
        return;
    for (unsigned x = 0; x < SHIFT_COLUMNS; x++) {
        uint32_t *cell = &c->tensor->cell[(at & 0xffff) + x][at >> 16];
        memmove(cell, cell + 1, (WARP_ROWS - 1) * sizeof *cell);
    }
}

static void exec_shift(struct warp *w, const struct inst *in, rowmask_t m, struct effects *fx) {
    const struct tensor_form f = tensor_unpack(in->imm);
    for (; m && !fx->fault; m &= m - 1) {
        const int l = __builtin_ctz(m);
        const uint32_t at = ((const uint32_t *)reg_ptr(w, in->a))[l] + (uint32_t)f.offset;
        struct cta *cta[2];
        const unsigned ctas = tensor_ctas(w->cta, f.flags & TENSOR_PAIR, l, fx, cta);
        if ((at >> 16) % WARP_ROWS || at >> 16 >= TENSOR_LANES)
            tensor_refuse(fx, l, "the address of tcgen05.shift is in lane 0, 32, 64 or 96 of tensor memory");
        for (unsigned i = 0; i < ctas && !fx->fault; i++)
            shift_lanes(cta[i], at, l, fx);
    }
}

/* ---- arrivals in a cluster ---- */

/* Executes a commit that may arrive in other CTAs. With a mask, it arrives in each CTA of the mask, at the mbarrier
 * with the same offset in shared memory. Without a mask, it arrives at one mbarrier. The thread's products are
 * complete, because the timing model executes the commit only after they have ended. */
static void exec_commit_far(struct warp *w, const struct inst *in, rowmask_t m, struct effects *fx) {
    const uint16_t *masks = in->c != OPND_ZERO ? reg_ptr(w, in->b) : NULL; /* c: a constant 1 for .multicast::cluster */
    mem_addresses(w, in, m, fx, 1);
    mem_lanes_begin(in, fx);
    for (; m; m &= m - 1) {
        const int l = __builtin_ctz(m);
        if (!mem_lane(w, in, fx, l, true))
            return;
        if (!(fx->shared_lanes >> l & 1)) {
            tensor_refuse(fx, l, "the mbarrier of tcgen05.commit lies in shared memory");
            return;
        }
        const struct cluster *k = w->cta->cluster;
        const uint64_t offset = fx->addr[l] % CLUSTER_STEP;
        const uint32_t own = cluster_is_remote(fx->addr[l]) ? (uint32_t)(fx->addr[l] / CLUSTER_STEP) - 1 : w->cta->rank;
        const uint32_t mask = masks ? masks[l] : 1u << own;
        for (uint32_t rank = 0; rank < 16; rank++) {
            if (!(mask >> rank & 1))
                continue;
            uint64_t address = cluster_address(rank, offset);
            const char *wrong = rank >= k->n ? "the cluster has no such CTA"
                                : !cluster_lane(w->cta, fx, l, &address, 8, true)
                                    ? NULL
                                    : mbarrier_arrive_once(k->cta[rank], offset);
            if (wrong)
                fx_fault_text(fx, FAULT_UNSUPPORTED, l,
                              "arrival at the mbarrier at shared 0x%llx of CTA %u of the cluster: %s",
                              (unsigned long long)offset, rank, wrong);
            if (fx->fault)
                return;
        }
    }
}

#define TENSOR_ROW(operation, types, form, lat, opds, fn)                                                              \
    WARP_FN(TCGEN05, types, FORM(MODE2, operation) | (form), WARP, lat, opds, fn)

#define ROWS_FILE "isa/exec/exec_tcgen05.c"
#define ROWS_NAME tcgen05
#include "isa/rows_expand.h"
#else
/* clang-format off */
TENSOR_ROW(ALLOC, T1(B32), FLAG(SYNC), MEM, OPDS(PRED, NONE, NONE, B32, B32, NONE), exec_alloc)
TENSOR_ROW(DEALLOC, T1(B32), FLAG(SYNC), CONTROL, OPDS(NONE, NONE, B32, B32, NONE, NONE), exec_dealloc)
TENSOR_ROW(RELINQUISH, T0, FLAG(SYNC), CONTROL, NO_OPDS, exec_relinquish)
TENSOR_ROW(LD, T1(B32), FLAG(SYNC), MEM, OPDS(NONE, NONE, B32, NONE, NONE, NONE), exec_ld)
TENSOR_ROW(LD, T1(F32), FLAG(SYNC), MEM, OPDS(NONE, NONE, B32, NONE, NONE, NONE), exec_ld)
TENSOR_ROW(LD, T1(U32), FLAG(SYNC), MEM, OPDS(NONE, NONE, B32, NONE, NONE, NONE), exec_ld)
TENSOR_ROW(LD, T1(S32), FLAG(SYNC), MEM, OPDS(NONE, NONE, B32, NONE, NONE, NONE), exec_ld)
TENSOR_ROW(ST, T1(B32), FLAG(SYNC), MEM, OPDS(NONE, NONE, B32, NONE, NONE, NONE), exec_st)
/* The rows of waits and fences, whose functions do nothing. */
WARP_FN(TCGEN05, T0, FLAG(SYNC), WARP, CONTROL, NO_OPDS, exec_wait)
WARP_FN(TCGEN05, T0, 0, WARP, CONTROL, NO_OPDS, exec_nothing)
TENSOR_ROW(CP, T0, 0, MEM, OPDS(NONE, NONE, B32, B64, NONE, NONE), exec_cp)
TENSOR_ROW(SHIFT, T0, 0, MEM, OPDS(NONE, NONE, B32, NONE, NONE, NONE), exec_shift)
/* commit with .multicast::cluster or .cta_group::2; only lowering names this row */
TENSOR_ROW(COMMIT_FAR, T1(B64), 0, MEM, OPDS(NONE, NONE, NONE, B16, B32, NONE), exec_commit_far)
/* clang-format on */
#endif
