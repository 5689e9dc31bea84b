/* Orders functions by calls and assigns frame addresses. Requires: all functions are lowered. Keeps: instructions,
 * except for addresses. Makes: groups of mutually recursive functions, callees before callers; functions[].recursive;
 * the frame and dynamic shared memory addresses in instructions. */
#include "frontend/analysis/ir.h"
#include "isa/arith.h"
#include <string.h>

struct tarjan {
    struct ir *ir;
    struct call_order *out;
    uint32_t *index, *low, *stack, *path, *edge;
    unsigned char *on_stack;
    uint32_t n_index, n_stack, n_path;
};

static void enter(struct tarjan *t, uint32_t f) {
    t->index[f] = t->low[f] = ++t->n_index;
    t->stack[t->n_stack++] = f;
    t->on_stack[f] = 1;
    t->edge[t->n_path] = t->out->call_first[f];
    t->path[t->n_path++] = f;
}

/* Leaves f after the search has visited all its callees. If none of them reaches a function that was entered before f,
 * then f and all functions above it on the stack form a group. */
static void leave(struct tarjan *t, uint32_t f) {
    struct call_order *o = t->out;
    t->n_path--;
    if (t->n_path && t->low[f] < t->low[t->path[t->n_path - 1]])
        t->low[t->path[t->n_path - 1]] = t->low[f];
    if (t->low[f] != t->index[f])
        return;
    uint32_t member;
    do {
        member = t->stack[--t->n_stack];
        t->on_stack[member] = 0;
        o->group[member] = o->n_groups;
        o->members[o->n_members++] = member;
    } while (member != f);
    o->first[++o->n_groups] = o->n_members;
}

static void walk(struct tarjan *t, uint32_t root) {
    enter(t, root);
    while (t->n_path) {
        uint32_t f = t->path[t->n_path - 1];
        if (t->edge[t->n_path - 1] == t->out->call_first[f + 1]) {
            leave(t, f);
            continue;
        }
        uint32_t to = t->ir->calls[t->out->calls[t->edge[t->n_path - 1]++]].callee;
        if (!t->index[to])
            enter(t, to);
        else if (t->on_stack[to] && t->index[to] < t->low[f])
            t->low[f] = t->index[to];
    }
}

/* Sorts calls by caller. */
static void sort_calls(struct ir *ir, struct call_order *o) {
    o->call_first = arena_array(ir->tmp, (size_t)ir->n_functions + 2, sizeof *o->call_first);
    o->calls = arena_array(ir->tmp, (size_t)ir->n_calls + 1, sizeof *o->calls);
    for (uint32_t i = 0; i < ir->n_calls; i++)
        o->call_first[ir->calls[i].caller + 2]++;
    for (uint32_t f = 2; f < ir->n_functions + 2; f++)
        o->call_first[f] += o->call_first[f - 1];
    for (uint32_t i = 0; i < ir->n_calls; i++)
        o->calls[o->call_first[ir->calls[i].caller + 1]++] = i;
}

static void mark_recursive(struct ir *ir) {
    const struct call_order *o = &ir->order;
    for (uint32_t f = 0; f < ir->n_functions; f++)
        ir->functions[f].recursive = o->first[o->group[f] + 1] - o->first[o->group[f]] > 1 ||
                                     (ir->functions[f].uses_alloca && !ir->functions[f].is_entry);
    for (uint32_t i = 0; i < ir->n_calls; i++)
        if (ir->calls[i].caller == ir->calls[i].callee)
            ir->functions[ir->calls[i].caller].recursive = true;
}

/* Assigns frames to a group. Frames of non-recursive functions are stacked by call depth, callers first. The frame of a
 * recursive function is on the thread's stack (isa/machine/call.h); its callees may have static frames. */
static bool place_group(struct ir *ir, uint32_t group) {
    const struct call_order *o = &ir->order;
    uint64_t end = 0;
    for (uint32_t m = o->first[group]; m < o->first[group + 1]; m++) {
        const struct ir_function *fn = &ir->functions[o->members[m]];
        uint64_t bytes = (uint64_t)fn->frame_base + (fn->recursive ? 0 : fn->frame_bytes);
        if (end < bytes)
            end = bytes;
    }
    if (end > MAX_LOCAL_BYTES) {
        snprintf(ir->failure, sizeof ir->failure,
                 "function '%s' takes the local memory of a thread to %llu bytes; the limit is %llu",
                 ir->functions[o->members[o->first[group]]].name, (unsigned long long)end,
                 (unsigned long long)MAX_LOCAL_BYTES);
        return false;
    }
    if (ir->local_bytes < end)
        ir->local_bytes = (uint32_t)end;
    for (uint32_t m = o->first[group]; m < o->first[group + 1]; m++)
        for (uint32_t e = o->call_first[o->members[m]]; e < o->call_first[o->members[m] + 1]; e++) {
            uint32_t callee = ir->calls[o->calls[e]].callee;
            if (o->group[callee] != group && ir->functions[callee].frame_base < end)
                ir->functions[callee].frame_base = (uint32_t)end;
        }
    return true;
}

/* Changes d = constant to d = frame pointer + constant. */
static bool fix_recursive_address(struct ir *ir, struct inst *in, uint64_t offset) {
    const struct isa_row *row = isa_find_row(OP_ADD, T_U64, T_NONE, 0);
    if (!row || in->dsize != 8) {
        snprintf(ir->failure, sizeof ir->failure,
                 "a recursive function takes the address of a variable in a 32-bit register, which is not supported");
        return false;
    }
    memcpy(&in->fn, &row->fn, sizeof in->fn);
    in->row = isa_row_index(row);
    in->latency = row->latency;
    in->b = ir_constant(ir, RC_64, offset, 0);
    return true;
}

static bool apply_fixup(struct ir *ir, const struct ir_fixup *fix) {
    struct inst *in = &ir->code[fix->inst];
    const struct ir_function *fn = &ir->functions[ir->info[fix->inst].function];
    bool memory = in->kind != K_LANE;
    uint64_t base = fix->what == FIX_FRAME ? fn->frame_base : round_up(ir->shared_bytes, 16);
    if (fix->what == FIX_FRAME && fn->recursive) {
        in->a = ir->frame_pointer << 1;
        in->asize = 8;
        return memory || fix_recursive_address(ir, in, fix->offset);
    }
    if (memory)
        in->imm = wrap_add(in->imm, base);
    else
        in->a = ir_constant(ir, class_of_bytes(in->dsize), fix->offset + base, 0);
    return true;
}

void ir_order_functions(struct ir *ir) {
    struct call_order *o = &ir->order;
    size_t n = ir->n_functions;
    *o = (struct call_order){0};
    sort_calls(ir, o);
    o->group = arena_array(ir->tmp, n + 1, sizeof *o->group);
    o->members = arena_array(ir->tmp, n + 1, sizeof *o->members);
    o->first = arena_array(ir->tmp, n + 2, sizeof *o->first);
    struct tarjan t = {.ir = ir, .out = o};
    t.index = arena_array(ir->tmp, n + 1, sizeof *t.index);
    t.low = arena_array(ir->tmp, n + 1, sizeof *t.low);
    t.stack = arena_array(ir->tmp, n + 1, sizeof *t.stack);
    t.path = arena_array(ir->tmp, n + 1, sizeof *t.path);
    t.edge = arena_array(ir->tmp, n + 1, sizeof *t.edge);
    t.on_stack = arena_array(ir->tmp, n + 1, 1);
    for (uint32_t f = 0; f < n; f++)
        if (!t.index[f])
            walk(&t, f);
    mark_recursive(ir);
}

bool pass_frames(struct ir *ir) {
    ir_order_functions(ir);
    for (uint32_t k = ir->order.n_groups; k-- > 0;)
        if (!place_group(ir, k))
            return false;
    for (uint32_t f = 0; f < ir->n_functions && !ir->frame_pointer; f++)
        if (ir->functions[f].recursive) {
            ir->frame_pointer = ir_vreg(ir, RC_64, 0, "%frame", 6);
            ir->vregs[ir->frame_pointer].special = true;
        }
    for (uint32_t i = 0; i < ir->n_fixups; i++)
        if (!apply_fixup(ir, &ir->fixups[i]))
            return false;
    return true;
}
