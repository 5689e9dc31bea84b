#ifndef ISA_COMPOUND_H
#define ISA_COMPOUND_H
/* Compound instructions (K_COMPOUND): a pass of a mechanism makes one of several instructions of the program. The core
 * knows its operands and how it acts on its surroundings (struct program_compound). The rest is asked of its operations
 * (struct compound_ops), which lie with the mechanism, or with the service that several mechanisms share.
 *
 * Operands are registers of 32 bits. imm is the entry in program.compounds. lists[list .. list + n_list) are further
 * sources. d and d2 are results; OPND_SINK: there is none. Of an instruction that selects, c is a predicate: lanes
 * where it holds write d, the others d2, or d when there is no d2. The pass sets HINT_COLLECTIVE and HINT_MEMBERS where
 * they apply; e is the member mask then. */
#include "program.h"

struct compound_timing; /* timing/sm/compound_timing.h */

/* Where print() writes. */
struct compound_printer {
    void (*text)(void *ctx, const char *s);
    void (*operand)(void *ctx, opnd_t o, enum type type);
    const opnd_t *list; /* the instruction's */
    void *ctx;
};

struct compound_ops {
    const char *name; /* the mnemonic, which begins with '#' */
    const char *help;
    enum latency_class latency;
    warp_fn *execute;
    /* Writes operands and operations, as they follow the name in a disassembly. */
    void (*print)(const struct compound_printer *p, const struct inst *in, const void *what);
    /* What is wrong with the instruction; NULL: nothing. The core has checked the sizes of its operands. */
    const char *(*wrong)(const struct inst *in, const void *what);
    /* The lane whose value `lane` takes in each of `steps` steps. NULL: no lane takes a value of another one. */
    int (*source_lane)(const struct warp *w, const struct inst *in, unsigned step, int lane);
    unsigned steps;
    /* Time and counts in the SM. NULL: those of the latency class. */
    const struct compound_timing *timing;
};

enum compound_memory { COMPOUND_NO_MEMORY, COMPOUND_READS_SHARED, COMPOUND_WRITES_SHARED };

struct program_compound {
    const struct compound_ops *ops;
    const void *what; /* the data of the operations; lives as long as the program */
    uint8_t memory;   /* enum compound_memory */
    bool selects;
};

/* The entry of an instruction; NULL: it is no compound one. */
static inline const struct program_compound *compound_of(const struct program *p, const struct inst *in) {
    return in->kind == K_COMPOUND ? &p->compounds[in->imm] : NULL;
}
/* True when each lane computes by itself, from registers alone. */
static inline bool compound_is_lane_wise(const struct program_compound *c) {
    return c->memory == COMPOUND_NO_MEMORY && !c->ops->source_lane;
}
#endif
