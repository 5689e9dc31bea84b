#ifndef ISA_FUSED_H
#define ISA_FUSED_H
/* Fused f32 operations: a compound instruction that computes one or two sequences of dependent operations. The datapath
 * is a row of full FPUs in each lane. Each FPU takes its operands from the FPU before it or from the registers ("PEPSC:
 * A Power-Efficient Processor for Scientific Computing", section III-A). Two sequences that need no more FPUs together
 * share one instruction, which then has two results. Of a folded instruction each lane keeps one of the two (section
 * III-C). Passes make it by frontend/passes/fuse.h. */
#include "compound.h"

#define FUSED_NAME "#chain" /* the mnemonic */

enum {
    FUSED_LENGTH = 6,      /* most operations of one instruction */
    FUSED_PARTS = 2 * 6,   /* most parts, with moves, which take no FPU behind an operation */
    FUSED_SOURCES = 2 * 6, /* most sources: six alone, paired, have eight */
    FUSED_PREVIOUS = 0xff, /* a source: the result of the part before */
};
/* Those behind FUSED_FMA are in folded instructions alone. */
enum fused_op { FUSED_ADD, FUSED_SUB, FUSED_MUL, FUSED_FMA, FUSED_MIN, FUSED_MAX, FUSED_NEG, FUSED_ABS, FUSED_MOVE };

struct fused_part {
    lane_fn *lane;
    uint16_t row;     /* of the instruction that it was */
    uint8_t op;       /* enum fused_op */
    uint8_t units;    /* FPUs that it takes: 1, 2 for a fused multiply-add, 0 for a move of the result before */
    uint8_t rounding; /* RND_ of decode.h */
    bool ftz, sat;
    uint8_t n_src, src[3]; /* places in the instruction's list, or FUSED_PREVIOUS */
};

struct fused {
    uint8_t n;                         /* parts: those of the first sequence, [0, split), then those of the second */
    uint8_t split;                     /* n: there is only one */
    bool folded;                       /* the first for lanes where the predicate holds, the second for the others */
    bool wide;                         /* nothing between parts is rounded */
    uint8_t reads_saved, writes_saved; /* registers that the parts by themselves would read and write beyond those of
                                          this instruction */
    struct fused_part part[FUSED_PARTS];
};

/* For compound_ops.execute (isa/exec/exec_fused.c). A compound instruction that it executes is a fused one. */
warp_fn fused_execute;

/* What a fused instruction computes; NULL: the instruction is no fused one. */
static inline const struct fused *fused_of_compound(const struct program_compound *c) {
    return c && c->ops->execute == fused_execute ? c->what : NULL;
}
static inline const struct fused *fused_of(const struct program *p, const struct inst *in) {
    return fused_of_compound(compound_of(p, in));
}

/* FPUs of the first sequence (0) or the second (1). */
unsigned fused_units(const struct fused *c, unsigned which);
/* FPUs of the longer of the two, which decides how many cycles the instruction takes. */
unsigned fused_depth(const struct fused *c);

/* "#chain p1 ? r1 = add.f32(r2, r3) -> mul.f32(#, r2) : r4 = mul.f32(r2, r2)", without the name; # is the result
 * before. Without a predicate: "r1 = ..., r4 = ...". */
void fused_print(const struct compound_printer *p, const struct inst *in, const void *what);
/* For compound_ops.wrong. */
const char *fused_wrong(const struct inst *in, const void *what);
#endif
