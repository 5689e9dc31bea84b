/* Allocates registers again, for the modern core (core.kind=modern), whose register file has two banks with one read
 * port each: registers with even and with odd numbers. An instruction reads faster if its operands are in both banks.
 * Requires: registers. Keeps: everything; the number of registers, too. Makes: other slots for registers of 32 bits.
 *
 * Each register gets its slot in the order of the program. A register prefers the bank that has fewer of the registers
 * that instructions read together with it. Instructions in loops count more. */
#include "frontend/analysis/loops.h"
#include "pass.h"
#include "regalloc.h"
#include <string.h>

/* A partner of a register: some instruction reads both together. */
struct pair {
    uint32_t other, weight;
};

struct banks {
    struct ir *ir;
    uint32_t *weight; /* block -> weight of its instructions */
    uint32_t *first;  /* register v has pairs[first[v] ... first[v + 1]) */
    struct pair *pairs;
    unsigned char *placed; /* registers whose slot is chosen */
};

/* Finds the registers of 32 bits that an instruction reads as operands a, b, c, without repetitions. */
static unsigned sources(const struct ir *ir, uint32_t i, uint32_t out[3]) {
    const struct inst *in = &ir->code[i];
    const opnd_t read[3] = {in->a, in->b, in->c};
    unsigned n = 0;
    for (unsigned k = 0; k < 3 && in->kind == K_LANE; k++) {
        uint32_t v = read[k] >> 1;
        bool again = false;
        for (unsigned j = 0; j < n; j++)
            again |= out[j] == v;
        if (!(read[k] & 1) && v != SINK_VREG && ir->vregs[v].cls == RC_32 && !ir->vregs[v].special && !again)
            out[n++] = v;
    }
    return n;
}

static void weigh_blocks(struct banks *b) {
    enum { LOOP_BITS = 3, DEEPEST = 4 };
    struct dom_tree dom = ir_dominators(b->ir);
    struct loops loops = find_loops(b->ir->tmp, &b->ir->cfg, &dom);
    b->weight = arena_array(b->ir->tmp, (size_t)b->ir->n_blocks + 1, sizeof *b->weight);
    for (uint32_t k = 0; k < b->ir->n_blocks; k++) {
        uint32_t depth = loops.of[k] == NO_LOOP ? 0 : loops.list[loops.of[k]].depth;
        b->weight[k] = 1u << LOOP_BITS * (depth < DEEPEST ? depth : DEEPEST);
    }
}

static void find_pairs(struct banks *b) {
    struct ir *ir = b->ir;
    uint32_t v[3];
    b->first = arena_array(ir->tmp, (size_t)ir->n_vregs + 2, sizeof *b->first);
    b->placed = arena_array(ir->tmp, (size_t)ir->n_vregs + 1, 1);
    for (uint32_t i = 0; i < ir->n; i++) {
        unsigned n = sources(ir, i, v);
        for (unsigned k = 0; k < n; k++)
            b->first[v[k] + 2] += n - 1;
    }
    for (uint32_t k = 2; k < ir->n_vregs + 2; k++)
        b->first[k] += b->first[k - 1];
    b->pairs = arena_array(ir->tmp, (size_t)b->first[ir->n_vregs + 1] + 1, sizeof *b->pairs);
    for (uint32_t i = 0; i < ir->n; i++) {
        unsigned n = sources(ir, i, v);
        for (unsigned k = 0; k < n; k++)
            for (unsigned j = 0; j < n; j++)
                if (j != k)
                    b->pairs[b->first[v[k] + 1]++] = (struct pair){v[j], b->weight[ir->info[i].block]};
    }
}

static int better_bank(void *ctx, uint32_t v) {
    struct banks *b = ctx;
    uint64_t weight[2] = {0, 0};
    b->placed[v] = 1;
    for (uint32_t k = b->first[v]; k < b->first[v + 1]; k++)
        if (b->placed[b->pairs[k].other])
            weight[b->ir->vregs[b->pairs[k].other].slot % 2] += b->pairs[k].weight;
    return weight[0] == weight[1] ? -1 : weight[1] < weight[0];
}

/* Adds to in[a * n + b] the weights of the instructions of function `f` that read the slots a and b together. */
static void weigh_slots(const struct banks *b, const struct ir_function *f, uint64_t *in, uint32_t n) {
    uint32_t v[3];
    for (uint32_t i = f->begin; i < f->end; i++) {
        unsigned m = sources(b->ir, i, v);
        for (unsigned k = 0; k < m; k++)
            for (unsigned j = 0; j < m; j++)
                if (j != k)
                    in[b->ir->vregs[v[k]].slot * n + b->ir->vregs[v[j]].slot] += b->weight[b->ir->info[i].block];
    }
}

/* Returns the weight of the conflicts that a slot would have in the other bank, minus their weight in its own bank. */
static int64_t better_here(const uint64_t *in, uint32_t n, const uint32_t *to, uint32_t slot) {
    int64_t sum = 0;
    for (uint32_t k = 0; k < n; k++)
        sum += to[k] % 2 == to[slot] % 2 ? -(int64_t)in[slot * n + k] : (int64_t)in[slot * n + k];
    return sum;
}

/* Exchanges slots of a function between the banks as long as this lowers the weight of the conflicts. */
static void exchange(const struct banks *b, uint32_t f) {
    enum { ROUNDS = 8, MOST = 256 };
    struct ir *ir = b->ir;
    uint32_t n = ir->functions[f].slots[RC_32];
    if (n < 2 || n > MOST)
        return;
    uint64_t *in = arena_array(ir->tmp, (size_t)n * n, sizeof *in);
    uint32_t *to = arena_array(ir->tmp, n, sizeof *to);
    weigh_slots(b, &ir->functions[f], in, n);
    for (uint32_t k = 0; k < n; k++)
        to[k] = k;
    bool changed = true;
    for (int round = 0; round < ROUNDS && changed; round++) {
        changed = false;
        for (uint32_t i = 0; i < n; i++)
            for (uint32_t j = i + 1; j < n; j++)
                if (to[i] % 2 != to[j] % 2 &&
                    better_here(in, n, to, i) + better_here(in, n, to, j) - 2 * (int64_t)in[i * n + j] < 0) {
                    uint32_t t = to[i];
                    to[i] = to[j];
                    to[j] = t;
                    changed = true;
                }
    }
    for (uint32_t v = 1; v < ir->n_vregs; v++)
        if (ir->vregs[v].cls == RC_32 && !ir->vregs[v].special && ir->vregs[v].function == f && ir->vregs[v].slot < n)
            ir->vregs[v].slot = to[ir->vregs[v].slot];
}

static void exchange_all(void *ctx) {
    const struct banks *b = ctx;
    for (uint32_t f = 0; f < b->ir->n_functions; f++)
        exchange(b, f);
}

/* Returns the number of instructions that read several registers, all from one bank. */
static uint32_t conflicts(struct ir *ir, bool note) {
    uint32_t n = 0, v[3];
    for (uint32_t i = 0; i < ir->n; i++) {
        unsigned m = sources(ir, i, v), odd = 0;
        for (unsigned k = 0; k < m; k++)
            odd += ir->vregs[v[k]].slot % 2;
        if (m < 2 || (odd && odd < m))
            continue;
        n++;
        if (note)
            ir_note(ir, i, "%u operands in the %s bank", m, odd ? "odd" : "even");
    }
    return n;
}

bool pass_banks(struct ir *ir) {
    struct banks b = {.ir = ir};
    uint32_t before = conflicts(ir, false);
    weigh_blocks(&b);
    find_pairs(&b);
    if (!regalloc_with(ir, better_bank, exchange_all, &b))
        return false;
    ir_note(ir, 0, "instructions with all operands in one bank: %u before, %u now", before, conflicts(ir, true));
    return true;
}
