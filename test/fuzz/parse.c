/* Fuzz target: parses any bytes. The parser must end, its messages must print, and a tree without errors must parse
 * again from its printed form. */
#include "test/fuzz_stages.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    fuzz_stages(data, size, FUZZ_PARSE);
    return 0;
}
