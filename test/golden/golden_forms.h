#ifndef TEST_GOLDEN_FORMS_H
#define TEST_GOLDEN_FORMS_H
/* Instruction forms that can be compared with a real GPU: every row of the semantics table that computes exact results
 * from its operands only. This file declares the forms, their inputs, and PTX that runs them. scripts/golden/ runs the
 * PTX on a GPU; test/golden/golden.c compares the results. The file is also valid C++ (scripts/golden/golden.cu). */
#include <stddef.h>
#include <stdint.h>

enum {
    GOLDEN_INPUTS = 2048, /* number of inputs of a form: first combinations of special values, then random values */
    GOLDEN_CROSSED = 1024,
    GOLDEN_BLOCK = 256, /* number of consecutive inputs whose results share one hash */
    GOLDEN_BLOCKS = GOLDEN_INPUTS / GOLDEN_BLOCK,
    GOLDEN_RAW = 64, /* number of inputs whose results are stored in full; they are spread over all inputs */
    GOLDEN_KEY = 160,
    GOLDEN_TEXT = 2048,
};

/* The operands of one input, each in the low bits of its word. A predicate is 0 or 1. */
struct golden_input {
    uint64_t operand[4]; /* a b c e */
};
struct golden_result {
    uint64_t d, d2;
};

#ifdef __cplusplus
extern "C" {
#endif
/* Returns the number of forms. Forms are numbered from 0, in the order of the semantics table. */
uint32_t golden_count(void);
/* Writes a form's key, for example "add.rz.f32 .f32 .f32 .f32": the instruction's name, then the types of the operands
 * d, d2, a, b, c and e that it has. Returns the length of the mnemonic before the first dot. */
int golden_key(uint32_t form, char key[GOLDEN_KEY]);
void golden_inputs(uint32_t form, struct golden_input in[GOLDEN_INPUTS]);
/* Writes the kernel f<form>(.param .u64 in, .param .u64 out) in one line; each thread handles one input. */
void golden_ptx(uint32_t form, char text[GOLDEN_TEXT]);
/* Executes the form in Heddle for `n` inputs. */
void golden_execute(uint32_t form, const struct golden_input *in, struct golden_result *out, uint32_t n);
/* Replaces every NaN by one fixed NaN of its type, since PTX does not specify the bits of a NaN. */
void golden_canonical(uint32_t form, struct golden_result *r, uint32_t n);
uint32_t golden_hash(const struct golden_result *r, uint32_t n);
/* Returns the number of the k-th input of those inputs whose results are stored in full. */
uint32_t golden_raw(uint32_t k);
#ifdef __cplusplus
}
#endif
#endif
