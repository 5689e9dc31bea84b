#ifndef ISA_FUSED_H
#define ISA_FUSED_H
/* Fused f32 operations: a compound instruction that computes one or two sequences of dependent operations. The datapath
 * of each lane is a chain of complete FPUs. Each FPU reads its operands from the previous FPU or from the registers
 * ("PEPSC: A Power-Efficient Processor for Scientific Computing", section III-A). Two sequences may share the FPUs of
 * one instruction, which then has two results. In a folded instruction each lane keeps one of the two results (section
 * III-C). Passes make fused instructions by frontend/passes/fuse.h. */
#include "compound.h"

#define FUSED_NAME "#chain" /* the mnemonic */

enum {
    FUSED_LENGTH = 6,      /* maximum number of operations of one instruction */
    FUSED_PARTS = 2 * 6,   /* maximum number of parts; a move after an operation is a part that takes no FPU */
    FUSED_SOURCES = 2 * 6, /* most sources: six alone, paired, have eight */
    FUSED_PREVIOUS = 0xff, /* as a source: the result of the previous part */
};
/* Operations after FUSED_FMA occur in folded instructions alone. */
enum fused_op { FUSED_ADD, FUSED_SUB, FUSED_MUL, FUSED_FMA, FUSED_MIN, FUSED_MAX, FUSED_NEG, FUSED_ABS, FUSED_MOVE };

struct fused_part {
    lane_fn *lane;
    uint16_t row;     /* index in isa_rows() of the replaced instruction's row */
    uint8_t op;       /* enum fused_op */
    uint8_t units;    /* number of FPUs: 1; 2 for a fused multiply-add; 0 for a move of the previous result */
    uint8_t rounding; /* RND_ of decode.h */
    bool ftz, sat;
    uint8_t n_src, src[3]; /* indices of operands in the instruction's list, or FUSED_PREVIOUS */
};

struct fused {
    uint8_t n;     /* number of parts: [0, split) is the first sequence, [split, n) the second */
    uint8_t split; /* equal to n: there is one sequence */
    bool folded;   /* lanes where the predicate holds keep the first result, other lanes the second */
    bool wide;     /* intermediate results are not rounded */
    /* register reads and writes of the separate instructions, minus the reads and writes of the fused instruction */
    uint8_t reads_saved, writes_saved;
    struct fused_part part[FUSED_PARTS];
};

/* The function compound_ops.execute of every fused instruction; no other instruction has it (isa/exec/exec_fused.c). */
warp_fn fused_execute;

/* Return the data of a fused instruction; NULL: the instruction is not fused. */
static inline const struct fused *fused_of_compound(const struct program_compound *c) {
    return c && c->ops->execute == fused_execute ? c->what : NULL;
}
static inline const struct fused *fused_of(const struct program *p, const struct inst *in) {
    return fused_of_compound(compound_of(p, in));
}

/* Returns the FPUs of the first sequence (0) or the second (1). */
unsigned fused_units(const struct fused *c, unsigned which);
/* Returns the FPUs of the longer sequence, which decides the latency. */
unsigned fused_depth(const struct fused *c);

/* compound_ops.print: writes "p1 ? r1 = add.f32(r2, r3) -> mul.f32(#, r2) : r4 = mul.f32(r2, r2)", where # is the
 * result of the previous part. Without a predicate, it writes "r1 = ..., r4 = ...". */
void fused_print(const struct compound_printer *p, const struct inst *in, const void *what);
/* compound_ops.wrong of fused instructions */
const char *fused_wrong(const struct inst *in, const void *what);
#endif
