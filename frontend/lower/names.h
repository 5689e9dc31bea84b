#ifndef FRONTEND_NAMES_H
#define FRONTEND_NAMES_H
/* Symbol tables with scopes. Words have dense ids, so the innermost symbol of each word is one array element; leaving a
 * scope restores the outer symbols. A register of a parameterised declaration (%r<100>) is created at its first use, so
 * a large declaration takes no more time or memory than a small one. */
#include "isa/program.h"
#include "ptx/tree.h"

enum symbol_kind {
    SYM_REG,    /* one register */
    SYM_VECTOR, /* a whole vector register */
    SYM_VARIABLE,
    SYM_LABEL,
    SYM_FUNCTION,
    SYM_PROTOTYPE,
    SYM_TARGETS, /* .branchtargets, .calltargets */
    SYM_SPECIAL, /* special register */
};

/* The memory area of a variable; its address is an offset in this area. */
enum home {
    HOME_NONE,    /* none: its declaration was rejected with an error */
    HOME_DEVICE,  /* image variable `index` */
    HOME_SHARED,  /* `offset` in the CTA's shared memory */
    HOME_DYNAMIC, /* the CTA's dynamic shared memory */
    HOME_FRAME,   /* `offset` in the function's frame */
    HOME_THREAD,  /* `offset` in the thread's local memory */
    HOME_PARAM,   /* `offset` in the kernel's parameters */
};

struct symbol {
    uint8_t kind;   /* enum symbol_kind */
    uint8_t type;   /* enum type of a register or of a variable's element */
    uint8_t home;   /* enum home */
    uint8_t n;      /* SYM_VECTOR: components */
    uint8_t space;  /* enum space, SYM_VARIABLE */
    bool placed;    /* SYM_VARIABLE in HOME_SHARED or HOME_THREAD: true once it has an offset */
    uint32_t level; /* level of its scope */
    const struct word *word;
    struct loc loc; /* location of its declaration */
    uint32_t index; /* register: virtual register (component i of a vector: index + i); label: label number; function:
                     * id in the image; device variable: index in the image; special: enum special */
    uint64_t offset, bytes, align;
    const struct variable *variable;   /* SYM_VARIABLE */
    const struct function *function;   /* SYM_FUNCTION, SYM_PROTOTYPE */
    const struct statement *statement; /* SYM_TARGETS, SYM_LABEL */
    struct symbol *outer;              /* symbol that the word has in the outer scopes */
    struct symbol *next;               /* next symbol of the same scope */
};

/* A declaration of several registers: a range, or the components of a vector. */
struct reg_family {
    const struct variable *variable;
    enum type type;
    uint32_t level;
    uint8_t n;                       /* number of components, 1 for scalars */
    struct created_member **members; /* created members of a range of vectors, hashed by number */
    struct reg_family *next;         /* next family in the same bucket of `buckets` */
    /* next element of the list `families`: the previous declaration, in the same or an outer scope */
    struct reg_family *older;
    uint32_t hash;
};

/* Creates `n` consecutive registers for a declaration and returns the first. */
typedef uint32_t make_regs_fn(void *ctx, const struct variable *v, enum type type, unsigned n, const char *name,
                              uint32_t name_len);

struct names {
    struct arena *arena;
    struct symbol **of_word; /* word id -> innermost symbol */
    uint32_t n_words;
    uint32_t n_private;         /* number of words made by names_word(); their ids follow those of the module */
    uint32_t cap_words;         /* length of of_word */
    const struct names *module; /* module scope, read only; NULL in the module's own table */
    struct symbol **levels;     /* symbols of each open scope */
    uint32_t depth, cap;
    struct reg_family *families; /* list of all families, newest first */
    struct reg_family **buckets; /* families hashed by prefix, 256 buckets */
    uint32_t family_level;       /* level of the innermost scope that declares a family of registers */
    make_regs_fn *make_regs;
    void *ctx;
};

/* Starts a table for words with ids below `n_words`, inside module scope (NULL: the new table is module scope). */
void names_init(struct names *n, struct arena *a, uint32_t n_words, const struct names *module);
/* Enter and leave a scope. */
void names_push(struct names *n);
void names_pop(struct names *n);
/* Declares `word` in the innermost scope. Reports an error and returns NULL if it is already declared there. */
struct symbol *names_declare(struct names *n, struct diags *d, enum symbol_kind kind, const struct word *word,
                             struct loc loc);
/* Declares the registers of one .reg variable. Reports an error if the name is already declared in this scope. */
void names_declare_regs(struct names *n, struct diags *d, const struct variable *v, enum type type);
/* Returns the symbol that `word` has in the innermost scope, or NULL. The function may create the symbol: special
 * registers, and registers declared as a range (%r<9>), get a symbol at their first use. */
struct symbol *names_find(struct names *n, const struct word *word);
/* Returns the word of the first `len` bytes of `text` if it names a register in the innermost scope, else NULL. The
 * function is slow, and meant for the few operands with a selector after the register. */
const struct word *names_word(struct names *n, const char *text, uint32_t len);
/* Returns component `i` (0 to 3: x y z w) of a special vector register used whole, as in mov.v4.u32 v, %tid. Returns
 * NULL if `word` is not such a register. */
const struct word *names_special_component(struct names *n, const struct word *word, unsigned i);
/* Returns the visible name nearest to `word` for a "did you mean" message, or NULL. `kinds` is a set of bits 1 <<
 * symbol_kind. */
const char *names_suggest(const struct names *n, const char *word, unsigned kinds);
/* Returns the family that would contain `word` if its range were larger, or NULL. Used to say "the declaration is
 * %r<10>". */
const struct reg_family *names_near_family(const struct names *n, const struct word *word);
/* Returns "a register", "a label" and so on, for messages. */
const char *symbol_kind_name(const struct symbol *s);
#endif
