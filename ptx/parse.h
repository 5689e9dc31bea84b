#ifndef PTX_PARSE_H
#define PTX_PARSE_H
/* What scanner, grammar, folding and interning share while one text is parsed. Internal to ptx/. */
#include "ptx/tree.h"

enum {
    MAX_SCOPES = 1000,  /* nested { } blocks */
    MAX_NESTING = 256,  /* nested ( [ { in one statement */
    MAX_STACK = 6 << 10 /* of the grammar's stack; it never grows, so nothing is lost when memory runs out */
};

/* A word with the token it scans as; words of the tree point to the first member. */
struct entry {
    struct word word;
    int token;
};

/* Open addressing, a power of two of slots, at most half full. */
struct words {
    struct slot {
        uint32_t hash;
        struct entry *entry;
    } * slots;
    uint32_t n_slots, n;
};

/* Lists in the making. */
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
    struct variable decl; /* what stands before the names of the declaration at hand */
    bool decl_bad;        /* its type was reported as unknown */
    bool parens;          /* the instruction at hand has a parenthesis */
    const struct word *warp_sz;
    /* scanner */
    void *scanner;
    size_t len;     /* bytes of text, without zeros at its end */
    uint32_t at;    /* offset of the next byte to scan */
    uint32_t began; /* where the section or comment at hand begins */
    uint32_t braces_in_section;
    /* between scanner and grammar */
    struct loc before, current;   /* places of the last two tokens */
    int last, last_but_one;       /* the last tokens */
    uint32_t braces, parens_open; /* open in the statement at hand; blocks do not count */
    bool closes_block;            /* the last token is a } that closes no vector or list */
    bool stop;                    /* give up: behave as at the end of the text */
    /* recovery after an error */
    bool recover;     /* skip to the end of the statement or declaration */
    bool recover_now; /* it ended with the token just read */
    bool resume;      /* the token found is good, what is missing is the end of the statement before */
    uint32_t junk;    /* { that are skipped and are no vectors */
    int replay;       /* a token to be read again, 0 for none */
    struct loc replay_loc;
    uint32_t close;                  /* so many } are to be made up before */
    uint32_t depth;                  /* open blocks */
    uint32_t opened[MAX_SCOPES + 1]; /* offsets of their { */
};

/* scan.l: the bare tokens. */
bool scan_start(struct parser *ps, size_t len);
int scan_token(union ptx_value *value, struct loc *loc, void *scanner);

/* token.c: between scanner and grammar. The next token; after an error, the one at which parsing goes on. */
int token_next(struct parser *ps, union ptx_value *value, struct loc *loc);
/* Decides where parsing goes on after the error at the token `found`. */
void token_recover(struct parser *ps, int found);

/* expect.c: the message about the token `found` where others were expected; indexed by token code. */
enum { N_TOKENS = 320 };
void expect_report(struct parser *ps, int found, const bool expected[N_TOKENS]);

/* word.c */
void words_init(struct parser *ps);
const struct entry *words_intern(struct parser *ps, const char *text, size_t len);
/* The directives that the scanner knows, for suggestions: fills `out` with those whose token is among `tokens`. */
int words_known(const int *tokens, int n_tokens, const char **out, int cap);

/* number.c: literals. Errors are reported and give 0. */
struct operand *number_integer(struct parser *ps, struct loc loc);
struct operand *number_hex_float(struct parser *ps, struct loc loc);
struct operand *number_decimal_float(struct parser *ps, struct loc loc);
void number_bad(struct parser *ps, struct loc loc);

/* fold.c: operators on operands. Constants are folded; a name takes only the operators that operands are made of. */
struct operand *fold_unary(struct parser *ps, struct loc loc, int op, struct operand *a);
struct operand *fold_binary(struct parser *ps, struct loc loc, int op, struct operand *a, struct operand *b);
struct operand *fold_select(struct parser *ps, struct loc loc, struct operand *c, struct operand *a, struct operand *b);
struct operand *fold_cast(struct parser *ps, struct loc loc, const struct word *type, struct operand *a);
/* The constant that `o` is (WARP_SZ and parentheses around one included), NULL when it is none. */
struct operand *fold_constant(struct parser *ps, struct operand *o);

/* build.c: nodes of the tree from what a rule has gathered. */
struct operand *build_operand(struct parser *ps, enum operand_kind kind, struct loc loc);
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

/* declare.c: the specifiers before a declared name, in any order; decl_begin() at the first. */
void decl_begin(struct parser *ps);
void decl_space(struct parser *ps, struct loc loc, const struct word *space);
void decl_type(struct parser *ps, struct loc loc, const struct word *type);
void decl_align(struct parser *ps, const struct operand *bytes);
void decl_other(struct parser *ps, struct loc loc, const struct word *word);
struct variable *decl_name(struct parser *ps, struct loc loc, const struct word *name);
void decl_range(struct parser *ps, struct variable *v, const struct operand *range);
void decl_dim(struct parser *ps, struct variable *v, struct loc loc, struct operand *elements);

/* declare.c, continued: the header. */
void header_version(struct parser *ps, struct loc loc, struct loc number);
void header_target(struct parser *ps, struct loc loc, const struct word *name);
void header_address_size(struct parser *ps, const struct operand *bits);

/* The source text of a place, in the arena. */
const char *source_text(struct parser *ps, struct loc loc);
#endif
