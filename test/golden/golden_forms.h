#ifndef TEST_GOLDEN_FORMS_H
#define TEST_GOLDEN_FORMS_H
/* Instruction forms that can be compared with a real GPU: every row of the semantics table that is a pure operation
 * on lanes with exact results, its inputs, and PTX that runs it. scripts/golden/ runs them on a GPU;
 * test/golden/golden.c compares. Also valid C++ (scripts/golden/golden.cu). */
#include <stddef.h>
#include <stdint.h>

enum {
    GOLDEN_INPUTS = 2048, /* for each form: combinations of special values, then random values */
    GOLDEN_CROSSED = 1024,
    GOLDEN_BLOCK = 256, /* number of inputs that share a hash */
    GOLDEN_BLOCKS = GOLDEN_INPUTS / GOLDEN_BLOCK,
    GOLDEN_RAW = 64, /* inputs whose results are stored in full, spread over the combinations */
    GOLDEN_KEY = 160,
    GOLDEN_TEXT = 2048,
};

/* Operands of one input, in the low bits; predicates are 0 or 1. */
struct golden_input {
    uint64_t operand[4]; /* a b c e */
};
struct golden_result {
    uint64_t d, d2;
};

#ifdef __cplusplus
extern "C" {
#endif
/* Returns the number of forms. They are numbered from 0, in the order of the table. */
uint32_t golden_count(void);
/* Writes a form's key, as "add.rz.f32 .f32 .f32 .f32": its spelling, then the types of its operands, in the order d
 * d2 a b c e. Returns the length of the mnemonic before the first dot. */
int golden_key(uint32_t form, char key[GOLDEN_KEY]);
void golden_inputs(uint32_t form, struct golden_input in[GOLDEN_INPUTS]);
/* Writes the kernel f<form>(.param .u64 in, .param .u64 out) in one line; each thread handles one input. */
void golden_ptx(uint32_t form, char text[GOLDEN_TEXT]);
/* Executes the form in Heddle for `n` inputs. */
void golden_execute(uint32_t form, const struct golden_input *in, struct golden_result *out, uint32_t n);
/* Replaces every NaN by one fixed NaN of its type, since PTX does not specify the bits of a NaN. */
void golden_canonical(uint32_t form, struct golden_result *r, uint32_t n);
uint32_t golden_hash(const struct golden_result *r, uint32_t n);
/* Returns the number of the k-th input whose results are stored in full. */
uint32_t golden_raw(uint32_t k);
#ifdef __cplusplus
}
#endif
#endif
