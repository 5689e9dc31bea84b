/* Fuzz target: loads any bytes as a compiled file. The result must be PTX or an error message. */
#include "host/load/elf_load.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct device_code c;
    elf_device_code(data, size, 75, &c);
    device_code_free(&c);
    elf_runtime(data, size);
    return 0;
}
