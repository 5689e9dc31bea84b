/* Fuzz target: parses any bytes and lowers each kernel with every pass. */
#include "test/fuzz_stages.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    fuzz_stages(data, size, FUZZ_LOWER);
    return 0;
}
