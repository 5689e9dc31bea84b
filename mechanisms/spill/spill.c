/* The pass `spill`. The options regs.max and pepsc.registers limit the registers of a thread. The pass keeps the other
 * registers in local memory: it stores a spilled register after each write and loads it before each read. It spills
 * registers with the lowest ratio of cost to the number of crowded instructions (with more live registers than the
 * limit) through which they are live. The cost is the number of reads and writes, weighted by loops (Chaitin, "Register
 * allocation & spilling via graph coloring", 1982). Requires: blocks. Keeps: all results. The pass does not change
 * three kinds of code: streams that other passes made, whose registers are of another kind; functions of programs with
 * such streams, because both streams call them; and recursive functions, whose frames have no fixed place in memory. It
 * fails if one instruction needs more registers than the limit. */
#include "frontend/passes/edit.h"
#include "frontend/passes/pass.h"
#include "isa/arith.h"
#include "isa/decode.h"
#include "mechanisms/mechanism.h"
#include <string.h>

enum { MOST_ROUNDS = 200, LEAST = 4, DEEPEST = 6 };

struct spilling {
    struct ir *ir;
    uint32_t max;
    uint32_t *depth;  /* indexed by function: number of calls from the kernel down to the function */
    uint32_t *total;  /* indexed by function: number of register words that the function and its callees need */
    uint32_t n_first; /* number of registers before the pass; later registers belong to its loads and stores */
    unsigned char *fixed, *chosen;
    double *cost;   /* indexed by register: weighted number of loads and stores that spilling the register costs */
    uint32_t *over; /* indexed by register: number of crowded instructions where the register is live but not used */
    uint32_t *slot;
    uint32_t *dense, *sparse, n_dense; /* maps from a register of the current function to its number, and back */
    uint64_t *live_out; /* indexed by block of the function: set of registers that are live at the end of the block */
    uint32_t words;
    uint32_t spilled;
};

static bool bit(const uint64_t *set, uint32_t i) { return set[i / 64] >> i % 64 & 1; }
static void put_bit(uint64_t *set, uint32_t i) { set[i / 64] |= 1ull << i % 64; }
static void take_bit(uint64_t *set, uint32_t i) { set[i / 64] &= ~(1ull << i % 64); }

static bool is_limited(const struct ir *ir, uint32_t v) {
    return v != SINK_VREG && v != ir->frame_pointer && !ir->vregs[v].special && class_words(ir->vregs[v].cls);
}

/* Turns the set of registers live after instruction i into the set of registers live before it. */
static void step_back(const struct spilling *s, uint32_t i, uint64_t *live) {
    const struct ir *ir = s->ir;
    const struct inst_info *info = &ir->info[i];
    const uint32_t *regs = ir->regs + info->regs;
    for (unsigned k = info->n_reads; inst_writes_all(ir, i) && k < (unsigned)info->n_reads + info->n_writes; k++)
        if (s->dense[regs[k]] != UINT32_MAX)
            take_bit(live, s->dense[regs[k]]);
    for (unsigned k = 0; k < info->n_reads; k++)
        if (s->dense[regs[k]] != UINT32_MAX)
            put_bit(live, s->dense[regs[k]]);
}

static void number_registers(struct spilling *s, const struct ir_function *fn) {
    const struct ir *ir = s->ir;
    memset(s->dense, 0xff, (size_t)ir->n_vregs * sizeof *s->dense);
    s->n_dense = 0;
    for (uint32_t i = fn->begin; i < fn->end; i++)
        for (unsigned k = 0; k < (unsigned)ir->info[i].n_reads + ir->info[i].n_writes; k++) {
            uint32_t v = ir->regs[ir->info[i].regs + k];
            if (!is_limited(ir, v) || s->dense[v] != UINT32_MAX)
                continue;
            s->sparse[s->n_dense] = v;
            s->dense[v] = s->n_dense++;
        }
    s->words = s->n_dense / 64 + 1;
}

static void find_live(struct spilling *s, const struct ir_function *fn) {
    const struct ir *ir = s->ir;
    uint32_t n = fn->block_end - fn->block;
    uint64_t *in = arena_array(ir->tmp, (size_t)n * s->words + 1, sizeof *in);
    uint64_t *live = arena_array(ir->tmp, s->words, sizeof *live);
    s->live_out = arena_array(ir->tmp, (size_t)n * s->words + 1, sizeof *s->live_out);
    for (bool changed = true; changed;) {
        changed = false;
        for (uint32_t b = fn->block_end; b-- > fn->block;) {
            uint64_t *out = s->live_out + (size_t)(b - fn->block) * s->words,
                     *before = in + (size_t)(b - fn->block) * s->words;
            for (uint32_t e = ir->cfg.succ_first[b]; e < ir->cfg.succ_first[b + 1]; e++)
                for (uint32_t w = 0; w < s->words; w++)
                    out[w] |= in[(size_t)(ir->cfg.succ[e] - fn->block) * s->words + w];
            memcpy(live, out, s->words * sizeof *live);
            for (uint32_t i = ir->blocks[b].end; i-- > ir->blocks[b].begin;)
                step_back(s, i, live);
            if (memcmp(live, before, s->words * sizeof *live) != 0) {
                memcpy(before, live, s->words * sizeof *live);
                changed = true;
            }
        }
    }
}

/* Returns true if a store after the instruction would not store all lanes that the instruction writes. */
static bool writes_oddly(const struct ir *ir, uint32_t i) {
    const struct inst *in = &ir->code[i];
    const struct inst_info *info = &ir->info[i];
    if (in->kind >= K_BRANCH || (in->guard == NO_GUARD && !inst_writes_all(ir, i)) ||
        (in->guard != NO_GUARD && in->guard == ir->deq_predicate))
        return true;
    for (unsigned k = info->n_reads; in->guard != NO_GUARD && k < (unsigned)info->n_reads + info->n_writes; k++)
        if (ir->regs[info->regs + k] == in->guard) /* the instruction overwrites its guard */
            return true;
    return in->kind == K_COMPOUND && in->d2 != OPND_SINK && !inst_writes_all(ir, i);
}

/* Fills s->cost with the loads and stores of each register; each loop around an access multiplies its weight by ten. */
static void weigh(struct spilling *s, const struct ir_function *fn) {
    const struct ir *ir = s->ir;
    struct dom_tree dom = ir_dominators(ir);
    struct loops loops = find_loops(ir->tmp, &ir->cfg, &dom);
    memset(s->cost, 0, (size_t)ir->n_vregs * sizeof *s->cost);
    memset(s->over, 0, (size_t)ir->n_vregs * sizeof *s->over);
    memset(s->fixed, 0, ir->n_vregs);
    for (uint32_t i = fn->begin; i < fn->end; i++) {
        const struct inst_info *info = &ir->info[i];
        uint32_t l = loops.of[info->block];
        unsigned depth = l == NO_LOOP ? 0 : loops.list[l].depth;
        double often = 1;
        for (unsigned d = 0; d < depth && d < DEEPEST; d++)
            often *= 10;
        bool odd = writes_oddly(ir, i);
        for (unsigned k = 0; k < (unsigned)info->n_reads + info->n_writes; k++) {
            uint32_t v = ir->regs[info->regs + k];
            s->cost[v] += often;
            s->fixed[v] |= v >= s->n_first || (odd && k >= info->n_reads);
        }
    }
}

/* Returns how many register words may be live at instruction i of function f. */
static uint32_t limit_at(const struct spilling *s, uint32_t f, uint32_t i) {
    const struct ir *ir = s->ir;
    uint32_t limit = s->max >> (s->depth[f] < 3 ? s->depth[f] : 3);
    if (limit < LEAST && f)
        limit = LEAST;
    if (ir->code[i].kind == K_CALL)
        for (uint32_t c = 0; c < ir->n_calls; c++)
            if (ir->calls[c].inst == i) {
                uint32_t callee = s->total[ir->calls[c].callee], left = s->max > callee ? s->max - callee : 0;
                limit = limit < left ? limit : left;
            }
    return limit;
}

/* Removes the registers that instruction i reads or writes: at this instruction, spilling them frees no register. */
static void only_through(const struct spilling *s, uint32_t i, uint64_t *live) {
    const struct inst_info *info = &s->ir->info[i];
    for (unsigned k = 0; k < (unsigned)info->n_reads + info->n_writes; k++)
        if (s->dense[s->ir->regs[info->regs + k]] != UINT32_MAX)
            take_bit(live, s->dense[s->ir->regs[info->regs + k]]);
}

static void relieve(struct spilling *s, const uint64_t *through, uint32_t excess) {
    const struct ir *ir = s->ir;
    for (uint32_t k = 0; k < s->n_dense; k++)
        if (bit(through, k) && s->chosen[s->sparse[k]]) {
            uint32_t words = class_words(ir->vregs[s->sparse[k]].cls);
            excess = excess > words ? excess - words : 0;
        }
    while (excess) {
        uint32_t best = SINK_VREG;
        for (uint32_t k = 0; k < s->n_dense; k++) {
            uint32_t v = s->sparse[k];
            if (!bit(through, k) || s->chosen[v] || s->fixed[v])
                continue;
            if (best == SINK_VREG || s->cost[v] * s->over[best] * class_words(ir->vregs[best].cls) <
                                         s->cost[best] * s->over[v] * class_words(ir->vregs[v].cls))
                best = v;
        }
        if (best == SINK_VREG)
            return;
        s->chosen[best] = 1;
        s->spilled++;
        uint32_t words = class_words(ir->vregs[best].cls);
        excess = excess > words ? excess - words : 0;
    }
}

/* Visits the crowded instructions of function f: more register words are live there than limit_at() allows. If `choose`
 * is set, chooses registers to spill. Otherwise counts, for each register, the crowded instructions where the register
 * is live but not used. */
static void visit_crowded(struct spilling *s, uint32_t f, bool choose) {
    const struct ir *ir = s->ir;
    const struct ir_function *fn = &ir->functions[f];
    uint64_t *live = arena_array(ir->tmp, s->words, sizeof *live),
             *through = arena_array(ir->tmp, s->words, sizeof *live);
    for (uint32_t b = fn->block; b < fn->block_end; b++) {
        memcpy(live, s->live_out + (size_t)(b - fn->block) * s->words, s->words * sizeof *live);
        for (uint32_t i = ir->blocks[b].end; i-- > ir->blocks[b].begin;) {
            uint32_t limit = limit_at(s, f, i);
            if (ir->live_at[i] > limit) {
                memcpy(through, live, s->words * sizeof *live);
                only_through(s, i, through);
                if (choose)
                    relieve(s, through, ir->live_at[i] - limit);
                for (uint32_t k = 0; !choose && k < s->n_dense; k++)
                    s->over[s->sparse[k]] += bit(through, k);
            }
            step_back(s, i, live);
        }
    }
}

/* ---- loads and stores ---- */

static struct inst access(const struct spilling *s, enum op_id op, uint32_t v) {
    static const enum type types[] = {
        [RC_8] = T_U8, [RC_16] = T_B16, [RC_32] = T_B32, [RC_64] = T_B64, [RC_128] = T_B128};
    enum reg_class cls = s->ir->vregs[v].cls;
    struct inst in = inst_of_row(isa_find_row(op, types[cls], T_NONE, 0));
    in.msize = in.rsize = (uint8_t)class_bytes(cls);
    in.dsize = op == OP_LD ? in.rsize : 0;
    in.d2size = 0;
    in.asize = 8;
    in.space = SPACE_LOCAL;
    in.imm = s->slot[v];
    return in;
}

static void add_access(struct edit *e, uint32_t at, bool behind, struct inst in) {
    uint32_t node = behind ? edit_after(e, at, &in) : edit_before(e, at, &in);
    e->nodes[node].info.spilled = true;
    e->nodes[node].info.order = 0;
}

static void reload(struct spilling *s, struct edit *e, uint32_t i, uint32_t v) {
    uint32_t t = ir_vreg(s->ir, s->ir->vregs[v].cls, s->ir->vregs[v].function, NULL, 0);
    struct inst in = access(s, OP_LD, v);
    in.d = t << 1;
    edit_rename(e, i, v, t, true, false);
    add_access(e, i, false, in);
}

/* Defines register t in all lanes before instruction i, because i writes t only in lanes whose guard is true. Without
 * this definition, t would be live from the beginning of the loop around i. */
static void define(struct spilling *s, struct edit *e, uint32_t i, uint32_t v, uint32_t t) {
    const enum reg_class cls = s->ir->vregs[v].cls;
    struct inst in;
    if (cls != RC_32 && cls != RC_64) {
        in = access(s, OP_LD, v);
        in.d = t << 1;
        add_access(e, i, false, in);
        return;
    }
    in = inst_of_row(isa_find_row(OP_MOV, cls == RC_32 ? T_B32 : T_B64, T_NONE, 0));
    in.a = OPND_ZERO;
    in.d = t << 1;
    edit_before(e, i, &in);
}

static void save(struct spilling *s, struct edit *e, uint32_t i, uint32_t v) {
    uint32_t t = ir_vreg(s->ir, s->ir->vregs[v].cls, s->ir->vregs[v].function, NULL, 0);
    struct inst in = access(s, OP_ST, v);
    in.b = t << 1;
    in.guard = edit_inst(e, i)->guard;
    in.guard_not = edit_inst(e, i)->guard_not;
    edit_rename(e, i, v, t, false, true);
    if (in.guard != NO_GUARD)
        define(s, e, i, v, t);
    add_access(e, i, true, in);
}

static bool rewrite(struct spilling *s, uint32_t f) {
    struct ir *ir = s->ir;
    const uint32_t begin = ir->functions[f].begin, end = ir->functions[f].end;
    struct edit *e = edit_begin(ir);
    for (uint32_t i = begin; i < end; i++) {
        const struct inst_info info = ir->info[i];
        for (unsigned k = 0; k < (unsigned)info.n_reads + info.n_writes; k++) {
            uint32_t v = ir->regs[info.regs + k];
            if (!s->chosen[v])
                continue;
            if (k < info.n_reads)
                reload(s, e, i, v);
            else
                save(s, e, i, v);
        }
    }
    return edit_end(e);
}

static bool give_slots(struct spilling *s) {
    struct ir *ir = s->ir;
    for (uint32_t v = 1; v < s->n_first; v++) {
        uint32_t bytes = class_bytes(ir->vregs[v].cls);
        if (!s->chosen[v] || s->slot[v])
            continue;
        /* never 0, which means that the register has no slot */
        uint64_t at = round_up(ir->local_bytes ? ir->local_bytes : 16, bytes);
        if (at + bytes > MAX_LOCAL_BYTES) {
            snprintf(ir->failure, sizeof ir->failure,
                     "kernel '%s': registers in local memory take more than %llu bytes", ir->kernel,
                     (unsigned long long)MAX_LOCAL_BYTES);
            return false;
        }
        s->slot[v] = (uint32_t)at;
        ir->local_bytes = (uint32_t)round_up(at + bytes, 16);
    }
    return true;
}

static void note(struct spilling *s) {
    struct ir *ir = s->ir;
    for (uint32_t v = 1; v < s->n_first; v++)
        if (s->chosen[v] == 1) {
            for (uint32_t i = 0; ir->noting && i < ir->n; i++)
                for (unsigned k = 0; k < (unsigned)ir->info[i].n_reads + ir->info[i].n_writes; k++)
                    if (ir->regs[ir->info[i].regs + k] == v) {
                        ir_note(ir, i, "%.*s is kept in local memory, at %u", (int)ir->vregs[v].name_len,
                                ir->vregs[v].name ? ir->vregs[v].name : "", s->slot[v]);
                        i = ir->n - 1;
                        break;
                    }
        }
}

/* Returns the largest number of register words that function f needs at one instruction, including those of a callee.
 * Sets *where to this instruction. */
static uint32_t need_of(struct spilling *s, uint32_t f, uint32_t *where) {
    const struct ir *ir = s->ir;
    uint32_t most = 0;
    for (uint32_t i = ir->functions[f].begin; i < ir->functions[f].end; i++) {
        uint64_t need = ir->live_at[i];
        for (uint32_t c = 0; ir->code[i].kind == K_CALL && c < ir->n_calls; c++)
            if (ir->calls[c].inst == i && need < (uint64_t)ir->live_at[i] + s->total[ir->calls[c].callee])
                need = (uint64_t)ir->live_at[i] + s->total[ir->calls[c].callee];
        if (most < need) {
            most = need > UINT32_MAX ? UINT32_MAX : (uint32_t)need;
            *where = i;
        }
    }
    return most;
}

static bool is_crowded(const struct spilling *s, uint32_t f) {
    const struct ir *ir = s->ir;
    for (uint32_t i = ir->functions[f].begin; i < ir->functions[f].end; i++)
        if (ir->live_at[i] > limit_at(s, f, i))
            return true;
    return false;
}

/* Allocates the arrays that are indexed by register, for the current number of registers. */
static void make_room(struct spilling *s) {
    size_t n = (size_t)s->ir->n_vregs + 1;
    unsigned char *chosen = arena_array(s->ir->tmp, n, 1);
    s->fixed = arena_array(s->ir->tmp, n, 1);
    s->chosen = chosen;
    s->cost = arena_array(s->ir->tmp, n, sizeof *s->cost);
    s->over = arena_array(s->ir->tmp, n, sizeof *s->over);
    s->dense = arena_array(s->ir->tmp, n, sizeof *s->dense);
    s->sparse = arena_array(s->ir->tmp, n, sizeof *s->sparse);
}

static bool spill_function(struct spilling *s, uint32_t f) {
    for (int round = 0; round < MOST_ROUNDS && is_crowded(s, f); round++) {
        uint32_t before = s->spilled;
        make_room(s);
        number_registers(s, &s->ir->functions[f]);
        find_live(s, &s->ir->functions[f]);
        weigh(s, &s->ir->functions[f]);
        visit_crowded(s, f, false);
        visit_crowded(s, f, true);
        if (s->spilled == before)
            return true;
        if (!give_slots(s))
            return false;
        note(s);
        if (!rewrite(s, f))
            return false;
    }
    return true;
}

/* Fills s->depth. Requires: in the function list, callers precede callees. */
static void find_depths(struct spilling *s) {
    const struct call_order *o = &s->ir->order;
    for (uint32_t m = o->n_members; m-- > 0;)
        for (uint32_t e = o->call_first[o->members[m]]; e < o->call_first[o->members[m] + 1]; e++) {
            uint32_t callee = s->ir->calls[o->calls[e]].callee, caller = o->members[m];
            if (o->group[callee] != o->group[caller] && s->depth[callee] <= s->depth[caller])
                s->depth[callee] = s->depth[caller] + 1;
        }
}

static bool run(struct ir *ir) {
    const char *key = "";
    struct spilling s = {.ir = ir, .max = register_limit(ir, &key), .n_first = ir->n_vregs};
    uint32_t where = 0;
    if (!pass_liveness(ir))
        return false;
    s.depth = arena_array(ir->tmp, (size_t)ir->n_functions + 1, sizeof *s.depth);
    s.total = arena_array(ir->tmp, (size_t)ir->n_functions + 1, sizeof *s.total);
    s.slot = arena_array(ir->tmp, (size_t)ir->n_vregs + 1, sizeof *s.slot);
    find_depths(&s);
    for (uint32_t m = 0; m < ir->order.n_members; m++) {
        uint32_t f = ir->order.members[m];
        if (f == 0 || (!ir->n_streams && !ir->functions[f].recursive))
            if (need_of(&s, 0, &where) > s.max || f != 0)
                if (!spill_function(&s, f))
                    return false;
        s.total[f] = need_of(&s, f, &where);
    }
    if (need_of(&s, 0, &where) <= s.max)
        return true;
    snprintf(ir->failure, sizeof ir->failure, "kernel '%s' needs %u registers a thread in line %u; %s is %u, raise it",
             ir->kernel, need_of(&s, 0, &where) + registers_reserved(ir), ir->info[where].line, key,
             s.max + registers_reserved(ir));
    return false;
}

static bool wanted(const struct ir *ir) { return register_limit(ir, NULL) > 0; }

static const struct pass pass_spill = {
    .name = "spill",
    .help = "registers beyond regs.max, pepsc.registers or .maxnreg in local memory",
    .before = "waits",
    .run = run,
    .wanted = wanted,
    .when = "machines with a limit of registers a thread (regs.max, pepsc.registers)",
};

const struct mechanism mechanism_spill = {
    .name = "spill",
    .help = "registers beyond a limit in local memory (docs/pepsc-passes.md)",
    .paper = "Chaitin, Register allocation & spilling via graph coloring, 1982",
    .kind = MECHANISM_MACHINE,
    .passes = PASSES(&pass_spill),
    .options = PREFIXES("regs.max"),
};
