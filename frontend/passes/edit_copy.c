/* Copies blocks and functions of the program that is edited (edit.h). The copy gets its own edges, lists and records of
 * calls. */
#include "edit.h"
#include <assert.h>
#include <string.h>

static uint32_t *empty_map(struct edit *e, uint32_t n) {
    uint32_t *map = arena_array(e->ir->tmp, (size_t)n + 1, sizeof *map);
    memset(map, 0xff, (size_t)n * sizeof *map);
    return map;
}

/* Gives the copy of an instruction its own list, whose operands and targets may change. */
static void copy_list(struct ir *ir, struct inst *in) {
    uint32_t n = in->kind == K_BRX ? ir->lists[in->list] + 1 : in->n_list, from = in->list;
    if (!n)
        return;
    in->list = ir->n_lists;
    for (uint32_t i = 0; i < n; i++)
        ir_list_add(ir, ir->lists[from + i]);
}

/* Copies the records in ir->calls of a call instruction. A call through a pointer has a record for each possible
 * callee. */
static void copy_calls(struct edit *e, uint32_t from, uint32_t to, uint32_t function) {
    struct ir *ir = e->ir;
    uint32_t n = ir->n_calls;
    e->calls_changed = true;
    for (uint32_t c = 0; c < n; c++) {
        if (ir->calls[c].inst != from)
            continue;
        ir->calls = IR_ROOM(ir, ir->calls, ir->n_calls, ir->cap_calls);
        ir->calls[ir->n_calls++] = (struct ir_call){.caller = function, .callee = ir->calls[c].callee, .inst = to};
    }
}

static void copy_nodes(struct edit *e, uint32_t block, struct edit_copy *c) {
    uint32_t to = c->block[block];
    for (uint32_t i = e->blocks[block].first, last = NO_INST; i != NO_INST; i = e->nodes[i].next) {
        e->nodes = IR_ROOM(e->ir, e->nodes, e->n_nodes, e->cap_nodes);
        struct edit_node *n = &e->nodes[e->n_nodes];
        *n = e->nodes[i];
        n->info.function = c->function;
        n->block = to;
        n->next = NO_INST;
        n->prev = last;
        copy_list(e->ir, &n->in);
        *(last == NO_INST ? &e->blocks[to].first : &e->nodes[last].next) = e->n_nodes;
        e->blocks[to].last = last = c->inst[i] = e->n_nodes++;
        if (n->in.kind == K_CALL)
            copy_calls(e, i, last, c->function);
    }
}

uint32_t edit_copy_to_end(struct edit *e, uint32_t node, uint32_t block) {
    struct inst in = e->nodes[node].in;
    struct inst_info from = e->nodes[node].info;
    assert(in.kind != K_CALL);
    copy_list(e->ir, &in);
    uint32_t added = edit_at_end(e, block, &in);
    from.site = from.guard_site = 0;
    from.twin = 0;
    from.function = e->blocks[block].function;
    e->nodes[added].info = from;
    return added;
}

static uint32_t copy_of(const struct edit_copy *c, uint32_t block) {
    return block != NO_BLOCK && c->block[block] != NO_BLOCK ? c->block[block] : block;
}

/* Redirects edges among the copied blocks to the copies. */
static void copy_edges(struct edit *e, uint32_t block, const struct edit_copy *c) {
    struct edit_block *to = &e->blocks[c->block[block]];
    to->fall = copy_of(c, to->fall);
    for (uint32_t i = to->first; i != NO_INST; i = e->nodes[i].next) {
        struct inst *in = &e->nodes[i].in;
        if (in->kind == K_BRANCH || in->kind == K_BSSY)
            in->target = copy_of(c, in->target);
        for (uint32_t t = 1; in->kind == K_BRX && t <= e->ir->lists[in->list]; t++)
            e->ir->lists[in->list + t] = copy_of(c, e->ir->lists[in->list + t]);
    }
}

static void copy_all(struct edit *e, const uint32_t *blocks, uint32_t n, uint32_t after, struct edit_copy *c) {
    c->block = empty_map(e, e->n_blocks);
    c->inst = empty_map(e, e->n_nodes);
    for (uint32_t i = 0; i < n; i++) {
        struct edit_block from = e->blocks[blocks[i]];
        after = c->block[blocks[i]] = edit_new_block(e, after, c->function, from.fall, &from.near);
    }
    for (uint32_t i = 0; i < n; i++)
        copy_nodes(e, blocks[i], c);
    for (uint32_t i = 0; i < n; i++)
        copy_edges(e, blocks[i], c);
}

struct edit_copy edit_copy_blocks(struct edit *e, const uint32_t *blocks, uint32_t n, uint32_t after) {
    struct edit_copy c = {.function = n ? e->blocks[blocks[0]].function : 0};
    copy_all(e, blocks, n, after, &c);
    return c;
}

struct copy_args {
    struct ir *ir;
    struct edit_copy *c;
};

static void copy_register(void *ctx, opnd_t *o, enum operand_role role) {
    struct copy_args *r = ctx;
    uint32_t v = *o >> 1;
    (void)role;
    if (*o & 1 || v == SINK_VREG || r->ir->vregs[v].special)
        return;
    if (r->c->vreg[v] == NO_INST) {
        const struct vreg old = r->ir->vregs[v];
        r->c->vreg[v] = ir_vreg(r->ir, old.cls, r->c->function, old.name, old.name_len);
        r->ir->vregs[r->c->vreg[v]].component = old.component;
    }
    *o = r->c->vreg[v] << 1;
}

/* Adds an empty function to the program and to the editor, with the properties of function `like`. */
static uint32_t add_function(struct edit *e, uint32_t like, const char *name) {
    struct ir *ir = e->ir;
    uint32_t f = ir->n_functions, cap = e->cap_functions;
    ir->functions = IR_ROOM(ir, ir->functions, f, ir->cap_functions);
    e->first_block = IR_ROOM(ir, e->first_block, f, cap);
    e->last_block = IR_ROOM(ir, e->last_block, f, e->cap_functions);
    e->first_block[f] = e->last_block[f] = NO_BLOCK;
    ir->functions[f] = ir->functions[like];
    ir->functions[f].name = arena_strndup(ir->keep, name, strlen(name));
    ir->functions[f].id = UINT32_MAX; /* no address */
    ir->functions[f].address_taken = false;
    ir->functions[f].is_entry = true;
    return ir->n_functions++;
}

struct edit_copy edit_copy_function(struct edit *e, uint32_t function, const char *name) {
    struct ir *ir = e->ir;
    struct edit_copy c = {.function = add_function(e, function, name)};
    uint32_t *blocks = arena_array(ir->tmp, (size_t)e->n_blocks + 1, sizeof *blocks), n = 0, old = e->n_nodes;
    for (uint32_t b = e->first_block[function]; b != NO_BLOCK; b = e->blocks[b].next)
        blocks[n++] = b;
    e->calls_changed = true;
    copy_all(e, blocks, n, NO_BLOCK, &c);
    c.vreg = empty_map(e, ir->n_vregs);
    struct copy_args r = {ir, &c};
    for (uint32_t i = old; i < e->n_nodes; i++)
        ir_operands(ir, &e->nodes[i].in, copy_register, &r);
    return c;
}
