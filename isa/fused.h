#ifndef ISA_FUSED_H
#define ISA_FUSED_H
/* Fused f32 operations: a compound instruction that computes one or two sequences of dependent operations. The datapath
 * of each lane is a chain of complete FPUs. Each FPU reads its operands from the previous FPU or from the registers
 * ("PEPSC: A Power-Efficient Processor for Scientific Computing", section III-A). Two sequences may share the FPUs of
 * one instruction, which then has two results. In a folded instruction each lane keeps one of the two results (section
 * III-C). Passes use frontend/passes/fuse.h to make fused instructions. */
#include "compound.h"

#define FUSED_NAME "#chain" /* the mnemonic */

enum {
    FUSED_LENGTH = 6,      /* maximum number of operations of one instruction */
    FUSED_PARTS = 2 * 6,   /* maximum number of parts; a move after an operation is a part that takes no FPU */
    FUSED_SOURCES = 2 * 6, /* maximum number of sources */
    FUSED_PREVIOUS = 0xff, /* value of a source index that means the result of the previous part */
};
/* Only folded instructions contain the operations after FUSED_FMA. */
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
    /* number of parts: parts [0, split) are the first sequence, and parts [split, n) are the second one */
    uint8_t n;
    uint8_t split; /* if `split` equals `n`, the instruction has one sequence */
    /* lanes where the predicate is true keep the first result, and the other lanes keep the second result */
    bool folded;
    bool wide; /* intermediate results are not rounded */
    /* reads_saved: number of register reads of the separate instructions, minus those of the fused instruction;
     * writes_saved: the same for register writes */
    uint8_t reads_saved, writes_saved;
    struct fused_part part[FUSED_PARTS];
};

/* The function compound_ops.execute of every fused instruction; no other instruction has it (isa/exec/exec_fused.c). */
warp_fn fused_execute;

/* Return the data of a fused instruction, or NULL if the instruction is not fused. */
static inline const struct fused *fused_of_compound(const struct program_compound *c) {
    return c && c->ops->execute == fused_execute ? c->what : NULL;
}
static inline const struct fused *fused_of(const struct program *p, const struct inst *in) {
    return fused_of_compound(compound_of(p, in));
}

/* Returns the number of FPUs of the first (0) or the second (1) sequence. */
unsigned fused_units(const struct fused *c, unsigned which);
/* Returns the number of FPUs of the longer sequence, which determines the latency. */
unsigned fused_depth(const struct fused *c);

/* Implements compound_ops.print for fused instructions: writes "p1 ? r1 = add.f32(r2, r3) -> mul.f32(#, r2) : r4 =
 * mul.f32(r2, r2)", where # is the result of the previous part. Without a predicate, it writes "r1 = ..., r4 = ...". */
void fused_print(const struct compound_printer *p, const struct inst *in, const void *what);
/* Implements compound_ops.wrong for fused instructions. */
const char *fused_wrong(const struct inst *in, const void *what);
#endif
