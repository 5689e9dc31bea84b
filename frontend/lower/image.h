#ifndef FRONTEND_IMAGE_H
#define FRONTEND_IMAGE_H
/* Module data shared by the parts of the front end. Private to frontend/. */
#include "frontend/frontend.h"
#include "isa/decode.h"
#include "names.h"
#include "target.h"

/* A device-memory variable declared inside a function. */
struct inner_variable {
    const struct variable *tree;
    uint32_t index; /* into image.variables */
};

struct opcode {
    struct decoded decoded;
    bool lacks; /* the module lacks a target or a version that the opcode needs */
    struct target_need need;
};

struct scope {
    struct names names; /* symbols of module scope */
    /* word id -> opcode, decoded at its first use; NULL if the word is not an opcode or is not in use */
    const struct opcode **opcodes;
    uint32_t cap_opcodes;
    struct target_unmet unmet;    /* rules that the module's .target and .version do not fulfil */
    struct function **by_id;      /* function id -> its definition, or a declaration if there is none */
    uint32_t *place;              /* function id -> number of instructions in the text before its body */
    uint32_t n_instructions;      /* instructions counted so far */
    struct inner_variable *inner; /* sorted by tree */
    uint32_t n_inner, cap_inner;
    uint32_t *lines, n_lines;       /* byte offset of each line of the text */
    uint32_t *by_name;              /* function ids sorted by name */
    const struct statement **files; /* .file statements, by number */
    uint32_t n_files;
    uint32_t cap_variables, cap_relocs, cap_functions;
};

/* diags_fork() starts the empty list `own` for the same text as `to`, so that errors already in `to` do not hide new
 * ones. diags_merge() moves the messages of `own` to `to` and frees `own`. */
void diags_fork(struct diags *own, const struct diags *to);
void diags_merge(struct diags *own, struct diags *to);

/* declaration.c: returns the declared type of `v`. Reports an error and returns T_NONE if variables and registers
 * cannot have this type. */
enum type declared_type(struct diags *d, const struct variable *v);
/* Computes the size of a variable in bytes, all elements. Reports an error and returns false if it exceeds `limit`. An
 * unsized first dimension counts as 0 elements. */
bool variable_bytes(struct diags *d, const struct variable *v, enum type t, uint64_t limit, uint64_t *bytes);
/* Computes the alignment of a variable in bytes: the declared alignment, else the alignment of its element or vector.
 * Reports an error and returns false if the alignment is not a power of two up to `limit`. */
bool variable_align(struct diags *d, const struct variable *v, enum type t, uint64_t limit, uint64_t *align);
/* Limits of alignments. MAX_ALIGN: shared memory, global memory, constants and alloca. MAX_THREAD_ALIGN: variables in
 * local memory, and parameters. */
enum { MAX_ALIGN = 1 << 23, MAX_THREAD_ALIGN = 1024 };
/* Returns true for an array whose first dimension has no size. */
bool is_unsized(const struct variable *v);
/* Converts the name of a state space, such as ".global"; SPACE_GENERIC for any other text. */
enum space space_named(const char *text);
/* Returns true for a variable of type .texref, .samplerref or .surfref. */
bool is_opaque(const struct variable *v);

/* Returns the size of an address in bits, 32 or 64 (address_size.c). If the module declares no size, the function
 * returns the size that the module's accesses use, or 32 without such accesses. */
int address_size(const struct module *m);
/* initializer.c: fills the bytes of variable `index` of the image from the initialiser of `v`. */
void image_initialize(struct image *img, const struct variable *v, enum type t, uint32_t index);
/* reference.c: sets the initial state of a .texref, .samplerref or .surfref, before the host binds it. */
void image_reference(struct image *img, const struct variable *v, struct texture *out);
/* Returns the number of elements that the initialiser gives an unsized first dimension. */
uint64_t initializer_count(const struct variable *v);
/* Returns the kernel or function `name` and its id: the definition, or a declaration if there is no definition. Returns
 * NULL for an unknown name. */
const struct function *image_function(const struct image *img, const char *name, uint32_t *id);
/* Decodes the opcode at its first use. Returns NULL if there is no such instruction. The image's arena must handle the
 * end of memory. */
const struct opcode *image_opcode(const struct image *img, const struct word *word);
/* Makes sure that the tree has the body of the kernel. Returns false, with a message, if out of memory. */
bool image_need_body(const struct image *img, const char *kernel);
/* Returns the index of the image variable declared by `v` inside a function. */
uint32_t image_inner(const struct image *img, const struct variable *v);
#endif
