/* Fuzz target: parses and lowers any bytes, and runs each kernel for a few thousand cycles on a machine derived from
 * the input. */
#include "test/fuzz_stages.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    fuzz_stages(data, size, FUZZ_TIME);
    return 0;
}
