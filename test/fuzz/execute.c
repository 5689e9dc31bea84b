/* Fuzz target: parses and lowers any bytes, and interprets each kernel for a few thousand warp instructions. */
#include "test/fuzz_stages.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    fuzz_stages(data, size, FUZZ_EXECUTE);
    return 0;
}
