#ifndef CUDA_SYMBOLS_H
#define CUDA_SYMBOLS_H
/* Reads the functions of an ELF file by name, from .symtab, or from .dynsym if there is no .symtab. The file may be
 * of any ELF type. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct symbols {
    char path[4096];
    const unsigned char *file; /* mapped */
    size_t len;
    const void *table; /* Elf64_Sym */
    size_t n;
    const char *names;
    size_t names_len;
    bool device_code; /* true if the file has a section of device code */
    /* address range of the functions with names that only a statically linked runtime has; 0 if there are none */
    uint64_t runtime_first, runtime_end;
    uint64_t *starts; /* addresses of all functions, in order */
    size_t n_starts;
};

struct symbol {
    const char *name;
    uint64_t address; /* from the object's base */
    uint64_t room;    /* number of bytes up to the next function, which a jump may overwrite */
    bool hidden;
};

/* Returns false if the file is not an ELF file of this machine, or has no symbols. Call symbols_close() in either
 * case. */
bool symbols_open(struct symbols *s, const char *path);
void symbols_close(struct symbols *s);
/* Returns the next function that the file defines, from *i on. *i starts at 0. */
bool symbols_next(const struct symbols *s, size_t *i, struct symbol *out);
/* Returns the address of a function or variable; 0 if the file has none of this name. */
uint64_t symbols_find(const struct symbols *s, const char *name);
/* Returns whether the symbol names contain these bytes. The test is faster than a search for a symbol, so callers do it
 * first. */
bool symbols_mention(const struct symbols *s, const char *bytes);
/* Returns whether a function belongs to libcudart_static.a and not to the program. */
bool symbols_is_runtime(const struct symbols *s, const struct symbol *f);
#endif
