#ifndef FRONTEND_EDIT_H
#define FRONTEND_EDIT_H
/* Changes of the program under construction: instructions put in, taken out, moved and copied, blocks and edges made
 * anew, whole functions copied into streams of their own.
 *
 * Between edit_begin() and edit_end() instructions and blocks go by the numbers they had, new ones by the numbers that
 * the calls below return, and nothing that is in place changes its number. A block falls into another one by name, not
 * by standing before it. edit_end() lays the blocks out, adds jumps where one falls into a block that does not come
 * next, drops what no path reaches, and makes everything anew that follows from the code: blocks and their edges,
 * post-dominators, targets and reconvergence points, tables of brx, calls and the order of functions, the registers
 * that each instruction uses; liveness and registers, too, where they were known. The source line of an instruction
 * stays with it; a new one has that of its neighbour.
 *
 * Not for the user to break: a block ends in at most one jump (bra, brx, ret, exit, trap), and falls into another block
 * exactly when its jump is guarded or it has none. Registers and constants may be made at any time. What loops, defuse
 * and dominators say holds until edit_end(). */
#include "frontend/analysis/ir.h"
#include "frontend/analysis/loops.h"

struct edit_node {
    struct inst in;
    struct inst_info info;
    uint32_t next, prev; /* in its block; NO_INST at the ends */
    uint32_t block;      /* NO_BLOCK: taken out */
};

struct edit_block {
    uint32_t first, last; /* NO_INST: it is empty */
    uint32_t fall;        /* NO_BLOCK: never left at its end */
    uint32_t next;        /* in the order of the text; NO_BLOCK at the end of its function */
    uint32_t function;
    struct inst_info near; /* the place in the source of what is put into it while it is empty */
};

struct edit {
    struct ir *ir;
    struct edit_node *nodes;
    uint32_t n_nodes, cap_nodes;
    struct edit_block *blocks;
    uint32_t n_blocks, cap_blocks;
    uint32_t *first_block, *last_block; /* of each function */
    uint32_t cap_functions;
    bool calls_changed;
    uint32_t *moved; /* once ended: node -> instruction, NO_INST for what is gone */
};

/* Requires: blocks. What it begins must be ended. */
struct edit *edit_begin(struct ir *ir);
/* False: ir->failure says why. */
bool edit_end(struct edit *e);
/* Where an instruction is after edit_end(); NO_INST: it was taken out, or no path reaches it. */
uint32_t edit_moved(const struct edit *e, uint32_t node);

/* edit.c: instructions. `in` has virtual registers as operands and blocks as targets. */
/* The instruction, to look at and to change; its kind must stay a jump, or no jump. Valid until something is added. */
struct inst *edit_inst(struct edit *e, uint32_t node);
const struct inst_info *edit_info(const struct edit *e, uint32_t node);
uint32_t edit_before(struct edit *e, uint32_t node, const struct inst *in);
/* Not after a jump: what follows it depends on the edge. */
uint32_t edit_after(struct edit *e, uint32_t node, const struct inst *in);
uint32_t edit_at_begin(struct edit *e, uint32_t block, const struct inst *in);
/* Before its jump, if it has one. */
uint32_t edit_at_end(struct edit *e, uint32_t block, const struct inst *in);
/* Takes it out. Not a jump without a guard: edit_set_end() says how the block ends then. */
void edit_remove(struct edit *e, uint32_t node);
/* Takes an instruction that is no jump to the place before another one, or to the end of a block before its jump. */
void edit_move_before(struct edit *e, uint32_t node, uint32_t before);
void edit_move_to_end(struct edit *e, uint32_t node, uint32_t block);
/* A register that the instruction names becomes another of the same class: where it reads, where it writes. */
void edit_rename(struct edit *e, uint32_t node, uint32_t from, uint32_t to, bool reads, bool writes);

/* edit.c: blocks and edges. */
/* The jump that ends a block; NO_INST: it only falls into the next. */
uint32_t edit_jump(const struct edit *e, uint32_t block);
/* Another end for a block: a jump (NULL: none) and the block that it falls into (NO_BLOCK: none). Returns the jump. */
uint32_t edit_set_end(struct edit *e, uint32_t block, const struct inst *jump, uint32_t fall);
/* An empty block that falls into `fall`, behind the block `after` in the text or at the end of `function` when `after`
 * is NO_BLOCK. Its instructions come from where `near` comes from. */
uint32_t edit_new_block(struct edit *e, uint32_t after, uint32_t function, uint32_t fall, const struct inst_info *near);
/* Every edge from `block` to `from` leads to `to` instead. */
void edit_retarget(struct edit *e, uint32_t block, uint32_t from, uint32_t to);
/* The block ends before `node`; a new block, which it falls into, begins there. Returns that. */
uint32_t edit_split(struct edit *e, uint32_t node);
/* A new block on the edge between two. */
uint32_t edit_split_edge(struct edit *e, uint32_t from, uint32_t to);
/* A new block that everything comes by that enters the loop, and nothing else. It stands before the header, or at the
 * end of the function where a block of the loop falls into the header. */
uint32_t edit_preheader(struct edit *e, const struct loop *l);
/* `bra` to a block, counted like the ones that were written. */
struct inst edit_make_jump(uint32_t to);

/* edit_copy.c */
/* What copies are called: by the number of what was copied; NO_BLOCK, NO_INST for what was not. */
struct edit_copy {
    uint32_t *block, *inst;
    uint32_t *vreg; /* by register; NULL: the same registers */
    uint32_t function;
};
/* Copies `n` blocks of one function; copies stand behind `after` in this order. Edges between the blocks are copied to
 * edges between their copies, those to other blocks lead there. Calls are copied as calls of the same function. */
struct edit_copy edit_copy_blocks(struct edit *e, const uint32_t *blocks, uint32_t n, uint32_t after);
/* Copies one instruction that is no jump and no call to the end of a block, before its jump, with a list of its own and
 * its place in the source. Returns the copy. */
uint32_t edit_copy_to_end(struct edit *e, uint32_t node, uint32_t block);
/* Copies a whole function, with registers of its own; special registers are shared. The copy is an entry that nobody
 * calls: ir_add_stream() makes it the entry of a stream. */
struct edit_copy edit_copy_function(struct edit *e, uint32_t function, const char *name);
#endif
