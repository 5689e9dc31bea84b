#ifndef ISA_CHAIN_H
#define ISA_CHAIN_H
/* Chains of f32 operations: what an instruction of kind K_CHAIN computes. The datapath is a row of full FPUs in each
 * lane, each of which takes its operands from the one before it or from the registers ("PEPSC: A Power-Efficient
 * Processor for Scientific Computing", section III-A). Two chains that need no more FPUs together share one
 * instruction, which then has two results; of a folded one each lane keeps one of the two (section III-C). */
#include "program.h"

enum {
    CHAIN_LENGTH = 6,      /* most operations of one instruction */
    CHAIN_PARTS = 2 * 6,   /* most parts, with moves, which take no FPU behind an operation */
    CHAIN_SOURCES = 2 * 6, /* most sources: six alone, paired, have eight */
    CHAIN_PREVIOUS = 0xff, /* a source: the result of the part before */
};
/* Those behind CHAIN_FMA are in folded instructions alone. */
enum chain_op { CHAIN_ADD, CHAIN_SUB, CHAIN_MUL, CHAIN_FMA, CHAIN_MIN, CHAIN_MAX, CHAIN_NEG, CHAIN_ABS, CHAIN_MOVE };

struct chain_part {
    lane_fn *lane;
    uint16_t row;     /* of the instruction that it was */
    uint8_t op;       /* enum chain_op */
    uint8_t units;    /* FPUs that it takes: 1, 2 for a fused multiply-add, 0 for a move of the result before */
    uint8_t rounding; /* RND_ of decode.h */
    bool ftz, sat;
    uint8_t n_src, src[3]; /* places in the instruction's list, or CHAIN_PREVIOUS */
};

struct program_chain {
    uint8_t n;                         /* parts: those of the first chain, [0, split), then those of the second */
    uint8_t split;                     /* n: there is only one */
    bool folded;                       /* the first for lanes where the predicate holds, the second for the others */
    bool wide;                         /* chain.ieee=off: nothing between parts is rounded */
    uint8_t reads_saved, writes_saved; /* registers that the parts by themselves would read and write beyond those of
                                          this instruction */
    struct chain_part part[CHAIN_PARTS];
};

/* Where results without rounding between differ from the exact ones (chain.ieee=off). */
struct chain_error {
    uint64_t results; /* of lanes */
    uint64_t differ;  /* of these, in any bit */
    uint64_t beyond;  /* results whose relative error (chain.c) is above 0.5 % */
    double largest;   /* largest relative error */
};
/* Takes into account that a result is `have` where rounding each operation gives `want`. */
void chain_error_see(struct chain_error *e, float have, float want);
void chain_error_add(struct chain_error *to, const struct chain_error *from);

/* FPUs of the first chain (0) or the second (1). */
unsigned chain_units(const struct program_chain *c, unsigned which);
/* Cycles count by the longer of the two. */
unsigned chain_depth(const struct program_chain *c);

/* A chain as text: "add.f32(A, B) -> mul.f32(#, C)", each source written by `source`; # is the result before. */
struct chain_printer {
    void (*text)(void *ctx, const char *s);
    void (*source)(void *ctx, unsigned place);
    void *ctx;
};
void chain_print(const struct program_chain *c, unsigned which, const struct chain_printer *p);
#endif
