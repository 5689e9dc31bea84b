#ifndef HOST_PROGRAM_EXPR_H
#define HOST_PROGRAM_EXPR_H
/* Expressions of programs: "(n - at) / 16 - 1", on 64-bit integers, real numbers and named values.
 *
 *     sum   + - * / % << >> and parentheses, as in C; integer division truncates
 *     test  < <= > >= == != && || !      1 or 0
 *     call  min(a, b)  max(a, b)  blocks(threads, block): CTAs of `block` threads needed for `threads` threads */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct value {
    bool real;
    int64_t i; /* value of an integer */
    double r;  /* value of a real number */
};

struct named_value {
    const char *name;
    struct value v;
};

/* Values of names. A later entry hides an earlier one of the same name. */
struct names {
    struct named_value *list; /* not owned */
    int n;
};

struct expr_error {
    size_t at;     /* byte offset of the error in the text */
    size_t len;    /* number of bytes of the wrong text; 0: only the position `at` is known */
    bool numeric;  /* true if values cause the error (division by zero, overflow), and not the text */
    char why[256]; /* description of the error, a sentence without a full stop */
    char name[64]; /* the unknown name, if this is the error; else "" */
};

/* Evaluates an expression. Returns false with the reason in *e. */
bool expr_eval(const char *text, const struct names *names, struct value *out, struct expr_error *e);
static inline double value_real(struct value v) { return v.real ? v.r : (double)v.i; }
#endif
