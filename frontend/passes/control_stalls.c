/* Chooses stall counts, so that an instruction issues only when the fixed-latency results that it uses have arrived,
 * when it sees all counters that were raised before it, and in time after a load from constant memory. If an
 * instruction must wait, the pass raises the stall count of the instruction before it. If the first instruction of a
 * block must wait, the pass raises the stall counts of the last instructions of the preceding blocks. */
#include "control_pass.h"
#include "control_table.h"
#include <string.h>

/* A result that may still be on its way, a counter (reg = n_regs + counter) that is not raised yet, or the unit of
 * constant memory (reg = n_regs + CONTROL_COUNTERS) that is busy. */
struct late {
    uint16_t reg;
    uint8_t age; /* least number of cycles since the issue of the instruction that writes the result */
    struct control_timing writer;
};
enum {
    OLDEST = CONTROL_MAX_STALL + 1,
    RAISE_CYCLES = 2, /* cycles from the issue of an instruction until others see the counters that it raised */
};

struct lates {
    struct late *list;
    uint32_t n, cap;
};

static bool same_writer(const struct late *a, const struct late *b) {
    return a->reg == b->reg && a->writer.unit == b->writer.unit && a->writer.latency == b->writer.latency &&
           a->writer.guard == b->writer.guard;
}

/* Adds an element, or lowers the age of the element that is already there. Returns true if the list changed. */
static bool put(struct ir *ir, struct lates *l, struct late x) {
    for (uint32_t i = 0; i < l->n; i++)
        if (same_writer(&l->list[i], &x)) {
            bool changed = x.age < l->list[i].age;
            if (changed)
                l->list[i].age = x.age;
            return changed;
        }
    l->list = IR_ROOM(ir, l->list, l->n, l->cap);
    l->list[l->n++] = x;
    return true;
}

static void grow_older(struct lates *l, unsigned cycles) {
    uint32_t n = 0;
    for (uint32_t i = 0; i < l->n; i++) {
        struct late x = l->list[i];
        if (x.age + cycles < OLDEST) {
            x.age = (uint8_t)(x.age + cycles);
            l->list[n++] = x;
        }
    }
    l->n = n;
}

/* Returns how many cycles later the instruction must issue because of an earlier result. */
static unsigned wait_for(const struct control *c, uint32_t pc, const struct late *x) {
    unsigned distance = 0;
    if (x->reg == c->n_regs + CONTROL_COUNTERS)
        distance = control_loads_constant(&c->p->code[pc]) ? CONTROL_CONSTANT_GAP : 0;
    else if (x->reg >= c->n_regs)
        distance = c->bits[pc].wait >> (x->reg - c->n_regs) & 1 ? RAISE_CYCLES : 0;
    else if (control_drains(&c->p->code[pc]))
        distance = control_distance(x->writer, c->bits[pc].timing, CONTROL_READS, !c->words[x->reg]);
    for (uint32_t i = c->first[pc]; i < c->first[pc + 1]; i++)
        if (c->uses[i].reg == x->reg) {
            unsigned d = control_distance(x->writer, c->bits[pc].timing, c->uses[i].use, !c->words[x->reg]);
            distance = d > distance ? d : distance;
        }
    return distance > x->age ? distance - x->age : 0;
}

static unsigned cycles_of(const struct control_bits *b) { return b->stall ? b->stall : 1; }

static void add_stall(struct control_bits *b, unsigned cycles) {
    unsigned stall = cycles_of(b) + cycles;
    b->stall = (uint8_t)(stall > CONTROL_MAX_STALL ? CONTROL_MAX_STALL : stall);
}

/* Returns how many cycles later the instruction must issue because of results in `l`. */
static unsigned wait_for_all(const struct control *c, uint32_t pc, const struct lates *l) {
    unsigned wait = 0;
    for (uint32_t i = 0; i < l->n; i++) {
        unsigned w = wait_for(c, pc, &l->list[i]);
        wait = w > wait ? w : wait;
    }
    return wait;
}

/* Walks through a block with the results that may be late at its begin, and raises stall counts. `l`: the results that
 * may be late at its end. The stall counts of the blocks before it are left to stall_at_end(). */
static void walk(struct control *c, uint32_t b, struct lates *l) {
    const uint32_t begin = c->p->blocks[b].begin;
    for (uint32_t pc = begin; pc < c->p->blocks[b].end; pc++) {
        unsigned wait = wait_for_all(c, pc, l);
        if (wait && pc > begin)
            add_stall(&c->bits[pc - 1], wait);
        grow_older(l, wait);
        const struct control_bits *bits = &c->bits[pc];
        bool fixed = control_is_fixed(c->bits[pc].timing);
        for (uint32_t i = c->first[pc]; i < c->first[pc + 1] && fixed; i++)
            if (c->uses[i].use == CONTROL_WRITES)
                put(c->ir, l, (struct late){c->uses[i].reg, 0, c->bits[pc].timing});
        for (unsigned k = 0; k < CONTROL_COUNTERS; k++)
            if (bits->raise_read == k || bits->raise_write == k)
                put(c->ir, l, (struct late){(uint16_t)(c->n_regs + k), 0, c->bits[pc].timing});
        if (control_loads_constant(&c->p->code[pc]))
            put(c->ir, l, (struct late){(uint16_t)(c->n_regs + CONTROL_COUNTERS), 0, c->bits[pc].timing});
        if (pc + 1 < c->p->blocks[b].end)
            grow_older(l, cycles_of(bits));
    }
}

static void copy(struct ir *ir, struct lates *to, const struct lates *from) {
    to->n = 0;
    for (uint32_t i = 0; i < from->n; i++)
        put(ir, to, from->list[i]);
}

/* Finds the results that may be late at the begin of each block, and right after its end. */
static void spread(struct control *c, struct lates *in, struct lates *out) {
    const struct cfg *g = &c->ir->cfg;
    for (bool changed = true; changed;) {
        changed = false;
        for (uint32_t b = 0; b < c->p->n_blocks; b++) {
            copy(c->ir, &out[b], &in[b]);
            walk(c, b, &out[b]);
            grow_older(&out[b], cycles_of(&c->bits[c->p->blocks[b].end - 1]));
            for (uint32_t e = g->succ_first[b]; e < g->succ_first[b + 1]; e++)
                for (uint32_t i = 0; i < out[b].n; i++)
                    changed |= put(c->ir, &in[g->succ[e]], out[b].list[i]);
        }
    }
}

/* Raises the stall count at the end of a block if a block after it begins with an instruction that must wait. Returns
 * true if it did. */
static bool stall_at_end(struct control *c, uint32_t b, const struct lates *out) {
    const struct cfg *g = &c->ir->cfg;
    unsigned wait = 0;
    for (uint32_t e = g->succ_first[b]; e < g->succ_first[b + 1]; e++) {
        unsigned w = wait_for_all(c, c->p->blocks[g->succ[e]].begin, out);
        wait = w > wait ? w : wait;
    }
    if (wait)
        add_stall(&c->bits[c->p->blocks[b].end - 1], wait);
    return wait != 0;
}

void control_stalls(struct control *c) {
    for (uint32_t pc = 0; pc < c->p->n; pc++)
        if (control_jumps(&c->p->code[pc]))
            c->bits[pc].stall = CONTROL_JUMP_STALL;
    struct lates *in = arena_array(c->ir->tmp, (size_t)c->p->n_blocks + 1, sizeof *in);
    struct lates *out = arena_array(c->ir->tmp, (size_t)c->p->n_blocks + 1, sizeof *out);
    for (bool changed = true; changed;) {
        changed = false;
        for (uint32_t b = 0; b < c->p->n_blocks; b++)
            in[b].n = 0;
        spread(c, in, out);
        for (uint32_t b = 0; b < c->p->n_blocks; b++)
            changed |= stall_at_end(c, b, &out[b]);
    }
}
