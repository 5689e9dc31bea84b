#ifndef PTX_TREE_H
#define PTX_TREE_H
/* The syntax tree of a PTX module: the text as written, with locations, without its meaning. Every node is allocated in
 * the module's arena. Lists are singly linked, in source order. */
#include "arena.h"
#include "diag.h"

/* An interned word. Equal words share one pointer. Ids are dense from 0, so later stages index arrays with them. An
 * identifier includes its dotted suffix: "%tid.x", "add.sat.s32". */
struct word {
    const char *text;
    uint32_t len, id;
};

enum operand_kind {
    OPD_NAME,   /* %r1, a label, a variable, %tid.x or WARP_SZ */
    OPD_INT,    /* 12, -3, 0x1fU, or the value of a constant expression */
    OPD_FLOAT,  /* 0f3F800000 (32 bits), 0d..., 1.5 (64 bits) */
    OPD_SINK,   /* _ */
    OPD_NOT,    /* !%p      sub */
    OPD_NEG,    /* -%r      sub */
    OPD_PAIR,   /* %p|%q    sub, sub->next */
    OPD_VECTOR, /* {a, b} fields: `sub` (list), `n` */
    OPD_PARENS, /* (a, b) fields: `sub` (list), `n`; arguments and results of a call */
    /* [base+offset], [tex, samp, {coords}]; fields: `sub` (list), `n`, and `integer`, the offset of the first
     * element */
    OPD_ADDRESS,
    OPD_SUM,   /* symbol+12 outside brackets; fields: `sub`, `integer` */
    OPD_INDEX, /* array[3], array[%r1], array[%r1+4]: `sub` is the array's name, and `sub->next` is the index */
};

struct operand { /* the fields are ordered such that the struct fills one cache line */
    enum operand_kind kind;
    struct loc loc;
    int n;                   /* OPD_VECTOR, OPD_PARENS, OPD_ADDRESS: number of elements of `sub` */
    const struct word *name; /* OPD_NAME */
    uint64_t integer; /* OPD_INT: the value, sign-extended to 64 bits; OPD_ADDRESS, OPD_SUM: the offset in bytes */
    uint64_t real;    /* OPD_FLOAT: the bits */
    struct operand *sub;
    struct operand *next;
    int real_bits;    /* OPD_FLOAT: 32 or 64 */
    bool is_unsigned; /* OPD_INT: written with U, or too large for a signed 64-bit number */
};

/* A dotted word: a type, a space, a modifier or a directive. `text` includes the dot. */
struct suffix {
    const struct word *word;
    struct loc loc;
    struct suffix *next;
};

/* An initialiser: a scalar expression, a symbol address with offset, or a list. */
struct init {
    enum { INIT_VALUE, INIT_LIST } kind;
    struct operand *value; /* for INIT_VALUE: an operand of kind OPD_INT, OPD_FLOAT, OPD_NAME or OPD_SUM */
    struct init *list;     /* INIT_LIST */
    const struct word *address_operator; /* name of the operator, such as "generic" in generic(x); NULL: none */
    uint64_t mask; /* mask of the selected bits of the address, as in 0xFF00(x) and 0xFF00(generic(x)); 0: all bits */
    const struct word *field; /* name left of '=', as in addr_mode_0 = wrap; NULL: none */
    struct loc loc;
    struct init *next;
};

/* A declared variable, register or parameter. `.reg .b32 %r<5>` is one variable with range 5; `.param .b32 p<2>` is the
 * two variables p0 and p1. */
struct variable {
    struct loc loc;            /* of the name */
    const struct word *name;   /* NULL for the unnamed result or parameter of a prototype: `_` */
    const struct word *space;  /* ".reg", ".param", ".global", ".shared", ".local", ".const", ".tex", ".sreg" */
    const struct word *type;   /* ".u32", ".b8", ".texref"...; NULL when missing (reported by the parser) */
    const struct word *vector; /* ".v2" or ".v4", NULL for a scalar */
    /* ".extern", ".visible", ".weak", ".common", NULL for none; of a parameter: ".hidden" or NULL */
    const struct word *linkage;
    uint32_t range; /* n of a declaration of registers such as %r<n>; 0: a single name */
    uint64_t align; /* bytes; 0 when not given */
    bool is_array;
    uint64_t dims[8]; /* elements per dimension; 0 for an unsized first dimension */
    int n_dims;
    const struct word *ptr_space; /* space of a pointer parameter: ".global" in .param .u64 .ptr .global; NULL: none */
    uint64_t ptr_align;
    bool is_ptr;
    const struct word *attribute; /* .attribute(.managed): the text in parentheses, NULL for none */
    struct init *init;            /* NULL for none */
    struct variable *next;
};

/* A directive of a function such as .maxntid 256,1,1. Lists keep the written order. */
struct attribute {
    const struct word *name;
    struct loc loc;
    struct operand *values;
    int n;
    struct attribute *next;
};

enum statement_kind {
    ST_VARIABLE, /* declarations, module or function scope */
    ST_INSTRUCTION,
    ST_LABEL,
    ST_BLOCK,     /* { ... } */
    ST_PROTOTYPE, /* label: .callprototype ... */
    ST_TARGETS,   /* label: .branchtargets a, b;  label: .calltargets f, g; */
    ST_LOC,       /* .loc file line column [, function_name ...] */
    ST_FILE,      /* .file index "name" [, time, size] */
    ST_SECTION,   /* .section .debug_x { ... }: kept as text, not interpreted */
    ST_PRAGMA,    /* .pragma "nounroll"; */
    ST_FUNCTION,  /* module scope only */
    ST_ALIAS,     /* .alias a, b; */
    ST_DIRECTIVE, /* any other known directive; it has no effect and is kept for ptx_print() */
};

struct function {
    const struct word *name;
    struct loc name_loc;
    bool is_entry, is_prototype; /* is_prototype: the function belongs to an ST_PROTOTYPE, and its name is NULL */
    const struct word *linkage;
    struct variable *results; /* result parameters, as in .func (.param .b32 r) name */
    struct variable *params;
    struct attribute *attributes; /* .maxntid, .minnctapersm, .noreturn, ... */
    bool has_body;
    struct statement *body;
    struct loc end; /* the closing brace */
    /* The body with its braces and the number of its instructions, until ptx_need_body() makes the tree; else 0. */
    struct loc skipped;
    uint32_t skipped_instructions;
};

struct statement {
    enum statement_kind kind;
    struct loc loc;
    struct statement *next;
    union {
        struct variable *variable; /* a list: one statement may declare several */
        struct {
            const struct word *guard; /* predicate register, NULL for none */
            struct loc guard_loc;
            bool guard_not;
            const struct word *opcode; /* with its suffixes: "ld.global.v4.f32" */
            struct loc opcode_loc;
            struct operand *operands;
            int n_operands;
        } insn;
        struct {
            const struct word *name;
        } label;
        struct {
            struct statement *body;
        } block;
        struct {
            const struct word *label;
            struct function *proto; /* ST_PROTOTYPE */
            struct operand *names;  /* ST_TARGETS: OPD_NAME list */
            bool is_call;           /* ST_TARGETS: .calltargets */
        } proto;
        struct {
            uint32_t file, line, column;
            struct suffix *rest; /* attributes function_name and inlined_at of .loc, kept for the printer */
            const char *tail;    /* the source text after the column, NULL for none */
        } at;
        struct {
            uint32_t index;
            const char *name;
            const char *tail;
        } file;
        struct {
            const char *text; /* pragma string, section or directive text as written */
        } raw;
        struct function *function;
        struct {
            const struct word *alias, *aliasee;
        } alias;
    };
};

struct module {
    struct arena *arena; /* owns the module and all its nodes */
    int version_major, version_minor;
    struct suffix *targets; /* words of .target in order, such as sm_75, texmode_independent and debug */
    int address_size;       /* address size in bits, 32 or 64; 0 if the text does not state it */
    struct statement *statements;
    uint32_t n_words;      /* word ids are less than this */
    struct loc warp_sz;    /* a WARP_SZ that became part of a constant; `end` is 0 if there is none */
    struct diags *diags;   /* collects errors about this module; holds the text and the file name */
    struct parser *parser; /* parses skipped bodies */
};

/* Maximum length of a PTX text in bytes, about a hundred times the length of the largest real texts. */
enum { PTX_LONGEST = 256 << 20 };

/* Parses the PTX text in `diags` and reports errors there. Returns NULL only if out of memory, which is reported too.
 * The result may be used only if diags->errors is 0; free it with ptx_free(). Source: PTX ISA 9.0, sections 4 (syntax),
 * 5 (state spaces, types), 7 (ABI), 11 (directives). */
struct module *ptx_parse(struct diags *diags);
/* Does the same, but may skip bodies of kernels that have no error and no variable in device memory. Most kernels of a
 * module are never launched, and a tree takes ten times as long as finding the end of a body. */
struct module *ptx_parse_heads(struct diags *diags);
/* Parses the body of a kernel if ptx_parse_heads() has skipped it. New words get ids from m->n_words on, which grows.
 * Returns false, with a message in m->diags, if out of memory. One thread at a time may call this function. */
bool ptx_need_body(const struct module *m, struct function *f);
/* Frees a module and its tree. NULL is allowed. */
void ptx_free(struct module *m);

/* Prints the tree as PTX text. Parsing that text gives an equal tree; comments are lost. */
void ptx_print(const struct module *m, FILE *out);

/* Returns true if both trees are equal apart from locations. Tests of the printer use it. */
bool ptx_equal(const struct module *a, const struct module *b);

/* Returns the function (or the entry, if `entry`) called `name`, or NULL if there is none. If the module has both a
 * declaration and a definition, returns the definition. */
struct function *ptx_function(const struct module *m, const char *name, bool entry);
/* Returns the n-th entry that has a body, counted from 0, or NULL if there are fewer. */
struct function *ptx_entry(const struct module *m, int n);
#endif
