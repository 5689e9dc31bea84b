#ifndef PTX_PARSE_H
#define PTX_PARSE_H
/* Declarations shared by the scanner, the grammar, constant folding and word interning. Private to ptx/. */
#include "ptx/tree.h"

enum {
    MAX_SCOPES = 1000, /* maximum depth of nested { } blocks */
    MAX_NESTING = 256, /* maximum depth of nested ( [ { in one statement */
    /* number of entries of the parser's stack. The stack is a fixed array, because memory of a growing stack would
     * leak when the parser is left by a jump */
    MAX_STACK = 6 << 10
};

/* An interned word and its token. The tree points to `word`, the first member. */
struct entry {
    struct word word;
    int token;
};

/* Hash table of words with open addressing. The number of slots is a power of two; at most half are full. */
struct words {
    struct slot {
        uint32_t hash;
        struct entry *entry;
    } * slots;
    uint32_t n_slots, n;
};

/* Lists under construction. */
struct operands {
    struct operand *first, *last;
};
struct statements {
    struct statement *first, *last;
};
struct variables {
    struct variable *first, *last;
};
struct inits {
    struct init *first, *last;
};
struct attributes {
    struct attribute *first, *last;
};

/* Semantic values of tokens and rules. */
union ptx_value {
    const struct word *word;
    const char *text;
    struct operand *operand;
    struct variable *variable;
    struct init *init;
    struct attribute *attribute;
    struct statement *statement;
    struct operands operands;
    struct statements statements;
    struct variables variables;
    struct inits inits;
    struct attributes attributes;
};

struct parser {
    struct arena *arena;
    struct diags *diags;
    struct module *module;
    struct words words;
    struct suffix *last_target;
    struct variable decl; /* specifiers of the current declaration; each declared name gets a copy */
    bool decl_bad;        /* an error in the declaration's type was reported */
    bool parens;          /* the current instruction has a parenthesis */
    const struct word *warp_sz;
    /* bodies of kernels that the parser skips */
    bool skips_bodies, is_entry;   /* is_entry: the latest head of a function is a kernel's */
    uint32_t skipped_instructions; /* in the latest skipped body */
    struct loc skipped;            /* the latest skipped body with its braces; end 0: the latest body is not skipped */
    struct statement *body;        /* result of parsing one body */
    bool begins_body;              /* the next token is BODY */
    /* scanner */
    void *scanner;
    size_t len;     /* bytes of text, without trailing zeros */
    uint32_t at;    /* offset of the next byte to scan */
    uint32_t began; /* offset where the current section or comment begins */
    uint32_t braces_in_section;
    /* between scanner and grammar */
    struct loc before, current;   /* locations of the last two tokens */
    int last, last_but_one;       /* the last two tokens */
    uint32_t braces, parens_open; /* open brackets in the current statement; braces of blocks are not counted */
    bool closes_block;            /* the last token is a } that closes a block; false for a vector or list */
    bool stop;                    /* parsing must stop: from now on, the filter returns the end-of-text token */
    /* recovery after an error */
    bool recover;     /* after an error: the filter must skip to the end of the statement or declaration */
    bool recover_now; /* the last token has already ended the erroneous statement */
    bool resume;      /* the unexpected token begins the next statement; the previous statement only lacks its end */
    uint32_t skipped_braces; /* number of open { in skipped text, without the { of vectors */
    int replay;              /* a token that the filter must return again; 0: none */
    struct loc replay_loc;
    uint32_t braces_to_insert;            /* number of } to insert before the next token */
    uint32_t depth;                       /* number of open blocks */
    uint32_t open_braces[MAX_SCOPES + 1]; /* byte offset of the { of each open block */
};

/* scan.l: the scanner. scan_start() begins at ps->at and returns false if memory is out. scan_token() returns the next
 * token. */
bool scan_start(struct parser *ps, size_t len);
/* Continues at the offset `to`, behind the current token. */
void scan_skip(struct parser *ps, uint32_t to);
int scan_token(union ptx_value *value, struct loc *loc, void *scanner);

/* token.c: filters tokens between scanner and grammar. Returns the next token or, after an error, the token at which
 * parsing resumes. */
int token_next(struct parser *ps, union ptx_value *value, struct loc *loc);
/* Determines at which token parsing resumes after the error at token `found`. */
void token_recover(struct parser *ps, int found);

/* skim.c: returns the offset of the } that ends the body of a kernel, and the number of its instructions. `from` is the
 * offset behind its {. Returns 0 unless the body certainly has no error and no variable in device memory. */
uint32_t skim_body(struct parser *ps, uint32_t from, uint32_t *instructions);

/* expect.c: reports that `found` appeared where other tokens were expected. `expected` is indexed by token code. */
enum { N_TOKENS = 320 };
void expect_report(struct parser *ps, int found, const bool expected[N_TOKENS]);

/* word.c: interns words. words_intern() returns the entry of the word of `len` bytes at `text`. It creates the entry if
 * the word is new. */
void words_init(struct parser *ps);
const struct entry *words_intern(struct parser *ps, const char *text, size_t len);
/* Fills `out` with at most `cap` known directives whose tokens are in `tokens`. Returns their number. */
int words_known(const int *tokens, int n_tokens, const char **out, int cap);

/* number.c: makes operands from literals. number_bad() reports the text at `loc` as a malformed number. The other
 * functions report errors and then return 0. */
struct operand *number_integer(struct parser *ps, struct loc loc);
struct operand *number_hex_float(struct parser *ps, struct loc loc);
struct operand *number_decimal_float(struct parser *ps, struct loc loc);
void number_bad(struct parser *ps, struct loc loc);

/* operand.c: returns a new operand, allocated in the arena. */
struct operand *build_operand(struct parser *ps, enum operand_kind kind, struct loc loc);
/* Returns `o` as a constant (WARP_SZ and constants in parentheses included), or NULL if it is not a constant. */
struct operand *fold_constant(struct parser *ps, struct operand *o);

/* fold.c: applies operators to operands. Operators on constants are folded. The only operators that names may have are
 * those in -%r, !%p, %p|%q and symbol+12. */
struct operand *fold_unary(struct parser *ps, struct loc loc, int op, struct operand *a);
struct operand *fold_binary(struct parser *ps, struct loc loc, int op, struct operand *a, struct operand *b);
struct operand *fold_select(struct parser *ps, struct loc loc, struct operand *c, struct operand *a, struct operand *b);
struct operand *fold_cast(struct parser *ps, struct loc loc, const struct word *type, struct operand *a);

/* build.c: builds tree nodes from the values of a grammar rule. */
struct operand *build_name(struct parser *ps, struct loc loc, const struct word *name);
struct operand *build_group(struct parser *ps, enum operand_kind kind, struct loc loc, struct operands list);
struct operand *build_address(struct parser *ps, struct loc loc, struct operands list);
struct operand *build_index(struct parser *ps, struct loc loc, struct operand *name, struct operand *index);
struct statement *build_statement(struct parser *ps, enum statement_kind kind, struct loc loc);
struct statement *build_raw(struct parser *ps, enum statement_kind kind, struct loc loc);
struct statement *build_instruction(struct parser *ps, struct loc loc, const struct word *opcode, struct loc opcode_loc,
                                    struct operands operands);
struct statements build_pragmas(struct parser *ps, struct loc loc, struct operands strings);
struct statement *build_loc(struct parser *ps, struct loc loc, struct operand *const n[3], struct loc tail);
struct statement *build_file(struct parser *ps, struct loc loc, struct operand *index, const char *name,
                             struct loc tail);
struct statement *build_function(struct parser *ps, enum statement_kind kind, struct loc loc, const struct function *f);
const struct word *build_joined(struct parser *ps, const struct word *a, const struct word *b);
struct statement *build_targets(struct parser *ps, struct loc loc, const struct word *label, struct operands names,
                                bool is_call);
struct init *build_init(struct parser *ps, int kind, struct loc loc);
struct operand *build_value(struct parser *ps, struct operand *o);
void build_move(struct parser *ps, struct init *i, struct loc loc, uint64_t bytes);
void build_mask(struct parser *ps, struct init *i, struct loc loc, const struct operand *mask);
struct attribute *build_attribute(struct parser *ps, struct loc loc, const struct word *name, struct operands values);

/* declare.c: records the specifiers before a declared name, in any order. decl_begin() must be called before the first
 * specifier. */
void decl_begin(struct parser *ps);
void decl_space(struct parser *ps, struct loc loc, const struct word *space);
void decl_type(struct parser *ps, struct loc loc, const struct word *type);
void decl_align(struct parser *ps, const struct operand *bytes);
void decl_other(struct parser *ps, struct loc loc, const struct word *word);
struct variable *decl_name(struct parser *ps, struct loc loc, const struct word *name);
void decl_range(struct parser *ps, struct variable *v, const struct operand *range);
/* Replaces each variable of the list that is declared as name<n> by n variables, except registers. */
void decl_expand(struct parser *ps, struct variable *list);
void decl_dim(struct parser *ps, struct variable *v, struct loc loc, struct operand *elements);

/* declare.c: records the directives of the module's header. */
void header_version(struct parser *ps, struct loc loc, struct loc number);
void header_target(struct parser *ps, struct loc loc, const struct word *name);
void header_address_size(struct parser *ps, const struct operand *bits);

/* Returns a copy of the source text at `loc`, allocated in the arena. */
const char *source_text(struct parser *ps, struct loc loc);
#endif
