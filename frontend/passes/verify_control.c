/* Checks that control bits are sufficient, on every path through the program: it follows each result and each operand
 * until somebody has waited for it. The pass finds the bits by an analysis of all results at once, so the two have only
 * the table of latencies in common. */
#include "isa/control_bits.h"
#include "isa/control_uses.h"
#include "verify.h"
#include <stdlib.h>
#include <string.h>

enum { OLD = CONTROL_MAX_STALL + 1, UNSEEN = 255, NOT_AT_ALL = 1000 };

struct follow {
    const struct program *p;
    struct verdict *r;
    uint32_t from, offset; /* PC of the followed instruction; offset of its register that is followed */
    bool result;           /* true: the register is the instruction's result, which may be late; false: it is a source,
                            * which may be unread */
    struct control_timing timing;
    uint8_t *age;       /* PC -> least cycles since the instruction issued, of the paths followed so far; or UNSEEN */
    uint32_t *stack, n; /* PCs where paths continue */
    unsigned needed;    /* by visit(): cycles that an instruction needs after the followed one */
};

static unsigned cycles_of(const struct control_bits *b) { return b->stall ? b->stall : 1; }

static void reach(struct follow *f, uint32_t pc, unsigned age) {
    if (age > OLD)
        age = OLD;
    if (f->age[pc] <= age)
        return;
    f->age[pc] = (uint8_t)age;
    f->stack[f->n++] = pc;
}

static void reach_next(struct follow *f, uint32_t pc, unsigned age) {
    const struct program *p = f->p;
    const struct block *b = &p->blocks[p->info[pc].block];
    const struct inst *in = &p->code[pc];
    if (pc + 1 < b->end) {
        reach(f, pc + 1, age);
        return;
    }
    for (int i = 0; i < 2; i++)
        if (b->succ[i] != UINT32_MAX)
            reach(f, p->blocks[b->succ[i]].begin, age);
    for (uint32_t t = 1; in->kind == K_BRX && t <= p->lists[in->list]; t++)
        reach(f, p->lists[in->list + t], age);
}

static void need(struct follow *f, unsigned cycles) { f->needed = cycles > f->needed ? cycles : f->needed; }

static struct control_timing timing_at(const struct follow *f, uint32_t pc) { return f->p->control[pc].timing; }

struct visit {
    struct follow *f;
    uint32_t pc;
};

static void visit(void *ctx, uint32_t offset, enum control_use use, unsigned position) {
    const struct visit *v = ctx;
    struct follow *f = v->f;
    (void)position;
    if (offset != f->offset)
        return;
    if (!f->result)
        need(f, use == CONTROL_WRITES ? NOT_AT_ALL : 0);
    else if (f->timing.unit == CONTROL_QUEUED)
        need(f, NOT_AT_ALL);
    else
        need(f, control_distance(f->timing, timing_at(f, v->pc), use, control_register_bytes(f->p, offset) == 0));
}

/* Returns true if the instruction at `pc` waits for a counter that is raised as long as the followed register is late
 * or unread. The instruction sees a counter that was raised two or more cycles before it. */
static bool waits(const struct follow *f, uint32_t pc) {
    const struct control_bits *from = &f->p->control[f->from], *b = &f->p->control[pc];
    uint8_t counters = 0;
    if (from->raise_write != CONTROL_NO_COUNTER)
        counters |= (uint8_t)(1u << from->raise_write);
    if (from->raise_read != CONTROL_NO_COUNTER && !f->result)
        counters |= (uint8_t)(1u << from->raise_read);
    return f->timing.unit == CONTROL_QUEUED && b->wait & counters && f->age[pc] >= 2;
}

static void follow(struct follow *f, uint32_t from, uint32_t offset, bool result) {
    const struct program *p = f->p;
    f->from = from;
    f->offset = offset;
    f->result = result;
    f->timing = timing_at(f, from);
    memset(f->age, UNSEEN, p->n);
    f->n = 0;
    reach_next(f, from, cycles_of(&p->control[from]));
    while (f->n && !f->r->wrong) {
        uint32_t pc = f->stack[--f->n];
        bool fixed = f->timing.unit != CONTROL_QUEUED;
        if (waits(f, pc) || (fixed && f->age[pc] >= OLD))
            continue;
        f->needed = 0;
        control_uses(p, &p->code[pc], visit, &(struct visit){f, pc});
        if (control_drains(&p->code[pc]))
            need(f, !fixed ? NOT_AT_ALL
                           : control_distance(f->timing, timing_at(f, pc), CONTROL_READS,
                                              control_register_bytes(p, offset) == 0));
        if (f->age[pc] < f->needed)
            wrong(f->r, "pc %u: control bits let it issue %u cycles after pc %u, which %s register %u", pc, f->age[pc],
                  from, result ? "has not written" : "has not read", offset);
        reach_next(f, pc, f->age[pc] + cycles_of(&p->control[pc]));
    }
}

struct followed {
    struct follow *f;
    uint32_t pc;
};

static void follow_use(void *ctx, uint32_t offset, enum control_use use, unsigned position) {
    const struct followed *s = ctx;
    (void)position;
    if (use == CONTROL_WRITES || (use == CONTROL_READS && timing_at(s->f, s->pc).unit == CONTROL_QUEUED))
        follow(s->f, s->pc, offset, use == CONTROL_WRITES);
}

void verify_control(struct verdict *r, const struct program *p) {
    struct follow f = {
        .p = p, .r = r, .age = malloc(p->n + 1), .stack = malloc(sizeof(uint32_t) * (OLD + 1) * (p->n + 1))};
    for (uint32_t pc = 0; pc < p->n && !r->wrong; pc++)
        if (control_jumps(&p->code[pc]) && p->control[pc].stall < CONTROL_JUMP_STALL)
            wrong(r, "pc %u: the stall count of a jump is %u, not at least %u", pc, p->control[pc].stall,
                  CONTROL_JUMP_STALL);
    for (uint32_t pc = 0; pc < p->n && f.age && f.stack && !r->wrong; pc++)
        control_uses(p, &p->code[pc], follow_use, &(struct followed){&f, pc});
    free(f.age);
    free(f.stack);
}
