/* Any bytes at all, and what lowers is run for a few thousand cycles on a machine that follows from them. */
#include "test/fuzz_stages.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    fuzz_stages(data, size, FUZZ_TIME);
    return 0;
}
