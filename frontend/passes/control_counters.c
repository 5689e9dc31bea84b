/* Chooses dependence counters. A variable-latency instruction raises up to two counters. One counter stays raised until
 * the result is written. It is needed if a later instruction uses the register of the result. The other counter stays
 * raised until the operands are read. It is needed if an instruction may overwrite an operand before any instruction
 * has waited for the result. A call or a return waits for all counters: other functions do not know what is in
 * flight. */
#include "control_pass.h"
#include <string.h>

/* Values of first_use and first_overwrite that are not PCs. NEVER: there is no use. LATER: the use comes after a
 * backward edge. */
enum { NEVER = UINT32_MAX, LATER = UINT32_MAX - 1 };

struct assign {
    struct control *c;
    uint32_t *stamp, now; /* block -> number of the last search that visited it */
    uint32_t *stack;
    uint32_t first_use, first_overwrite; /* results of a search */
    uint32_t ends[CONTROL_COUNTERS];     /* PC of the expected wait for each counter */
};

static bool uses_result(const struct control *c, uint32_t from, uint32_t pc) {
    for (uint32_t i = c->first[from]; i < c->first[from + 1]; i++)
        for (uint32_t k = c->first[pc]; k < c->first[pc + 1] && c->uses[i].use == CONTROL_WRITES; k++)
            if (c->uses[i].reg == c->uses[k].reg)
                return true;
    return false;
}

static bool overwrites_source(const struct control *c, uint32_t from, uint32_t pc) {
    for (uint32_t i = c->first[from]; i < c->first[from + 1]; i++)
        for (uint32_t k = c->first[pc]; k < c->first[pc + 1] && c->uses[i].use == CONTROL_READS; k++)
            if (c->uses[i].reg == c->uses[k].reg && c->uses[k].use == CONTROL_WRITES)
                return true;
    return false;
}

static bool has_use(const struct control *c, uint32_t pc, enum control_use use) {
    for (uint32_t i = c->first[pc]; i < c->first[pc + 1]; i++)
        if (c->uses[i].use == use)
            return true;
    return false;
}

static void found(uint32_t *where, uint32_t from, uint32_t pc) {
    uint32_t at = pc > from ? pc : LATER;
    if (at < *where)
        *where = at;
}

/* Follows a path from `pc` to the end of its block. Returns true if the path continues after the block. */
static bool follow(struct assign *a, uint32_t from, uint32_t pc) {
    const struct control *c = a->c;
    for (uint32_t end = c->p->blocks[c->p->info[pc].block].end; pc < end; pc++) {
        bool drains = control_drains(&c->p->code[pc]);
        if (drains || uses_result(c, from, pc)) {
            if (has_use(c, from, CONTROL_WRITES))
                found(&a->first_use, from, pc);
            else
                found(&a->first_overwrite, from, pc);
            return false;
        }
        if (overwrites_source(c, from, pc)) {
            found(&a->first_overwrite, from, pc);
            if (!has_use(c, from, CONTROL_WRITES))
                return false;
        }
    }
    return true;
}

/* Finds the first use of the result of `from` and the first write to one of its sources, on any path. */
static void search(struct assign *a, uint32_t from) {
    const struct control *c = a->c;
    const struct cfg *g = &c->ir->cfg;
    uint32_t top = 0, block = c->p->info[from].block;
    a->now++;
    a->first_use = a->first_overwrite = NEVER;
    bool on = from + 1 == c->p->blocks[block].end || follow(a, from, from + 1);
    for (;;) {
        for (uint32_t e = g->succ_first[block]; on && e < g->succ_first[block + 1]; e++)
            if (a->stamp[g->succ[e]] != a->now) {
                a->stamp[g->succ[e]] = a->now;
                a->stack[top++] = g->succ[e];
            }
        if (!top)
            return;
        block = a->stack[--top];
        on = follow(a, from, c->p->blocks[block].begin);
    }
}

/* Chooses a counter for an instruction if the instruction at `end` will wait for it. Prefers a counter with a wait at
 * the same place, then a counter whose last wait is in the past, then the counter with the nearest wait. */
static uint8_t choose(struct assign *a, uint32_t pc, uint32_t end) {
    unsigned best = 0;
    uint32_t distance = UINT32_MAX;
    for (unsigned k = 0; k < CONTROL_COUNTERS && distance; k++)
        if (a->ends[k] == end && end != LATER)
            best = k, distance = 0;
    for (unsigned k = 0; k < CONTROL_COUNTERS && distance; k++)
        if (a->ends[k] <= pc)
            best = k, distance = 0;
    for (unsigned k = 0; k < CONTROL_COUNTERS && distance; k++) {
        uint32_t d = a->ends[k] > end ? a->ends[k] - end : end - a->ends[k];
        if (d < distance)
            best = k, distance = d ? d : 1;
    }
    if (a->ends[best] < end || a->ends[best] <= pc)
        a->ends[best] = end;
    return (uint8_t)best;
}

static void assign(struct control *c) {
    struct assign a = {.c = c};
    a.stamp = arena_array(c->ir->tmp, (size_t)c->p->n_blocks + 1, sizeof *a.stamp);
    a.stack = arena_array(c->ir->tmp, (size_t)c->p->n_blocks + 1, sizeof *a.stack);
    for (uint32_t pc = 0; pc < c->p->n; pc++) {
        if (c->bits[pc].timing.unit != CONTROL_QUEUED)
            continue;
        search(&a, pc);
        if (a.first_use != NEVER)
            c->bits[pc].raise_write = choose(&a, pc, a.first_use);
        if (a.first_overwrite != NEVER)
            c->bits[pc].raise_read = choose(&a, pc, a.first_overwrite);
    }
}

/* The counters that are raised for a register: `writes` until the register is written, `reads` until it is read. */
struct raised {
    uint8_t writes, reads;
};

/* Applies an instruction to `s`, which has an element for each register. Returns the counters that it waits for. */
static uint8_t step(const struct control *c, uint32_t pc, struct raised *s) {
    const struct control_bits *b = &c->bits[pc];
    uint8_t wait = 0;
    for (uint32_t i = c->first[pc]; i < c->first[pc + 1]; i++)
        wait |= s[c->uses[i].reg].writes | (c->uses[i].use == CONTROL_WRITES ? s[c->uses[i].reg].reads : 0);
    bool drains = control_drains(&c->p->code[pc]);
    for (uint32_t r = 0; r < c->n_regs && drains; r++)
        wait |= s[r].writes | s[r].reads;
    for (uint32_t r = 0; r < c->n_regs && wait; r++) {
        s[r].writes &= (uint8_t)~wait;
        s[r].reads &= (uint8_t)~wait;
    }
    for (uint32_t i = c->first[pc]; i < c->first[pc + 1]; i++) {
        if (c->uses[i].use == CONTROL_WRITES && b->raise_write != CONTROL_NO_COUNTER)
            s[c->uses[i].reg].writes |= (uint8_t)(1u << b->raise_write);
        if (c->uses[i].use == CONTROL_READS && b->raise_read != CONTROL_NO_COUNTER)
            s[c->uses[i].reg].reads |= (uint8_t)(1u << b->raise_read);
    }
    return wait;
}

/* Adds `from` to `to`. Returns true if `to` changed. */
static bool join(struct raised *to, const struct raised *from, uint32_t n) {
    bool changed = false;
    for (uint32_t r = 0; r < n; r++) {
        struct raised sum = {to[r].writes | from[r].writes, to[r].reads | from[r].reads};
        changed |= sum.writes != to[r].writes || sum.reads != to[r].reads;
        to[r] = sum;
    }
    return changed;
}

void control_counters(struct control *c) {
    const struct cfg *g = &c->ir->cfg;
    uint32_t n = c->n_regs, blocks = c->p->n_blocks;
    struct raised *in = arena_array(c->ir->tmp, (size_t)n * blocks + 1, sizeof *in);
    struct raised *s = arena_array(c->ir->tmp, (size_t)n + 1, sizeof *s);
    unsigned char *again = arena_array(c->ir->tmp, (size_t)blocks + 1, 1);
    assign(c);
    memset(again, 1, blocks);
    for (bool changed = true; changed;) {
        changed = false;
        for (uint32_t b = 0; b < blocks; b++) {
            if (!again[b])
                continue;
            again[b] = 0;
            memcpy(s, in + (size_t)b * n, n * sizeof *s);
            for (uint32_t pc = c->p->blocks[b].begin; pc < c->p->blocks[b].end; pc++)
                c->bits[pc].wait = step(c, pc, s);
            for (uint32_t e = g->succ_first[b]; e < g->succ_first[b + 1]; e++)
                if (join(in + (size_t)g->succ[e] * n, s, n)) {
                    changed = true;
                    again[g->succ[e]] = 1;
                }
        }
    }
}
