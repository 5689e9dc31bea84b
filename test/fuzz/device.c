/* Any bytes at all as a compiled file: PTX or a message, and no more. */
#include "host/load/elf_load.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct device_code c;
    elf_device_code(data, size, 75, &c);
    device_code_free(&c);
    elf_runtime(data, size);
    return 0;
}
