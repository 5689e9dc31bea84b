/* Invariants of the program under construction and of the finished one. */
#include "pass.h"
#include <stdarg.h>
#include <string.h>

struct report {
    char *buffer;
    size_t size;
    bool wrong;
};

/* Keeps the first thing that is wrong. */
__attribute__((format(printf, 2, 3))) static void wrong(struct report *r, const char *fmt, ...) {
    va_list args;
    if (r->wrong)
        return;
    va_start(args, fmt);
    vsnprintf(r->buffer, r->size, fmt, args);
    va_end(args);
    r->wrong = true;
}

static void check_virtual(struct report *r, const struct ir *ir, uint32_t i, opnd_t o) {
    if (o & 1) {
        if ((o >> 1) % 64 || (o >> 1) >= ir->constant_bytes)
            wrong(r, "instruction %u: constant at %u of %u bytes", i, o >> 1, ir->constant_bytes);
    } else if (o >> 1 >= ir->n_vregs) {
        wrong(r, "instruction %u: register %u of %u", i, o >> 1, ir->n_vregs);
    }
}

const char *verify_ir(const struct ir *ir, const char *name, char *buffer, size_t size) {
    struct report r = {buffer, size, false};
    uint32_t targets = ir->n_blocks ? ir->n_blocks : ir->n;
    for (uint32_t i = 0; i < ir->n; i++) {
        const struct inst *in = &ir->code[i];
        const struct inst_info *info = &ir->info[i];
        opnd_t all[] = {in->d, in->d2, in->a, in->b, in->c, in->e};
        for (int k = 0; k < 6; k++)
            check_virtual(&r, ir, i, all[k]);
        if ((in->d | in->d2) & 1)
            wrong(&r, "instruction %u writes a constant", i);
        if (in->guard != NO_GUARD && (in->guard >= ir->n_vregs || ir->vregs[in->guard].cls != RC_PRED))
            wrong(&r, "instruction %u: the guard is no predicate", i);
        if (in->kind == K_BRANCH && in->target >= targets)
            wrong(&r, "instruction %u branches to %u of %u", i, in->target, targets);
        if (info->regs + info->n_reads + info->n_writes > ir->n_regs)
            wrong(&r, "instruction %u: register list out of range", i);
        if (ir->n_blocks &&
            (info->block >= ir->n_blocks || i < ir->blocks[info->block].begin || i >= ir->blocks[info->block].end))
            wrong(&r, "instruction %u is not in its block %u", i, info->block);
        if (in->kind >= K_BRANCH && ir->n_blocks && i + 1 != ir->blocks[info->block].end)
            wrong(&r, "instruction %u is control inside block %u", i, info->block);
    }
    for (uint32_t f = 0; f < ir->n_functions; f++)
        if (ir->functions[f].begin >= ir->functions[f].end ||
            !inst_never_falls_through(&ir->code[ir->functions[f].end - 1]))
            wrong(&r, "function %u falls off its end after %s", f, name);
    return r.wrong ? buffer : NULL;
}

static void check_operand(struct report *r, const struct program *p, uint32_t pc, opnd_t o, unsigned bytes) {
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

static void check_target(struct report *r, const struct program *p, uint32_t pc, uint32_t to, bool may_exit) {
    if (!(may_exit && to == PC_EXIT) && !is_leader(p, to))
        wrong(r, "pc %u: target %u begins no block", pc, to);
    else if (to != PC_EXIT && p->info[to].function != p->info[pc].function)
        wrong(r, "pc %u: target %u is in another function", pc, to);
}

static void check_inst(struct report *r, const struct program *p, uint32_t pc) {
    const struct inst *in = &p->code[pc];
    const struct inst_info *info = &p->info[pc];
    const struct block *b = &p->blocks[info->block];
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
    if (in->kind == K_BRANCH)
        check_target(r, p, pc, in->target, false);
    if (in->kind == K_BRANCH || in->kind == K_BRX)
        check_target(r, p, pc, in->rpc, true);
    for (uint32_t t = 1; in->kind == K_BRX && t <= p->lists[in->list]; t++)
        check_target(r, p, pc, p->lists[in->list + t], false);
    if (in->kind == K_BSSY)
        check_target(r, p, pc, in->target, false);
    if (pc < b->begin || pc >= b->end)
        wrong(r, "pc %u is not in its block", pc);
    if ((in->ends_block & BLOCK_ENDS) != (in->kind >= K_BRANCH || pc + 1 == b->end))
        wrong(r, "pc %u: ends_block is %u", pc, in->ends_block);
    if (info->function >= p->n_functions || pc < p->functions[info->function].entry ||
        pc >= p->functions[info->function].end)
        wrong(r, "pc %u is not in its function", pc);
}

const char *verify_program(const struct program *p, char *buffer, size_t size) {
    struct report r = {buffer, size, false};
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
    return r.wrong ? buffer : NULL;
}
