#ifndef TEST_FUZZ_STAGES_H
#define TEST_FUZZ_STAGES_H
/* The stages of the fuzz targets in test/fuzz/, for any input. test/fuzz_found.c repeats them for inputs that once
 * failed. Error messages and faults are allowed; crashes, hangs and sanitizer reports are failures. */
#include <stddef.h>
#include <stdint.h>

enum fuzz_stage {
    FUZZ_PARSE,   /* parses; a tree without errors must parse again from its printed form */
    FUZZ_LOWER,   /* also lowers every kernel, with and without convergence barriers */
    FUZZ_EXECUTE, /* also runs each kernel with one CTA, for a few thousand warp instructions */
    FUZZ_TIME,    /* also runs each kernel with timing; model, preset and options derive from the input */
};

struct fuzz_counts {
    int kernels, lowered, ended; /* number of kernels found, accepted by lowering, and ended without a fault */
};

struct fuzz_counts fuzz_stages(const uint8_t *data, size_t size, enum fuzz_stage last);
#endif
