#ifndef HOST_ELF_LOAD_H
#define HOST_ELF_LOAD_H
/* Device code in files that a compiler wrote: host executables, shared and relocatable objects, libraries of them (.a),
 * containers (.fatbin) and machine code (.cubin). Any bytes may be given. */
#include "fatbin.h"

/* Whether these are the first bytes of such a file. */
bool elf_is_device_file(const void *data, size_t len);
/* All PTX in it, the best for `target` of each container (fatbin_read()). False, with out->error set, when the file is
 * broken, or there is none: the sentence then says what to do. Free with device_code_free() in any case. */
bool elf_device_code(const void *data, size_t len, uint32_t target, struct device_code *out);

/* How a program would find its CUDA runtime. */
enum elf_runtime {
    ELF_RUNTIME_NONE,     /* it calls none, as far as can be seen: it may use the driver */
    ELF_RUNTIME_DYNAMIC,  /* libcudart.so */
    ELF_RUNTIME_STATIC,   /* linked into it; its functions are in the table of symbols */
    ELF_RUNTIME_STRIPPED, /* linked into it, and the table of symbols is gone */
};
enum elf_runtime elf_runtime(const void *data, size_t len);
/* Whether it is an object file, which the linker has yet to make a program of. */
bool elf_is_object(const void *data, size_t len);
/* Whether it is a program that needs no dynamic linker, so that no library can be put before it. */
bool elf_is_static(const void *data, size_t len);
#endif
