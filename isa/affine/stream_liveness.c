/* Liveness of the affine stream's registers. A divergent write must keep the old values of waiting threads only if
 * these threads will read them. */
#include "engine_parts.h"
#include <stdlib.h>
#include <string.h>

static uint64_t *live_at(const struct affine_stream *e, uint32_t pc) {
    return e->live_regs + (size_t)(pc - e->begin) * e->reg_words;
}

static void put(uint64_t *set, uint16_t reg, bool is_live) {
    const uint64_t bit = (uint64_t)1 << reg % 64;
    if (reg == NO_REG)
        return;
    set[reg / 64] = is_live ? set[reg / 64] | bit : set[reg / 64] & ~bit;
}

static void add(uint64_t *set, const uint64_t *more, uint32_t words) {
    for (uint32_t i = 0; i < words; i++)
        set[i] |= more[i];
}

/* Computes the registers live before the instruction at `pc` from those live after it. A guarded instruction may not
 * execute in all threads, so its result kills no register. */
static void live_before(const struct affine_stream *e, uint32_t pc, uint64_t *set) {
    const struct affine_op *op = &e->ops[pc - e->begin];
    const uint8_t kind = op->in.kind;
    const bool guarded = op->guard != NO_REG, ends = kind == K_EXIT || kind == K_RET || kind == K_TRAP;
    memset(set, 0, e->reg_words * sizeof *set);
    if (kind == K_BRANCH && op->in.target >= e->begin && op->in.target < e->end)
        add(set, live_at(e, op->in.target), e->reg_words);
    if (guarded || (kind != K_BRANCH && !ends))
        add(set, live_at(e, pc + 1), e->reg_words);
    for (int i = 0; i < op->n_dests && !guarded; i++)
        put(set, op->dest[i].reg, false);
    for (int i = 0; i < op->n_sources; i++)
        put(set, op->source[i].reg, true);
    put(set, op->guard, true);
}

bool affine_find_liveness(struct affine_stream *e) {
    const uint32_t words = e->reg_words;
    uint64_t *set = malloc((words + 1) * sizeof *set);
    for (bool changed = set != NULL; changed;) {
        changed = false;
        /* instructions are visited in backward order, so that each level of nested loops needs only one more pass */
        for (uint32_t pc = e->end; pc-- > e->begin;) {
            live_before(e, pc, set);
            if (memcmp(set, live_at(e, pc), words * sizeof *set) != 0) {
                memcpy(live_at(e, pc), set, words * sizeof *set);
                changed = true;
            }
        }
    }
    free(set);
    return set != NULL;
}

bool engine_is_dead_elsewhere(const struct affine_engine *e, const struct affine_op *op) {
    /* a guarded write does not end the old value, which a later instruction may read in threads for which the guard is
     * false */
    if (op->guard != NO_REG)
        return false;
    for (uint32_t k = 0; k + 1 < e->depth; k++) {
        const uint32_t pc = e->stack[k].pc;
        if (pc < e->stream.begin || pc >= e->stream.end) /* these threads exit */
            continue;
        for (int i = 0; i < op->n_dests; i++)
            if (live_at(&e->stream, pc)[op->dest[i].reg / 64] >> op->dest[i].reg % 64 & 1)
                return false;
    }
    return true;
}
