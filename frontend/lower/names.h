#ifndef FRONTEND_NAMES_H
#define FRONTEND_NAMES_H
/* What words mean where. Words have dense numbers, so the innermost meaning of each is one array element; leaving a
 * scope restores what it shadowed. Registers of a parameterised declaration (%r<100>) come into being when they are
 * first named, so a declaration costs nothing however large it is. */
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

/* Where a variable lives: what its address is relative to. */
enum home {
    HOME_NONE,    /* its declaration was refused, as a message says */
    HOME_DEVICE,  /* image variable `index` */
    HOME_SHARED,  /* `offset` in the CTA's shared memory */
    HOME_DYNAMIC, /* the dynamic part of it */
    HOME_FRAME,   /* `offset` in the function's frame */
    HOME_THREAD,  /* `offset` in the thread's local memory */
    HOME_PARAM,   /* `offset` in the kernel's parameters */
};

struct symbol {
    uint8_t kind;   /* enum symbol_kind */
    uint8_t type;   /* enum type, of a register or of a variable's element */
    uint8_t home;   /* enum home */
    uint8_t n;      /* SYM_VECTOR: components */
    uint8_t space;  /* enum space, SYM_VARIABLE */
    bool placed;    /* SYM_VARIABLE of home SHARED or THREAD: has an offset */
    uint32_t level; /* of the scope that it belongs to */
    const struct word *word;
    struct loc loc; /* of its declaration */
    uint32_t index; /* register: virtual register (component i of a vector: index + i); label: label number;
                       function: id in the image; device variable: in the image; special: enum special */
    uint64_t offset, bytes, align;
    const struct variable *variable;   /* SYM_VARIABLE */
    const struct function *function;   /* SYM_FUNCTION, SYM_PROTOTYPE */
    const struct statement *statement; /* SYM_TARGETS, SYM_LABEL */
    struct symbol *outer;              /* what the word means outside the scope */
    struct symbol *next;               /* in the same scope */
};

/* Declarations that name more than one register: ranges, and components of vectors. */
struct reg_family {
    const struct variable *variable;
    enum type type;
    uint32_t level;
    uint8_t n;                /* components, 1 for scalars */
    struct made **made;       /* members of a range of vectors that exist, by number */
    struct reg_family *next;  /* in the same bucket */
    struct reg_family *older; /* declared before it, in the same or an outer scope */
    uint32_t hash;
};

/* Makes `n` consecutive registers of this type for a declaration; returns the first. */
typedef uint32_t make_regs_fn(void *ctx, const struct variable *v, enum type type, unsigned n, const char *name,
                              uint32_t name_len);

struct names {
    struct arena *arena;
    struct symbol **of_word; /* by word id */
    uint32_t n_words;
    uint32_t n_private;         /* words that names_word() made: their ids follow those of the module */
    const struct names *module; /* module scope, read only; NULL in itself */
    struct symbol **levels;     /* symbols of each open scope */
    uint32_t depth, cap;
    struct reg_family *families; /* the newest */
    struct reg_family **buckets; /* by prefix; names_init gives 256 */
    uint32_t family_level;       /* of the innermost scope with a family */
    make_regs_fn *make_regs;
    void *ctx;
};

void names_init(struct names *n, struct arena *a, uint32_t n_words, const struct names *module);
void names_push(struct names *n);
void names_pop(struct names *n);
/* Declares `word` in the innermost scope. When it is declared there already, reports that and returns NULL. */
struct symbol *names_declare(struct names *n, struct diags *d, enum symbol_kind kind, const struct word *word,
                             struct loc loc);
/* Declares the registers of one .reg variable. */
void names_declare_regs(struct names *n, struct diags *d, const struct variable *v, enum type type);
/* What `word` means here; NULL when nothing. */
struct symbol *names_find(struct names *n, const struct word *word);
/* The word spelled by the first `len` bytes of `text`, when that is a register here; NULL otherwise. Slow: for the few
 * operands whose registers have a selector behind them. */
const struct word *names_word(struct names *n, const char *text, uint32_t len);
/* Component `i` (0 to 3: x y z w) of a special register that is a vector and stands whole, as in mov.v4.u32 v, %tid;
 * NULL when `word` is none. */
const struct word *names_special_component(struct names *n, const struct word *word, unsigned i);
/* The visible name nearest to `word`, for "did you mean"; NULL when none is near. `kinds` is a set of bits
 * 1 << symbol_kind. */
const char *names_suggest(const struct names *n, const char *word, unsigned kinds);
/* The family that would hold `word` if it were larger: for "the declaration is %r<10>". NULL when none. */
const struct reg_family *names_near_family(const struct names *n, const struct word *word);
/* "a register", "a label" ... */
const char *symbol_what(const struct symbol *s);
#endif
