/* Executes lane functions in some of the lanes, and conversions whose registers are wider than the types (exec.h). */
#include "exec.h"
#include "isa/decode.h"
#include "isa/machine/blend.h"

enum { LANE_BYTES_MAX = 16 };

static inline void put_lanes(void *to, const void *from, rowmask_t m, unsigned size) {
    if (size == 4)
        blend_elems(to, from, m, WARP_LANES, 4);
    else
        blend_lanes(to, from, m, size);
}

void exec_lane_masked(struct warp *w, const struct inst *in, rowmask_t m) {
    _Alignas(64) unsigned char d[WARP_LANES * LANE_BYTES_MAX], d2[WARP_LANES * LANE_BYTES_MAX];
    in->fn.lane(d, d2, reg_ptr(w, in->a), reg_ptr(w, in->b), reg_ptr(w, in->c), reg_ptr(w, in->e));
    if (in->d != OPND_SINK)
        put_lanes(reg_out(w, in->d), d, m, in->dsize);
    if (in->d2 != OPND_SINK)
        blend_lanes(reg_out(w, in->d2), d2, m, in->d2size);
}

/* Copies the low `size` bytes of each lane's register, which has `reg` bytes. */
static void narrow(void *to, unsigned size, const unsigned char *from, unsigned reg) {
    unsigned char *t = to;
    for (int l = 0; l < WARP_LANES; l++)
        memcpy(t + l * size, from + l * reg, size);
}

/* Extends values of `size` bytes to registers of `reg` bytes (at most 8). */
static void widen(void *to, unsigned reg, const unsigned char *from, unsigned size, bool is_signed) {
    unsigned char *t = to;
    for (int l = 0; l < WARP_LANES; l++) {
        uint64_t v = 0;
        memcpy(&v, from + l * size, size);
        if (is_signed)
            v = (uint64_t)((int64_t)(v << (64 - 8 * size)) >> (64 - 8 * size));
        memcpy(t + l * reg, &v, reg);
    }
}

void exec_cvt(struct warp *w, const struct inst *in, rowmask_t m) {
    _Alignas(64) unsigned char a[WARP_LANES * LANE_BYTES_MAX], d[WARP_LANES * LANE_BYTES_MAX],
        wide[WARP_LANES * LANE_BYTES_MAX];
    const void *from = reg_ptr(w, in->a);
    if (in->asize > in->msize) {
        narrow(a, in->msize, from, in->asize);
        from = a;
    }
    in->fn.lane(d, d, from, reg_ptr(w, in->b), reg_ptr(w, in->c), reg_ptr(w, in->e));
    const void *result = d;
    if (in->rsize > in->dsize) {
        widen(wide, in->rsize, d, in->dsize, in->is_signed);
        result = wide;
    }
    blend_lanes(reg_ptr(w, in->d), result, m, in->rsize);
}

/* Returns true if the instruction may access several words of local memory at once: a wide atomic, a copy, or a read of
 * strings or arguments. */
static bool wants_bytes_together(const struct inst *in) {
    uint32_t n, op;
    const bool reaches = in->space == SPACE_LOCAL || in->space == SPACE_GENERIC;
    switch (in->kind) {
    case K_LOAD:
    case K_STORE:
    case K_PREFETCH:
        return false;
    case K_ATOM:
        return reaches && (!in->msize || in->msize > 4 || in->n_list);
    case K_COPY:
        return reaches;
    case K_WARP:
        op = isa_rows(&n)[in->row].op;
        return op == OP_VPRINTF || op == OP_ASSERTFAIL;
    default:
        return false;
    }
}

bool exec_local_by_word(const struct program *p) {
    for (uint32_t pc = 0; pc < p->n; pc++)
        if (wants_bytes_together(&p->code[pc]))
            return false;
    return true;
}

bool exec_lands_copies(const struct inst *in) {
    uint32_t n;
    return in->kind == K_COLLECT || (in->kind == K_ATOM && isa_rows(&n)[in->row].op == OP_CP);
}
