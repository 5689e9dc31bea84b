/* Rebuilds the program from the edited lists. */
#include "edit.h"
#include <assert.h>
#include <string.h>

struct layout {
    struct edit *e;
    uint32_t *start; /* block -> its first instruction */
    struct inst *code;
    struct inst_info *info;
    uint32_t n;
};

static bool is_empty(const struct edit *e, uint32_t b) { return e->blocks[b].first == NO_INST; }

/* Follows the fall-through blocks from `b` on. Returns the first of them that is not empty, or NO_BLOCK if empty blocks
 * form a cycle. */
static uint32_t first_nonempty(const struct edit *e, uint32_t b) {
    uint32_t steps = 0;
    while (is_empty(e, b) && steps++ <= e->n_blocks)
        b = e->blocks[b].fall;
    return is_empty(e, b) ? NO_BLOCK : b;
}

static uint32_t next_nonempty(const struct edit *e, uint32_t b) {
    do
        b = e->blocks[b].next;
    while (b != NO_BLOCK && is_empty(e, b));
    return b;
}

static void add_jump(struct edit *e, uint32_t block, uint32_t to) {
    struct inst jump = edit_make_jump(to);
    assert(edit_jump(e, block) == NO_INST || e->nodes[edit_jump(e, block)].in.guard != NO_GUARD);
    if (edit_jump(e, block) == NO_INST) {
        edit_set_end(e, block, &jump, NO_BLOCK);
        return;
    }
    /* The block already has a guarded jump. So the jump to the fall-through block goes into a new block after this
     * block. */
    uint32_t last = edit_jump(e, block),
             b = edit_new_block(e, block, e->blocks[block].function, to, &e->nodes[last].info);
    edit_set_end(e, b, &jump, NO_BLOCK);
    e->blocks[block].fall = b;
}

/* Fills empty blocks where needed. Empty blocks in a cycle are an endless loop: one of them gets a jump to itself. An
 * empty entry block needs a jump unless the function continues right after it. */
static void fill_empty_blocks(struct edit *e) {
    for (uint32_t b = 0; b < e->n_blocks; b++)
        if (is_empty(e, b) && e->blocks[b].fall != NO_BLOCK && first_nonempty(e, b) == NO_BLOCK)
            add_jump(e, b, b);
    for (uint32_t f = 0; f < e->ir->n_functions; f++) {
        uint32_t b = e->first_block[f];
        if (is_empty(e, b) && first_nonempty(e, b) != next_nonempty(e, b))
            add_jump(e, b, e->blocks[b].fall);
    }
}

static void mark_reached(uint32_t *stack, uint32_t *top, unsigned char *seen, uint32_t b) {
    if (b == NO_BLOCK || seen[b])
        return;
    seen[b] = 1;
    stack[(*top)++] = b;
}

/* Empties unreachable blocks before the layout, so that no jump is needed around them. */
static void empty_unreachable(struct edit *e) {
    const struct ir *ir = e->ir;
    uint32_t *stack = arena_array(ir->tmp, (size_t)e->n_blocks + 1, sizeof *stack), top = 0;
    unsigned char *seen = arena_array(ir->tmp, (size_t)e->n_blocks + 1, 1);
    for (uint32_t f = 0; f < ir->n_functions; f++)
        mark_reached(stack, &top, seen, e->first_block[f]);
    while (top) {
        uint32_t b = stack[--top], jump = edit_jump(e, b);
        mark_reached(stack, &top, seen, e->blocks[b].fall);
        for (uint32_t i = e->blocks[b].first; i != NO_INST; i = e->nodes[i].next)
            if (e->nodes[i].in.kind == K_BSSY)
                mark_reached(stack, &top, seen, e->nodes[i].in.target);
        if (jump == NO_INST)
            continue;
        const struct inst *in = &e->nodes[jump].in;
        if (in->kind == K_BRANCH)
            mark_reached(stack, &top, seen, in->target);
        for (uint32_t t = 1; in->kind == K_BRX && t <= ir->lists[in->list]; t++)
            mark_reached(stack, &top, seen, ir->lists[in->list + t]);
    }
    for (uint32_t b = 0; b < e->n_blocks; b++)
        if (!seen[b]) {
            e->blocks[b].first = e->blocks[b].last = NO_INST;
            e->blocks[b].fall = NO_BLOCK;
        }
}

/* Adds a jump to each block whose fall-through block does not come next. */
static void add_jumps(struct edit *e) {
    uint32_t n = e->n_blocks;
    for (uint32_t b = 0; b < n; b++) {
        uint32_t fall = e->blocks[b].fall;
        if (!is_empty(e, b) && fall != NO_BLOCK && first_nonempty(e, fall) != next_nonempty(e, b))
            add_jump(e, b, fall);
    }
}

static void lay_out(struct layout *l) {
    struct edit *e = l->e;
    struct ir *ir = e->ir;
    for (uint32_t f = 0; f < ir->n_functions; f++) {
        ir->functions[f].begin = l->n;
        for (uint32_t b = e->first_block[f]; b != NO_BLOCK; b = e->blocks[b].next) {
            l->start[b] = l->n;
            for (uint32_t i = e->blocks[b].first; i != NO_INST; i = e->nodes[i].next) {
                e->moved[i] = l->n;
                l->code[l->n] = e->nodes[i].in;
                l->info[l->n++] = e->nodes[i].info;
            }
        }
        ir->functions[f].end = l->n;
    }
}

static void number_targets(struct layout *l) {
    struct ir *ir = l->e->ir;
    for (uint32_t i = 0; i < l->n; i++) {
        struct inst *in = &l->code[i];
        if (in->kind == K_BRANCH || in->kind == K_BSSY)
            in->target = l->start[first_nonempty(l->e, in->target)];
        for (uint32_t t = 1; in->kind == K_BRX && t <= ir->lists[in->list]; t++)
            ir->lists[in->list + t] = l->start[first_nonempty(l->e, ir->lists[in->list + t])];
    }
}

static void install(struct layout *l) {
    struct edit *e = l->e;
    struct ir *ir = e->ir;
    ir->code = l->code;
    ir->info = l->info;
    ir->n = ir->cap = l->n;
    ir->n_regs = 0;
    for (uint32_t i = 0; i < ir->n; i++)
        ir_note_regs(ir, i);
    for (uint32_t c = 0; c < ir->n_calls; c++)
        if (ir->calls[c].inst != NO_INST)
            ir->calls[c].inst = e->moved[ir->calls[c].inst];
    const uint32_t *kept = ir_make_blocks(ir);
    for (uint32_t i = 0; i < e->n_nodes; i++)
        if (e->moved[i] != NO_INST)
            e->moved[i] = kept[e->moved[i]];
}

bool edit_end(struct edit *e) {
    struct ir *ir = e->ir;
    struct layout l = {.e = e};
    bool had_liveness = ir->intervals != NULL, had_registers = ir->allocated;
    empty_unreachable(e);
    fill_empty_blocks(e);
    add_jumps(e);
    l.start = arena_array(ir->tmp, (size_t)e->n_blocks + 1, sizeof *l.start);
    l.code = arena_array(ir->tmp, (size_t)e->n_nodes + 1, sizeof *l.code);
    l.info = arena_array(ir->tmp, (size_t)e->n_nodes + 1, sizeof *l.info);
    e->moved = arena_array(ir->tmp, (size_t)e->n_nodes + 1, sizeof *e->moved);
    memset(e->moved, 0xff, ((size_t)e->n_nodes + 1) * sizeof *e->moved);
    lay_out(&l);
    number_targets(&l);
    install(&l);
    if (e->calls_changed)
        ir_order_functions(ir);
    return pass_exits(ir) && pass_postdom(ir) && (!had_liveness || pass_liveness(ir)) &&
           (!had_registers || pass_regalloc(ir));
}
