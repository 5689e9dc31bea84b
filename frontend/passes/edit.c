/* Edits the program as linked lists of blocks and instructions. edit_end.c turns the lists back into a program. */
#include "edit.h"
#include <assert.h>
#include <string.h>

static bool is_jump(const struct inst *in) {
    return in->kind == K_BRANCH || in->kind == K_BRX || in->kind == K_RET || in->kind == K_EXIT || in->kind == K_TRAP;
}

static uint32_t add_node(struct edit *e, const struct inst *in, const struct inst_info *info) {
    struct ir *ir = e->ir;
    e->nodes = IR_ROOM(ir, e->nodes, e->n_nodes, e->cap_nodes);
    struct edit_node *n = &e->nodes[e->n_nodes];
    *n = (struct edit_node){.in = *in, .info = *info, .next = NO_INST, .prev = NO_INST, .block = NO_BLOCK};
    return e->n_nodes++;
}

/* Adds an instruction that gets the source location of `near`, its neighbour, but not the neighbour's communication
 * site. */
static uint32_t new_node(struct edit *e, const struct inst *in, const struct inst_info *near) {
    struct inst_info info = *near;
    info.site = info.guard_site = 0;
    info.twin = 0;
    return add_node(e, in, &info);
}

/* Inserts a node, which is in no block yet, into `block`: before `at`, or at the end if `at` is NO_INST. */
static void insert_node(struct edit *e, uint32_t node, uint32_t block, uint32_t at) {
    struct edit_block *b = &e->blocks[block];
    struct edit_node *n = &e->nodes[node];
    n->block = block;
    n->info.function = b->function;
    n->next = at;
    n->prev = at == NO_INST ? b->last : e->nodes[at].prev;
    *(n->prev == NO_INST ? &b->first : &e->nodes[n->prev].next) = node;
    *(at == NO_INST ? &b->last : &e->nodes[at].prev) = node;
}

static void unlink_node(struct edit *e, uint32_t node) {
    struct edit_node *n = &e->nodes[node];
    struct edit_block *b = &e->blocks[n->block];
    *(n->prev == NO_INST ? &b->first : &e->nodes[n->prev].next) = n->next;
    *(n->next == NO_INST ? &b->last : &e->nodes[n->next].prev) = n->prev;
    n->block = NO_BLOCK;
    n->next = n->prev = NO_INST;
}

static void read_blocks(struct edit *e) {
    const struct ir *ir = e->ir;
    for (uint32_t b = 0; b < ir->n_blocks; b++) {
        const struct block *from = &ir->blocks[b];
        e->blocks = IR_ROOM(ir, e->blocks, e->n_blocks, e->cap_blocks);
        struct edit_block *to = &e->blocks[e->n_blocks++];
        *to = (struct edit_block){NO_INST, NO_INST, NO_BLOCK, NO_BLOCK, from->function, ir->info[from->begin]};
        if (!inst_never_falls_through(&ir->code[from->end - 1]))
            to->fall = b + 1;
        if (b + 1 < ir->functions[from->function].block_end)
            to->next = b + 1;
        for (uint32_t i = from->begin; i < from->end; i++) {
            insert_node(e, add_node(e, &ir->code[i], &ir->info[i]), b, NO_INST);
        }
    }
}

struct edit *edit_begin(struct ir *ir) {
    struct edit *e = arena_alloc(ir->tmp, sizeof *e);
    e->ir = ir;
    for (uint32_t f = 0; f < ir->n_functions; f++) {
        uint32_t cap = e->cap_functions;
        e->first_block = IR_ROOM(ir, e->first_block, f, cap);
        e->last_block = IR_ROOM(ir, e->last_block, f, e->cap_functions);
        e->first_block[f] = ir->functions[f].block;
        e->last_block[f] = ir->functions[f].block_end - 1;
    }
    /* A pass may add a write of a predicate that no instruction writes so far. So these predicates are no longer
     * special registers. */
    for (uint32_t v = 1; v < ir->n_vregs; v++)
        if (ir->vregs[v].stays_zero)
            ir->vregs[v].special = ir->vregs[v].stays_zero = false;
    read_blocks(e);
    return e;
}

uint32_t edit_moved(const struct edit *e, uint32_t node) { return e->moved[node]; }
struct inst *edit_inst(struct edit *e, uint32_t node) {
    return &e->nodes[node].in;
}
const struct inst_info *edit_info(const struct edit *e, uint32_t node) { return &e->nodes[node].info; }

uint32_t edit_before(struct edit *e, uint32_t node, const struct inst *in) {
    assert(!is_jump(in));
    struct inst_info near = e->nodes[node].info;
    uint32_t added = new_node(e, in, &near);
    insert_node(e, added, e->nodes[node].block, node);
    return added;
}

uint32_t edit_after(struct edit *e, uint32_t node, const struct inst *in) {
    assert(!is_jump(in) && !is_jump(&e->nodes[node].in));
    struct inst_info near = e->nodes[node].info;
    uint32_t added = new_node(e, in, &near);
    insert_node(e, added, e->nodes[node].block, e->nodes[node].next);
    return added;
}

uint32_t edit_at_begin(struct edit *e, uint32_t block, const struct inst *in) {
    uint32_t first = e->blocks[block].first;
    return first == NO_INST ? edit_at_end(e, block, in) : edit_before(e, first, in);
}

uint32_t edit_at_end(struct edit *e, uint32_t block, const struct inst *in) {
    assert(!is_jump(in));
    struct edit_block *b = &e->blocks[block];
    uint32_t jump = edit_jump(e, block),
             added = new_node(e, in, b->last == NO_INST ? &b->near : &e->nodes[b->last].info);
    insert_node(e, added, block, jump);
    return added;
}

/* If the removed instruction `node` is a call, sets ir_call.inst of its records to NO_INST. */
static void forget_calls(struct edit *e, uint32_t node) {
    struct ir *ir = e->ir;
    for (uint32_t c = 0; e->nodes[node].in.kind == K_CALL && c < ir->n_calls; c++)
        if (ir->calls[c].inst == node)
            ir->calls[c].inst = NO_INST;
}

void edit_remove(struct edit *e, uint32_t node) {
    assert(!inst_never_falls_through(&e->nodes[node].in));
    forget_calls(e, node);
    unlink_node(e, node);
}

void edit_move_before(struct edit *e, uint32_t node, uint32_t before) {
    assert(!is_jump(&e->nodes[node].in));
    if (node == before)
        return;
    unlink_node(e, node);
    insert_node(e, node, e->nodes[before].block, before);
}

void edit_move_to_end(struct edit *e, uint32_t node, uint32_t block) {
    assert(!is_jump(&e->nodes[node].in));
    unlink_node(e, node);
    insert_node(e, node, block, edit_jump(e, block));
}

struct rename_args {
    uint32_t from, to;
    bool reads, writes;
};

static void rename_operand(void *ctx, opnd_t *o, enum operand_role role) {
    const struct rename_args *r = ctx;
    if (!(*o & 1) && *o >> 1 == r->from && (role == OPERAND_WRITE ? r->writes : r->reads))
        *o = r->to << 1;
}

void edit_rename(struct edit *e, uint32_t node, uint32_t from, uint32_t to, bool reads, bool writes) {
    assert(from != SINK_VREG && e->ir->vregs[from].cls == e->ir->vregs[to].cls);
    ir_operands(e->ir, &e->nodes[node].in, rename_operand, &(struct rename_args){from, to, reads, writes});
}

uint32_t edit_jump(const struct edit *e, uint32_t block) {
    uint32_t last = e->blocks[block].last;
    return last != NO_INST && is_jump(&e->nodes[last].in) ? last : NO_INST;
}

uint32_t edit_set_end(struct edit *e, uint32_t block, const struct inst *jump, uint32_t fall) {
    uint32_t old = edit_jump(e, block), added = NO_INST;
    struct inst_info near =
        e->blocks[block].last == NO_INST ? e->blocks[block].near : e->nodes[e->blocks[block].last].info;
    assert(!jump || is_jump(jump));
    assert((fall == NO_BLOCK) == (jump && inst_never_falls_through(jump)));
    if (old != NO_INST)
        unlink_node(e, old);
    if (jump)
        insert_node(e, added = new_node(e, jump, &near), block, NO_INST);
    e->blocks[block].fall = fall;
    return added;
}

uint32_t edit_new_block(struct edit *e, uint32_t after, uint32_t function, uint32_t fall,
                        const struct inst_info *near) {
    struct inst_info place = *near; /* a copy, since `near` may point into the array that is reallocated below */
    e->blocks = IR_ROOM(e->ir, e->blocks, e->n_blocks, e->cap_blocks);
    uint32_t b = e->n_blocks++;
    if (after == NO_BLOCK)
        after = e->last_block[function];
    e->blocks[b] = (struct edit_block){NO_INST, NO_INST, fall, NO_BLOCK, function, place};
    if (after == NO_BLOCK) {
        e->first_block[function] = e->last_block[function] = b;
        return b;
    }
    e->blocks[b].next = e->blocks[after].next;
    e->blocks[after].next = b;
    if (e->last_block[function] == after)
        e->last_block[function] = b;
    return b;
}

void edit_retarget(struct edit *e, uint32_t block, uint32_t from, uint32_t to) {
    struct edit_block *b = &e->blocks[block];
    uint32_t jump = edit_jump(e, block);
    if (b->fall == from)
        b->fall = to;
    if (jump == NO_INST)
        return;
    struct inst *in = &e->nodes[jump].in;
    if (in->kind == K_BRANCH && in->target == from)
        in->target = to;
    for (uint32_t t = 1; in->kind == K_BRX && t <= e->ir->lists[in->list]; t++)
        if (e->ir->lists[in->list + t] == from)
            e->ir->lists[in->list + t] = to;
}

uint32_t edit_split(struct edit *e, uint32_t node) {
    uint32_t block = e->nodes[node].block;
    struct inst_info near = e->nodes[node].info;
    uint32_t b = edit_new_block(e, block, e->blocks[block].function, e->blocks[block].fall, &near), next;
    for (uint32_t i = node; i != NO_INST; i = next) {
        next = e->nodes[i].next;
        unlink_node(e, i);
        insert_node(e, i, b, NO_INST);
    }
    e->blocks[block].fall = b;
    return b;
}

uint32_t edit_split_edge(struct edit *e, uint32_t from, uint32_t to) {
    const struct edit_block *b = &e->blocks[from];
    const struct inst_info *near = b->last == NO_INST ? &b->near : &e->nodes[b->last].info;
    uint32_t between = edit_new_block(e, b->fall == to ? from : NO_BLOCK, b->function, to, near);
    edit_retarget(e, from, to, between);
    return between;
}

/* Returns the block before `block` in text order, NO_BLOCK for the first of its function. */
static uint32_t text_before(const struct edit *e, uint32_t block) {
    uint32_t b = e->first_block[e->blocks[block].function];
    if (b == block)
        return NO_BLOCK;
    while (e->blocks[b].next != block)
        b = e->blocks[b].next;
    return b;
}

static bool in_loop(const struct edit *e, const struct loop *l, uint32_t b) {
    return b < e->ir->n_blocks && loop_has(l, b);
}

uint32_t edit_preheader(struct edit *e, const struct loop *l) {
    uint32_t header = l->header, function = e->blocks[header].function, before = text_before(e, header);
    struct inst_info near = e->ir->info[e->ir->blocks[header].begin];
    bool at_end = before != NO_BLOCK && in_loop(e, l, before) && e->blocks[before].fall == header;
    uint32_t added = edit_new_block(e, at_end ? NO_BLOCK : before, function, header, &near);
    if (!at_end && before == NO_BLOCK) { /* the new block becomes the first one: move it from the end to the front */
        for (uint32_t b = e->first_block[function]; b != NO_BLOCK; b = e->blocks[b].next)
            if (e->blocks[b].next == added) {
                e->blocks[b].next = NO_BLOCK;
                e->last_block[function] = b;
            }
        e->blocks[added].next = e->first_block[function];
        e->first_block[function] = added;
    }
    for (uint32_t b = 0; b < e->n_blocks; b++)
        if (b != added && e->blocks[b].function == function && !in_loop(e, l, b))
            edit_retarget(e, b, header, added);
    return added;
}

struct inst edit_make_jump(uint32_t to) {
    struct inst in = inst_of_row(isa_find_row(OP_BRA, T_NONE, T_NONE, 0));
    in.target = to;
    in.rpc = PC_EXIT;
    in.hints = HINT_UNI;
    return in;
}
