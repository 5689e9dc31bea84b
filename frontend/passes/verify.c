/* Checks the invariants of the finished program. */
#include "verify.h"
#include "isa/compound.h"

static void check_operand(struct verdict *r, const struct program *p, uint32_t pc, opnd_t o, unsigned bytes) {
    uint64_t end = (uint64_t)(o >> 1) + (bytes ? 32 * bytes : 4), limit = o & 1 ? p->constant_bytes : p->reg_bytes;
    if (end > limit)
        wrong(r, "pc %u: operand %u ends at %llu of %llu bytes of bank %u", pc, o, (unsigned long long)end,
              (unsigned long long)limit, o & 1);
    if (bytes && (o >> 1) % (bytes * 32 > 64 ? 64 : bytes * 32))
        wrong(r, "pc %u: operand %u is not aligned", pc, o);
}

static bool is_leader(const struct program *p, uint32_t pc) {
    return pc < p->n && p->blocks[p->info[pc].block].begin == pc;
}

static void check_target(struct verdict *r, const struct program *p, uint32_t pc, uint32_t to, bool may_exit) {
    if (!(may_exit && to == PC_EXIT) && !is_leader(p, to))
        wrong(r, "pc %u: target %u begins no block", pc, to);
    else if (to != PC_EXIT && p->info[to].function != p->info[pc].function)
        wrong(r, "pc %u: target %u is in another function", pc, to);
}

/* Checks a compound instruction: its entry exists, and its operations accept it. */
static void check_compound(struct verdict *r, const struct program *p, uint32_t pc, const struct inst *in) {
    const struct program_compound *c = (uint64_t)in->imm < p->n_compounds ? compound_of(p, in) : NULL;
    const char *why = c ? c->ops->wrong(in, c->what) : "the program has no such one";
    if (why)
        wrong(r, "pc %u: compound instruction: %s", pc, why);
}

static void check_inst(struct verdict *r, const struct program *p, uint32_t pc) {
    const struct inst *in = &p->code[pc];
    const struct inst_info *info = &p->info[pc];
    const struct block *b = &p->blocks[info->block < p->n_blocks ? info->block : 0];
    if (pc < b->begin || pc >= b->end) {
        wrong(r, "pc %u is not in its block", pc);
        return;
    }
    check_operand(r, p, pc, in->d, in->kind == K_CVT || in->kind == K_LOAD ? in->rsize : in->dsize);
    check_operand(r, p, pc, in->d2, in->d2size);
    check_operand(r, p, pc, in->a, 0);
    check_operand(r, p, pc, in->b, 0);
    check_operand(r, p, pc, in->c, 0);
    check_operand(r, p, pc, in->e, 0);
    if (in->guard != NO_GUARD && (in->guard % 4 || in->guard < SINK_BYTES || in->guard + 4 > p->reg_bytes))
        wrong(r, "pc %u: guard at %u", pc, in->guard);
    for (unsigned i = 0; i < in->n_list && in->kind != K_CALL; i++)
        if (in->list + i < p->n_lists)
            check_operand(r, p, pc, p->lists[in->list + i], in->rsize);
        else
            wrong(r, "pc %u: list out of range", pc);
    for (unsigned k = 0; k < (unsigned)info->n_reads + info->n_writes; k++)
        if (info->regs + k >= p->n_regs_list || p->regs[info->regs + k] >= p->n_regs)
            wrong(r, "pc %u: scoreboard register out of range", pc);
    if (in->kind == K_COMPOUND)
        check_compound(r, p, pc, in);
    if (in->kind == K_BRANCH)
        check_target(r, p, pc, in->target, false);
    if (in->kind == K_BRANCH || in->kind == K_BRX)
        check_target(r, p, pc, in->rpc, true);
    for (uint32_t t = 1; in->kind == K_BRX && t <= p->lists[in->list]; t++)
        check_target(r, p, pc, p->lists[in->list + t], false);
    if (in->kind == K_BSSY)
        check_target(r, p, pc, in->target, false);
    if ((in->ends_block & BLOCK_ENDS) != (in->kind >= K_BRANCH || pc + 1 == b->end))
        wrong(r, "pc %u: ends_block is %u", pc, in->ends_block);
    if (info->function >= p->n_functions || pc < p->functions[info->function].entry ||
        pc >= p->functions[info->function].end)
        wrong(r, "pc %u is not in its function", pc);
}

static void check_functions(struct verdict *r, const struct program *p) {
    for (uint32_t f = 0; f < p->n_functions; f++) {
        const struct program_function *fn = &p->functions[f];
        if (fn->entry >= fn->end || fn->end > p->n || !is_leader(p, fn->entry))
            wrong(r, "function %u from %u to %u of %u", f, fn->entry, fn->end, p->n);
    }
    if (!p->n_streams || p->streams[0].function != 0)
        wrong(r, "the kernel is not the first stream");
    for (uint32_t s = 0; s < p->n_streams; s++)
        if (p->streams[s].function >= p->n_functions || !p->streams[s].thread_regs)
            wrong(r, "stream %u of function %u", s, p->streams[s].function);
}

const char *verify_program(const struct program *p, char *buffer, size_t size) {
    struct verdict r = {buffer, size, false};
    check_functions(&r, p);
    if ((uintptr_t)p->constants % 64 || p->reg_bytes % 64)
        wrong(&r, "a bank is not aligned");
    for (uint32_t pc = 0; pc < p->n; pc++)
        check_inst(&r, p, pc);
    for (uint32_t k = 0; k + 1 < p->n_blocks; k++)
        if (p->blocks[k].end != p->blocks[k + 1].begin || p->blocks[k].begin >= p->blocks[k].end)
            wrong(&r, "blocks %u and %u do not follow each other", k, k + 1);
    for (uint32_t i = 0; i < p->n_specials; i++)
        if (p->specials[i].offset < SINK_BYTES || p->specials[i].offset + 32 * p->specials[i].bytes > p->reg_bytes)
            wrong(&r, "special register %u at %u", p->specials[i].id, p->specials[i].offset);
    if (p->control && !r.wrong)
        verify_control(&r, p);
    return r.wrong ? buffer : NULL;
}
