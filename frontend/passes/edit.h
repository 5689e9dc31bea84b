#ifndef FRONTEND_EDIT_H
#define FRONTEND_EDIT_H
/* Edits the program under construction: adds, removes, moves and copies instructions; adds blocks and edges; copies
 * whole functions as streams.
 *
 * Between edit_begin() and edit_end(), instructions and blocks keep their old numbers; new ones have the numbers that
 * the calls below return. A block falls through to another block by number, not by position. edit_end() lays out the
 * blocks, adds jumps where the fall-through block does not come next, drops unreachable code, and rebuilds all derived
 * data: blocks and edges, post-dominators, targets and reconvergence points, brx tables, calls and the order of
 * functions, register lists; also liveness and registers, if they were known. Each instruction keeps its source line; a
 * new one gets that of its neighbour.
 *
 * The caller must keep: a block ends in at most one jump (bra, brx, ret, exit, trap), and has a fall-through block if
 * and only if its jump is guarded or absent. Registers and constants may be added at any time. Results of loops, defuse
 * and dominators stay valid until edit_end(). */
#include "frontend/analysis/ir.h"
#include "frontend/analysis/loops.h"

struct edit_node {
    struct inst in;
    struct inst_info info;
    uint32_t next, prev; /* neighbours in its block; NO_INST at the ends */
    uint32_t block;      /* its block; NO_BLOCK: removed */
};

struct edit_block {
    uint32_t first, last; /* NO_INST: empty */
    /* block that follows if the jump at the end is absent or not taken; NO_BLOCK: there is none */
    uint32_t fall;
    uint32_t next; /* next block in text order; NO_BLOCK at the end of its function */
    uint32_t function;
    struct inst_info near; /* source location of instructions that are added while the block is empty */
};

struct edit {
    struct ir *ir;
    struct edit_node *nodes;
    uint32_t n_nodes, cap_nodes;
    struct edit_block *blocks;
    uint32_t n_blocks, cap_blocks;
    uint32_t *first_block, *last_block; /* by function */
    uint32_t cap_functions;
    bool calls_changed;
    uint32_t *moved; /* after edit_end(): node -> instruction, NO_INST if removed */
};

/* Starts editing; edit_end() must follow. Requires: blocks. */
struct edit *edit_begin(struct ir *ir);
/* Ends editing. Returns false on failure, with the reason in ir->failure. */
bool edit_end(struct edit *e);
/* Returns the number of an instruction after edit_end(), NO_INST if it was removed or is unreachable. */
uint32_t edit_moved(const struct edit *e, uint32_t node);

/* edit.c: instructions. `in` has virtual registers as operands and blocks as targets. Functions that add an
 * instruction return its number. */
/* Returns the instruction for reading and changing. A jump must stay a jump, and any other instruction must not become
 * a jump. The pointer is valid until an instruction is added. */
struct inst *edit_inst(struct edit *e, uint32_t node);
const struct inst_info *edit_info(const struct edit *e, uint32_t node);
/* Adds an instruction before `node`. */
uint32_t edit_before(struct edit *e, uint32_t node, const struct inst *in);
/* Adds an instruction after `node`, which must not be a jump, because a jump is the last instruction of its block. */
uint32_t edit_after(struct edit *e, uint32_t node, const struct inst *in);
uint32_t edit_at_begin(struct edit *e, uint32_t block, const struct inst *in);
/* Adds an instruction at the end of a block, before its jump if it has one. */
uint32_t edit_at_end(struct edit *e, uint32_t block, const struct inst *in);
/* Removes an instruction. It must not be an unguarded jump; edit_set_end() replaces unguarded jumps. */
void edit_remove(struct edit *e, uint32_t node);
/* Move an instruction that is not a jump before another one, or to the end of a block before its jump. */
void edit_move_before(struct edit *e, uint32_t node, uint32_t before);
void edit_move_to_end(struct edit *e, uint32_t node, uint32_t block);
/* Replaces register `from` by `to`, of the same class, in an instruction: where it reads, where it writes, or both. */
void edit_rename(struct edit *e, uint32_t node, uint32_t from, uint32_t to, bool reads, bool writes);

/* edit.c: blocks and edges. */
/* Returns the jump that ends a block, or NO_INST if it only falls through. */
uint32_t edit_jump(const struct edit *e, uint32_t block);
/* Replaces the end of a block: a jump (NULL: none) and the fall-through block (NO_BLOCK: none). Returns the jump. */
uint32_t edit_set_end(struct edit *e, uint32_t block, const struct inst *jump, uint32_t fall);
/* Adds an empty block that falls through to `fall`. Its position is after the block `after`, or at the end of
 * `function` if `after` is NO_BLOCK. Its instructions get the source location `near`. Returns the block. */
uint32_t edit_new_block(struct edit *e, uint32_t after, uint32_t function, uint32_t fall, const struct inst_info *near);
/* Redirects every edge from `block` to `from` so that it leads to `to`. */
void edit_retarget(struct edit *e, uint32_t block, uint32_t from, uint32_t to);
/* Splits a block before `node`. Returns the new block, which begins with `node`. */
uint32_t edit_split(struct edit *e, uint32_t node);
/* Adds an empty block on the edge between two blocks and returns the new block. */
uint32_t edit_split_edge(struct edit *e, uint32_t from, uint32_t to);
/* Adds a preheader: a block that every path into the loop passes, and that no path inside the loop passes. Its position
 * is before the header, or at the end of the function if a block of the loop falls through to the header. Returns the
 * preheader. */
uint32_t edit_preheader(struct edit *e, const struct loop *l);
/* Returns a `bra` to a block. Statistics count it like a `bra` of the source. */
struct inst edit_make_jump(uint32_t to);

/* edit_copy.c */
/* Result of a copy: block -> its copy, and instruction -> its copy. NO_BLOCK or NO_INST means that the original was not
 * copied. */
struct edit_copy {
    uint32_t *block, *inst;
    uint32_t *vreg; /* old register -> its copy; NULL: the copied code uses the original registers */
    uint32_t function;
};
/* Copies `n` blocks of one function, placed after `after` in this order. Edges among them become edges among the
 * copies; other edges keep their target. Calls are copied as calls of the same function. */
struct edit_copy edit_copy_blocks(struct edit *e, const uint32_t *blocks, uint32_t n, uint32_t after);
/* Copies an instruction that is neither jump nor call to the end of a block, before its jump, with its own list and the
 * original's source location. Returns the copy. */
uint32_t edit_copy_to_end(struct edit *e, uint32_t node, uint32_t block);
/* Copies a whole function with new registers; special registers are shared. Nothing calls the copy: ir_add_stream()
 * makes it the entry of a stream. */
struct edit_copy edit_copy_function(struct edit *e, uint32_t function, const char *name);
#endif
