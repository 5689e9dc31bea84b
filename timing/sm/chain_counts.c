/* Chains on an SM: what each counts. They issue, read, execute and write as any instruction does; timed.c says how long
 * they take. */
#include "counting.h"
#include "isa/chain.h"

/* Lanes that do each operation of one chain, and lanes that do it for nothing: those of a folded instruction that keep
 * the other result. What compares, or hands a value on, counts as a minimum in all of them; a move of a result is
 * nothing. */
static void count_part(struct sm *sm, const struct chain_part *p, uint32_t kept, uint32_t lost) {
    static const uint8_t class[] = {[CHAIN_ADD] = CLASS_F32_ADD,
                                    [CHAIN_SUB] = CLASS_F32_ADD,
                                    [CHAIN_MUL] = CLASS_F32_MUL,
                                    [CHAIN_FMA] = CLASS_F32_FMA};
    struct sm_chain_counts *n = &sm->n.chain;
    if (p->op > CHAIN_FMA) {
        sm->n.op_lanes[CLASS_F32_MINMAX] += p->units ? kept + lost : 0;
        return;
    }
    sm->n.op_lanes[class[p->op]] += kept;
    n->lost_adds += p->op == CHAIN_MUL ? 0 : lost;
    n->lost_muls += p->op == CHAIN_MUL || p->op == CHAIN_FMA ? lost : 0;
}

void sm_count_chain(struct sm *sm, uint32_t pc) {
    const struct program *p = sm->program->program;
    const struct program_chain *c = fused_of(p, &p->code[pc]);
    struct sm_chain_counts *n = &sm->n.chain;
    uint32_t lanes = (uint32_t)__builtin_popcount(sm->fx.lanes);
    uint32_t first = lanes ? (uint32_t)__builtin_popcount(sm->fx.taken) : 0;
    uint32_t second = c->folded ? lanes - first : lanes;
    n->instructions++;
    n->dual += c->split < c->n && !c->folded;
    n->folded += c->folded;
    n->reads_saved += c->reads_saved;
    n->writes_saved += c->writes_saved;
    for (unsigned which = 0; which < 1u + (c->split < c->n); which++)
        n->by_length[chain_units(c, which) - 1]++;
    for (unsigned k = 0; k < c->n; k++) {
        uint32_t kept = k < c->split ? first : second;
        count_part(sm, &c->part[k], kept, lanes - kept);
        n->operations += c->part[k].units;
    }
}
