#ifndef FRONTEND_IMAGE_H
#define FRONTEND_IMAGE_H
/* What the parts of the front end share about a module. Internal to frontend/. */
#include "frontend/frontend.h"
#include "isa/decode.h"
#include "names.h"

/* A variable of device memory that is declared inside a function. */
struct inner_variable {
    const struct variable *tree;
    uint32_t index; /* into image.variables */
};

struct scope {
    struct names names;             /* module scope */
    const struct decoded **decoded; /* by word id: opcodes of all functions; NULL for what is none */
    struct function **by_id;        /* function id -> the declaration with a body if there is one */
    uint32_t *place;                /* function id -> instructions of the text before its body */
    uint32_t n_instructions;        /* counted so far */
    struct inner_variable *inner;   /* sorted by tree */
    uint32_t n_inner, cap_inner;
    uint32_t *lines, n_lines;       /* offset of the first byte of each line of the text */
    uint32_t *by_name;              /* function ids sorted by name */
    const struct statement **files; /* .file, in order of their numbers */
    uint32_t n_files;
    uint32_t cap_variables, cap_relocs, cap_functions;
};

/* Errors are counted apart from those that `to` holds already, some of which may be the same: `own` starts empty and
 * shows the same text; diags_merge() hands its messages on and frees it. */
void diags_fork(struct diags *own, const struct diags *to);
void diags_merge(struct diags *own, struct diags *to);

/* A declared type as its enum, T_NONE (and an error) when it is none that variables and registers can have. */
enum type declared_type(struct diags *d, const struct variable *v);
/* Bytes of a variable, all elements; false (and an error) when that does not fit into `limit`. An unsized first
 * dimension counts as 0 elements. */
bool variable_bytes(struct diags *d, const struct variable *v, enum type t, uint64_t limit, uint64_t *bytes);
/* Its alignment: as declared, else that of its element or vector. False (and an error) when it is no power of two. */
bool variable_align(struct diags *d, const struct variable *v, enum type t, uint64_t *align);
bool is_unsized(const struct variable *v);
/* ".global" and so on; SPACE_GENERIC for what is no state space. */
enum space space_named(const char *text);
/* ".texref" and the like. */
bool is_opaque(const struct variable *v);

/* address_size.c: bits of an address, 32 or 64: what the module says, else what its accesses use, else 32. */
int address_size(const struct module *m);
/* initializer.c: fills the variable's bytes from its initialiser. `index` is its place in img->variables. */
void image_initialize(struct image *img, const struct variable *v, enum type t, uint32_t index);
/* reference.c: what a .texref, .samplerref or .surfref is before the host binds something to it. */
void image_reference(struct image *img, const struct variable *v, struct texture *out);
/* Elements that an unsized first dimension gets from the initialiser. */
uint64_t initializer_count(const struct variable *v);
/* The kernel or function of this name: the declaration with a body if there is one, and its id. NULL: none. */
const struct function *image_function(const struct image *img, const char *name, uint32_t *id);
/* The image variable of a declaration inside a function. */
uint32_t image_inner(const struct image *img, const struct variable *v);
#endif
