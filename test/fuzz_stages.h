#ifndef TEST_FUZZ_STAGES_H
#define TEST_FUZZ_STAGES_H
/* The stages of the fuzz targets in test/fuzz/, for any input. test/fuzz_found.c repeats them for inputs that once
 * failed. Error messages and faults are allowed; crashes, hangs and sanitizer reports are failures. */
#include <stddef.h>
#include <stdint.h>

enum fuzz_stage {
    FUZZ_PARSE,   /* parses the text; a tree without errors must parse again from its printed form */
    FUZZ_LOWER,   /* also lowers every kernel, with convergence barriers and without them */
    FUZZ_EXECUTE, /* also runs each kernel with one CTA, for a few thousand warp instructions */
    FUZZ_TIME,    /* also runs each kernel with timing; model, preset and options derive from the input */
};

struct fuzz_counts {
    int kernels, lowered, ended; /* numbers of kernels: in the text, accepted by lowering, ended without a fault */
};

struct fuzz_counts fuzz_stages(const uint8_t *data, size_t size, enum fuzz_stage last);
#endif
