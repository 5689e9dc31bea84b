#ifndef TEST_GOLDEN_FORMS_H
#define TEST_GOLDEN_FORMS_H
/* Instruction forms as a real GPU can be asked about them: every row of the semantics table that is a pure operation on
 * lanes and promises exact results, its inputs, and the PTX that runs it. Used by scripts/golden/, which asks, and by
 * test/golden/golden.c, which compares. Also read as C++ (scripts/golden/golden.cu). */
#include <stddef.h>
#include <stdint.h>

enum {
    GOLDEN_INPUTS = 2048, /* of a form: special values crossed with themselves, then random ones */
    GOLDEN_CROSSED = 1024,
    GOLDEN_BLOCK = 256, /* inputs that share a hash */
    GOLDEN_BLOCKS = GOLDEN_INPUTS / GOLDEN_BLOCK,
    GOLDEN_RAW = 64, /* inputs whose results are stored as they are, spread over the crossed ones */
    GOLDEN_KEY = 160,
    GOLDEN_TEXT = 2048,
};

/* Operands of one input, low bits first; predicates are 0 or 1. */
struct golden_input {
    uint64_t operand[4]; /* a b c e */
};
struct golden_result {
    uint64_t d, d2;
};

#ifdef __cplusplus
extern "C" {
#endif
/* Forms are numbered from 0, in the order of the table. */
uint32_t golden_count(void);
/* "add.rz.f32 .f32 .f32 .f32": the spelling, then the types of d d2 a b c e that there are. Returns the length of the
 * mnemonic before the first dot. */
int golden_key(uint32_t form, char key[GOLDEN_KEY]);
void golden_inputs(uint32_t form, struct golden_input in[GOLDEN_INPUTS]);
/* The kernel f<form>(.param .u64 in, .param .u64 out) in one line: a thread an input. */
void golden_ptx(uint32_t form, char text[GOLDEN_TEXT]);
/* What Heddle computes. */
void golden_execute(uint32_t form, const struct golden_input *in, struct golden_result *out, uint32_t n);
/* All NaNs of a type are one: PTX leaves their bits open. */
void golden_canonical(uint32_t form, struct golden_result *r, uint32_t n);
uint32_t golden_hash(const struct golden_result *r, uint32_t n);
/* The number of the k-th input whose results are stored. */
uint32_t golden_raw(uint32_t k);
#ifdef __cplusplus
}
#endif
#endif
