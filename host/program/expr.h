#ifndef HOST_PROGRAM_EXPR_H
#define HOST_PROGRAM_EXPR_H
/* Expressions of programs: "(n - at) / 16 - 1". Whole numbers of 64 bits and real numbers; names of values.
 *
 *     sum   + - * / % << >> and parentheses, as in C; / of whole numbers cuts off
 *     test  < <= > >= == != && || !      1 or 0
 *     call  min(a, b)  max(a, b)  blocks(threads, block): how many blocks of `block` cover `threads` */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct value {
    bool real;
    int64_t i; /* unless real */
    double r;  /* if real */
};

struct named_value {
    const char *name;
    struct value v;
};

/* What names stand for: the last of a name is meant. */
struct names {
    struct named_value *list; /* not owned */
    int n;
};

struct expr_error {
    size_t at;     /* bytes into the text */
    size_t len;    /* of what is wrong there, in bytes; 0: a place alone */
    bool numeric;  /* of the values (division by zero, overflow), not of the text */
    char why[256]; /* a sentence without a full stop */
    char name[64]; /* the name that is not known; "": it is another mistake */
};

/* False with the reason in *e. */
bool expr_eval(const char *text, const struct names *names, struct value *out, struct expr_error *e);
static inline double value_real(struct value v) { return v.real ? v.r : (double)v.i; }
#endif
