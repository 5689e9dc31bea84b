#ifndef HOST_ELF_LOAD_H
#define HOST_ELF_LOAD_H
/* Finds device code in compiled files: host executables, shared and relocatable objects, archives (.a), containers
 * (.fatbin) and machine code (.cubin). Any bytes are accepted and checked. */
#include "fatbin.h"

/* Returns true if these are the first bytes of a file that may contain device code. */
bool elf_is_device_file(const void *data, size_t len);
/* Reads all PTX. From each container it takes the best version for `target` (fatbin_read()). Returns false if the
 * file is invalid or has no PTX; out->error then says what to do. Call device_code_free() in either case. */
bool elf_device_code(const void *data, size_t len, uint32_t target, struct device_code *out);

/* The way in which a program finds its CUDA runtime. */
enum elf_runtime {
    ELF_RUNTIME_NONE,     /* no visible call of the runtime; the program may use the driver interface */
    ELF_RUNTIME_DYNAMIC,  /* shared library libcudart.so */
    ELF_RUNTIME_STATIC,   /* runtime linked statically; its functions are in the symbol table */
    ELF_RUNTIME_STRIPPED, /* runtime linked statically, but the symbol table is stripped */
};
enum elf_runtime elf_runtime(const void *data, size_t len);
/* Returns true for an object file that is not linked yet. */
bool elf_is_object(const void *data, size_t len);
/* Returns true for a program without a dynamic linker, into which no library can be preloaded. */
bool elf_is_static(const void *data, size_t len);
#endif
