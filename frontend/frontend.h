#ifndef FRONTEND_FRONTEND_H
#define FRONTEND_FRONTEND_H
/* From a syntax tree to programs that run. */
#include "isa/machine/texture.h"
#include "isa/program.h"
#include "ptx/tree.h"

/* A module variable that lives in device memory (.global, .const) or is a texture, sampler or surface reference. */
struct image_variable {
    const char *name;
    enum space space; /* SPACE_GLOBAL or SPACE_CONST; SPACE_TEX for references */
    uint64_t bytes, align;
    unsigned char *init;      /* `bytes` bytes; NULL: zero */
    bool is_extern;           /* declared elsewhere: an error only when a kernel uses it */
    bool managed;             /* .attribute(.managed): the host has it at the same address */
    uint64_t address;         /* set by the loader (host/module.c) before frontend_lower() */
    struct texture reference; /* SPACE_TEX: of which kind it is, and the sampler that its initialiser says */
    struct loc loc;
};

/* An address inside an initialiser: variable `var` at `offset` gets the address of `symbol` + addend. */
struct image_reloc {
    uint32_t var, offset, bytes;
    uint32_t shift;  /* bits the address is shifted right before its low `bytes` bytes are stored: 0xFF00(x) */
    uint32_t symbol; /* index into variables; UINT32_MAX: function `function_id` */
    uint32_t function_id;
    int64_t addend;
};

/* A module with its module-scope names resolved. */
struct image {
    const struct module *module;
    struct image_variable *variables;
    uint32_t n_variables;
    struct image_reloc *relocs;
    uint32_t n_relocs;
    const char **functions; /* id -> name of every .func and .entry: addresses are CODE_BASE + 16 * id */
    uint32_t n_functions;
    int address_size;    /* bits: 32 or 64 */
    struct scope *names; /* frontend's own */
    struct arena *arena;
};

/* Resolves the module's names and lays out its variables. Errors go to module->diags; NULL then. */
struct image *frontend_image(const struct module *m);
void frontend_image_free(struct image *img);

/* What passes know of the machine that a program is made for: the same kernel may become another program under another
 * model or other options, so a program belongs to both. */
struct pass_context {
    const char *model;             /* the base's name, for those who read; NULL: none in particular */
    bool barriers;                 /* paths join by BSSY, BSYNC and BREAK (models with RECONV_BARRIERS) */
    const char *const *extensions; /* names of the model's extensions, up to a NULL; NULL: it has none */
    /* The value of an option as a number: true is 1, a choice its place among the choices. False: no such option. */
    bool (*option)(const void *config, const char *key, double *value);
    const void *config;
};
/* Does the model have this extension? */
bool pass_extension(const struct pass_context *c, const char *name);
/* The value of option `key`; `otherwise` where there is no configuration. */
double pass_option(const struct pass_context *c, const char *key, double otherwise);

struct pass;
struct lower_options {
    struct pass_context context;
    const struct pass *passes; /* in place of the table in pass.c; NULL: that one */
    const char *dump_after;    /* pass name: print what it made, and its notes, to dump_to; NULL: nothing */
    FILE *dump_to;
};

/* Lowers one kernel (or, to look at it, one function) and every function it can reach, and runs the passes of pass.c
 * over it. Errors go to module->diags; NULL then. The program copies what it needs: the module may be freed first.
 * Thread-safe for different diags. */
struct program *frontend_lower(const struct image *img, const char *kernel, const struct lower_options *opt);

/* The passes of a table (NULL: that of pass.c) in order, for `heddle inspect --pass` and `heddle list`. NULL after the
 * last. */
const char *frontend_pass_name(const struct pass *table, int n);
const char *frontend_pass_help(const struct pass *table, int n);
#endif
