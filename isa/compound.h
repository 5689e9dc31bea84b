#ifndef ISA_COMPOUND_H
#define ISA_COMPOUND_H
/* Compound instructions (K_COMPOUND). A pass of a mechanism makes one compound instruction of several instructions of
 * the program. The core of the simulator knows the instruction's operands, its accesses to shared memory and its
 * selection by a predicate (struct program_compound). The mechanism defines everything else, as functions in struct
 * compound_ops.
 *
 * Operands are registers of 32 bits. imm is the entry in program.compounds. lists[list .. list + n_list) are further
 * sources. d and d2 are results; OPND_SINK: no result. If the instruction selects, c is a predicate: lanes where c is
 * true write d, and other lanes write d2, or d if there is no d2. The pass sets HINT_COLLECTIVE and, with a member mask
 * in e, HINT_MEMBERS. */
#include "program.h"

struct compound_timing; /* timing/sm/compound_timing.h */

/* The output of print(). */
struct compound_printer {
    void (*text)(void *ctx, const char *s);
    void (*operand)(void *ctx, opnd_t o, enum type type);
    const opnd_t *list; /* the instruction's list of operands, in.n_list elements */
    void *ctx;
};

struct compound_ops {
    const char *name; /* the mnemonic, which begins with '#' */
    const char *help;
    enum latency_class latency;
    warp_fn *execute;
    /* Writes the operands and operations that follow the name in a disassembly. */
    void (*print)(const struct compound_printer *p, const struct inst *in, const void *what);
    /* Checks an instruction. Returns the reason why it is invalid, or NULL if it is valid. The core has checked the
     * sizes of its operands before. */
    const char *(*wrong)(const struct inst *in, const void *what);
    /* Returns the lane whose value `lane` reads in step `step` of `steps`. The function is NULL if no lane reads a
     * value of another lane. */
    int (*source_lane)(const struct warp *w, const struct inst *in, unsigned step, int lane);
    unsigned steps;
    /* Functions by which the SM times and counts the instruction. If NULL, the instruction's latency class determines
     * both. */
    const struct compound_timing *timing;
};

enum compound_memory { COMPOUND_NO_MEMORY, COMPOUND_READS_SHARED, COMPOUND_WRITES_SHARED };

struct program_compound {
    const struct compound_ops *ops;
    const void *what; /* data for the operations; lives as long as the program */
    uint8_t memory;   /* enum compound_memory */
    bool selects;
    bool wide_b; /* true if operand b is an address of 64 bits */
};

/* Returns the entry of a compound instruction; NULL: the instruction is not compound. */
static inline const struct program_compound *compound_of(const struct program *p, const struct inst *in) {
    return in->kind == K_COMPOUND ? &p->compounds[in->imm] : NULL;
}
/* Returns true if each lane computes its results from its own registers alone. */
static inline bool compound_is_lane_wise(const struct program_compound *c) {
    return c->memory == COMPOUND_NO_MEMORY && !c->ops->source_lane;
}
#endif
