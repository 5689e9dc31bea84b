#ifndef TEST_FUZZ_STAGES_H
#define TEST_FUZZ_STAGES_H
/* What the fuzz targets of test/fuzz/ do with any bytes at all, and what test/fuzz_found.c does again with inputs that
 * were once too much. Any message and any fault is fine; a crash, a hang or a sanitizer's report is not. */
#include <stddef.h>
#include <stdint.h>

enum fuzz_stage {
    FUZZ_PARSE,   /* parse; what has no errors must survive printing */
    FUZZ_LOWER,   /* also lower every kernel, with and without convergence barriers */
    FUZZ_EXECUTE, /* also run each on one CTA, for a few thousand warp instructions */
    FUZZ_TIME,    /* the same in time: a model, a preset and options that follow from the input */
};

struct fuzz_counts {
    int kernels, lowered, ended; /* written; accepted; ran to the end without a fault */
};

struct fuzz_counts fuzz_stages(const uint8_t *data, size_t size, enum fuzz_stage last);
#endif
