/* Fuzz target: parses any bytes. The parser must end, and its messages must be printable. If the text has no errors,
 * its tree is printed and must parse again. */
#include "test/fuzz_stages.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    fuzz_stages(data, size, FUZZ_PARSE);
    return 0;
}
