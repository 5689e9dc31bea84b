#ifndef FRONTEND_FRONTEND_H
#define FRONTEND_FRONTEND_H
/* The front end: translates a syntax tree to programs that run. */
#include "isa/machine/texture.h"
#include "isa/program.h"
#include "ptx/tree.h"

/* A module-scope variable in device memory (.global, .const), or a texture, sampler or surface reference. */
struct image_variable {
    const char *name;
    enum space space; /* SPACE_GLOBAL or SPACE_CONST; SPACE_TEX for a reference */
    uint64_t bytes, align;
    unsigned char *init;      /* initial value of `bytes` bytes; NULL if it is zero */
    bool is_extern;           /* the variable is defined in another module; its use by a kernel is an error */
    bool managed;             /* .attribute(.managed): the host uses the same address as the device */
    uint64_t address;         /* device address; host/module.c sets it before frontend_lower() */
    struct texture reference; /* valid for SPACE_TEX: the kind of reference and its sampler */
    struct loc loc;
};

/* An address in an initialiser: `bytes` bytes at `offset` of variable `var` get the address of `symbol` plus
 * `addend`. */
struct image_reloc {
    uint32_t var, offset, bytes;
    /* number of bits by which the address is shifted right before its low `bytes` bytes are stored; 8 for 0xFF00(x) */
    uint32_t shift;
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
    /* names of each .func and .entry, indexed by id; the address of a function is CODE_BASE + 16 * id */
    const char **functions;
    uint32_t n_functions;
    int address_size;    /* size of an address in bits: 32 or 64 */
    struct scope *names; /* all names of the module scope; private to the front end */
    struct arena *arena;
};

/* Resolves the module's names and lays out its variables. Returns NULL on errors, which go to module->diags. Free the
 * result with frontend_image_free(). */
struct image *frontend_image(const struct module *m);
/* Frees an image. NULL is allowed. */
void frontend_image_free(struct image *img);

struct config;
/* What the passes know about the target machine. A program depends on these facts: a kernel can be lowered to different
 * programs for different models or options. */
struct pass_context {
    const char *model;             /* name of the base model; NULL if no model was chosen */
    bool barriers;                 /* paths reconverge with BSSY, BSYNC and BREAK (models with RECONV_BARRIERS) */
    const char *const *facts;      /* facts about blocks that the model asks for, ended by NULL; NULL: none */
    const char *const *extensions; /* names of the model's extensions, ended by NULL; NULL if there are none */
    /* Stores the value of option `key` as a number: true is 1, a choice is its index. Returns false if there is no such
     * option. */
    bool (*option)(const void *config, const char *key, double *value);
    /* Returns the largest number of registers of a thread that keeps the occupancy of `registers`: as many CTAs of
     * `threads` threads and `shared` bytes of shared memory fit on an SM. The result is at least `registers`. NULL: the
     * pass `schedule` rounds `registers` up to the unit of allocation. */
    uint32_t (*most_registers)(const struct config *machine, uint32_t threads, uint32_t shared, uint32_t registers);
    const void *config;
    const struct config *machine; /* the configuration, for passes of mechanisms; NULL: there is none */
};
/* Returns true if the model has the extension `name`. */
bool pass_extension(const struct pass_context *c, const char *name);
/* Returns true if the model asks for this fact (reconv_ops.facts). */
bool pass_fact(const struct pass_context *c, const char *name);
/* Returns the value of option `key`, or `otherwise` if there is no configuration. */
double pass_option(const struct pass_context *c, const char *key, double otherwise);

struct pass;
struct lower_options {
    struct pass_context context;
    const struct pass *passes; /* the table of passes; NULL selects the table in pass.c */
    /* name of a pass; the program after this pass and the pass's notes are printed to dump_to. NULL: nothing is
     * printed */
    const char *dump_after;
    FILE *dump_to;
};

/* Lowers a kernel (or one function, for inspection) and every function it can reach, and runs the passes over them.
 * Returns NULL on errors, which go to module->diags. The program is a copy: the module may be freed before it.
 * One thread at a time may lower kernels of an image, because the first call for a kernel may parse its body. */
struct program *frontend_lower(const struct image *img, const char *kernel, const struct lower_options *opt);

/* Returns the name and description of pass `n`, counted from 0, of a table (NULL selects the table in pass.c). Returns
 * NULL after the last pass. `heddle inspect --pass` and `heddle list` print both. */
const char *frontend_pass_name(const struct pass *table, int n);
const char *frontend_pass_help(const struct pass *table, int n);
#endif
