/* clusterlaunchcontrol: a cluster takes the work of a cluster that has not begun, which then never begins (PTX ISA
 * 9.7.13.17). The response of a request has 16 bytes: the id of the first CTA of the cancelled cluster, and a word that
 * is 1 if there is such a cluster. The response and the completion of its mbarrier happen when the instruction
 * executes. */
#ifndef ROWS_FILE /* see isa/rows.h */
#include "exec_mbarrier.h"
#include "exec_mem.h"
#include "isa/rows.h"

enum { RESPONSE = 16, MBARRIER_BYTES = 8, WORDS = 4 };

/* Returns the offset in the shared memory of the CTA to which a generic or shared::cta address points, or -1. */
static int64_t own_offset(const struct cta *c, uint64_t address, unsigned bytes) {
    if (address >= SHARED_WINDOW && address < LOCAL_WINDOW)
        address -= SHARED_WINDOW;
    return address % bytes == 0 && bytes <= c->shared_bytes && address <= c->shared_bytes - bytes ? (int64_t)address
                                                                                                  : -1;
}

static uint64_t operand(const struct warp *w, const struct inst *in, unsigned i, int l) {
    const void *at = reg_ptr(w, w->program->lists[in->list + i]);
    return in->asize >> i & 1 ? ((const uint64_t *)at)[l] : ((const uint32_t *)at)[l];
}

/* Cancels a cluster for lane l: stores the response to shared memory, and completes its bytes at the mbarrier. */
static void request(const struct warp *w, const struct inst *in, int l, struct effects *fx) {
    struct cta *c = w->cta;
    const bool multicast = in->imm;
    const int64_t at = own_offset(c, operand(w, in, 0, l), RESPONSE),
                  mbarrier = own_offset(c, operand(w, in, 1, l), MBARRIER_BYTES);
    struct dim3 id = {0, 0, 0};
    if (at < 0 || mbarrier < 0) {
        fx_fault_text(
            fx, FAULT_OUT_OF_BOUNDS, l,
            "the %s of clusterlaunchcontrol, at 0x%llx, is not aligned to %d bytes in the CTA's shared memory",
            at < 0 ? "response" : "mbarrier", (unsigned long long)operand(w, in, at >= 0, l),
            at < 0 ? RESPONSE : MBARRIER_BYTES);
        return;
    }
    const uint32_t taken = c->source && c->source->take(c->source->ctx, c, &id);
    const uint32_t word[WORDS] = {id.x, id.y, id.z, taken};
    for (uint32_t rank = 0; rank < c->cluster->n; rank++) {
        struct cta *to = multicast ? c->cluster->cta[rank] : c;
        if (!multicast && rank)
            return;
        const char *wrong =
            !to || !to->live_threads ? "the CTA has ended" : mbarrier_complete_bytes(to, (uint64_t)mbarrier, RESPONSE);
        if (wrong) {
            fx_fault_text(fx, FAULT_UNSUPPORTED, l,
                          "mbarrier at shared 0x%llx of CTA %u of the cluster, of clusterlaunchcontrol: %s",
                          (unsigned long long)mbarrier, multicast ? rank : c->rank, wrong);
            return;
        }
        memcpy(to->shared + at, word, sizeof word);
    }
}

static void try_cancel(struct warp *w, const struct inst *in, rowmask_t m, struct effects *fx) {
    for (; m && !fx->fault; m &= m - 1)
        request(w, in, __builtin_ctz(m), fx);
}

/* Reads a response. The value of imm selects the result:
 *   0: a predicate, true if a cluster was cancelled
 *   1 to 3: x, y or z of the cluster's first CTA
 *   4: x, y and z, and a fourth word that PTX leaves undefined */
static void query_cancel(struct warp *w, const struct inst *in, rowmask_t m, struct effects *fx) {
    const unsigned char *response = reg_ptr(w, in->a);
    const opnd_t *list = w->program->lists + in->list;
    rowmask_t taken = 0;
    for (rowmask_t left = m; left; left &= left - 1) {
        const int l = __builtin_ctz(left);
        uint32_t word[WORDS];
        memcpy(word, response + (size_t)l * RESPONSE, sizeof word);
        taken |= (rowmask_t)(word[3] & 1) << l;
        if (in->imm && !(word[3] & 1)) {
            fx_fault_text(fx, FAULT_UNSUPPORTED, l, "no cluster was cancelled, so it has no first CTA");
            return;
        }
        for (int i = 0; in->imm && i < in->n_list; i++)
            if (list[i] != OPND_SINK)
                ((uint32_t *)reg_out(w, list[i]))[l] = word[in->imm == WORDS ? i : in->imm - 1];
    }
    if (!in->imm && in->d != OPND_SINK)
        blend_lanes(reg_out(w, in->d), &taken, m, 0);
}

#define ROWS_FILE "isa/exec/exec_launch.c"
#define ROWS_NAME launch
#include "isa/rows_expand.h"
#else
/* clang-format off */
WARP_FN(CLUSTERLAUNCHCONTROL, T1(B128), FORM(MODE2, TRY_CANCEL), WARP, MEM, NO_OPDS, try_cancel)
WARP_FN(CLUSTERLAUNCHCONTROL, T2(PRED, B128), FORM(MODE2, QUERY_CANCEL), WARP, INT_OTHER,
    OPDS(PRED, NONE, B128, NONE, NONE, NONE), query_cancel)
WARP_FN(CLUSTERLAUNCHCONTROL, T2(B32, B128), FORM(MODE2, QUERY_CANCEL), WARP, INT_OTHER,
    OPDS(NONE, NONE, B128, NONE, NONE, NONE), query_cancel)
/* clang-format on */
#endif
