#include "expr.h"
#include "ptx/diag.h"
#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_DEPTH = 64 };

struct parser {
    const char *text, *at;
    const struct names *names;
    struct expr_error *e;
    int depth;
    bool failed;
};

__attribute__((format(printf, 3, 4))) static struct value fail(struct parser *p, const char *at, const char *fmt, ...) {
    if (!p->failed) {
        va_list args;
        va_start(args, fmt);
        vsnprintf(p->e->why, sizeof p->e->why, fmt, args);
        va_end(args);
        p->e->at = (size_t)(at - p->text);
        p->failed = true;
    }
    return (struct value){0};
}

/* Reports an error that depends on values (division by zero, overflow). A dry run does not know the values, so callers
 * ignore this error there. */
static struct value fail_numeric(struct parser *p, const char *at, const char *why) {
    p->e->numeric = !p->failed || p->e->numeric;
    return fail(p, at, "%s", why);
}

static struct value whole(int64_t i) { return (struct value){.i = i}; }
static struct value real(double r) { return (struct value){.real = true, .r = r}; }

static void skip_space(struct parser *p) { p->at += strspn(p->at, " \t\n"); }

/* Consumes `word` if it is next. */
static bool take(struct parser *p, const char *word) {
    skip_space(p);
    size_t len = strlen(word);
    if (strncmp(p->at, word, len) != 0)
        return false;
    p->at += len;
    return true;
}

static struct value number(struct parser *p) {
    const char *at = p->at;
    bool hex = at[0] == '0' && (at[1] == 'x' || at[1] == 'X');
    size_t digits = strspn(at, hex ? "0123456789abcdefABCDEFxX" : "0123456789");
    char *end;
    errno = 0;
    if (!hex && at[digits] && strchr(".eE", at[digits])) {
        double r = strtod(at, &end);
        p->at = end;
        return isinf(r) ? fail(p, at, "the number is out of range") : real(r);
    }
    long long i = strtoll(at, &end, hex ? 16 : 10);
    if (errno)
        return fail(p, at, "the number takes more than 64 bits");
    if (isalnum((unsigned char)*end) || *end == '_')
        return fail(p, at, "this is no number");
    p->at = end;
    return whole(i);
}

static struct value any(struct parser *p);

static struct value operate(struct parser *p, const char *at, const char *op, struct value a, struct value b);

static struct value call(struct parser *p, const char *name, size_t len) {
    static const char *const functions[] = {"min", "max", "blocks"};
    struct value a = any(p), b = {0};
    bool two = take(p, ",");
    if (two)
        b = any(p);
    if (!p->failed && (!two || !take(p, ")")))
        return fail(p, p->at, "%.*s() takes two values: %.*s(a, b)", (int)len, name, (int)len, name);
    if (p->failed)
        return a;
    for (int i = 0; i < 3; i++) {
        if (strlen(functions[i]) != len || memcmp(functions[i], name, len) != 0)
            continue;
        if (i < 2)
            return (value_real(a) < value_real(b)) == (i == 0) ? a : b;
        if (a.real || b.real || b.i < 1 || a.i < 0)
            return fail_numeric(p, name, "blocks() takes whole numbers, the second of them positive");
        return whole(a.i / b.i + (a.i % b.i != 0));
    }
    return fail(p, name, "there is no function '%.*s'; there are min, max and blocks", (int)len, name);
}

static struct value name(struct parser *p) {
    const char *at = p->at;
    size_t len = 0;
    while (isalnum((unsigned char)at[len]) || at[len] == '_' || (at[len] == '.' && isalpha((unsigned char)at[len + 1])))
        len++;
    p->at += len;
    if (take(p, "("))
        return call(p, at, len);
    for (int i = p->names->n - 1; i >= 0; i--)
        if (strlen(p->names->list[i].name) == len && memcmp(p->names->list[i].name, at, len) == 0)
            return p->names->list[i].v;
    char word[sizeof p->e->name];
    snprintf(word, sizeof word, "%.*s", (int)len, at);
    if (!p->failed) {
        memcpy(p->e->name, word, sizeof word);
        p->e->len = len;
    }
    const char **known = calloc((size_t)p->names->n + 1, sizeof *known);
    for (int i = 0; known && i < p->names->n; i++)
        known[i] = p->names->list[i].name;
    const char *near = known ? diag_suggest(word, known, p->names->n) : NULL;
    free(known);
    if (near)
        return fail(p, at, "there is no value '%s'; did you mean '%s'?", word, near);
    return fail(p, at, "there is no value '%s'", word);
}

static struct value primary(struct parser *p) {
    skip_space(p);
    const char *at = p->at;
    if (p->failed)
        return whole(0);
    if (p->depth >= MAX_DEPTH)
        return fail(p, at, "the expression is too deep");
    if (isdigit((unsigned char)*at))
        return number(p);
    p->depth++;
    struct value v;
    if (isalpha((unsigned char)*at) || *at == '_') {
        v = name(p);
    } else if (take(p, "(")) {
        v = any(p);
        if (!p->failed && !take(p, ")"))
            v = fail(p, p->at, "a ')' is missing here");
    } else if (take(p, "-")) {
        v = primary(p);
        v = v.real ? real(-v.r) : operate(p, at, "-", whole(0), v);
    } else if (at[0] == '!' && at[1] != '=' && take(p, "!")) {
        v = whole(value_real(primary(p)) == 0);
    } else {
        v = fail(p, at, *at ? "a number, a name or a '(' is expected here" : "the expression ends too early");
    }
    p->depth--;
    return v;
}

static struct value operate_real(struct parser *p, const char *at, const char *op, double a, double b) {
    switch (op[0]) {
    case '+':
        return real(a + b);
    case '-':
        return real(a - b);
    case '*':
        return real(a * b);
    case '/':
        return b == 0 ? fail_numeric(p, at, "a division by zero") : real(a / b);
    default:
        return fail_numeric(p, at, "the operator takes whole numbers");
    }
}

static struct value compare(const char *op, struct value a, struct value b) {
    double x = value_real(a), y = value_real(b);
    int order = a.real || b.real ? (x > y) - (x < y) : (a.i > b.i) - (a.i < b.i);
    bool equal = op[1] == '=';
    switch (op[0]) {
    case '<':
        return whole(order < 0 || (equal && order == 0));
    case '>':
        return whole(order > 0 || (equal && order == 0));
    case '=':
        return whole(order == 0);
    case '!':
        return whole(order != 0);
    case '&':
        return whole(x != 0 && y != 0);
    default:
        return whole(x != 0 || y != 0);
    }
}

static struct value operate(struct parser *p, const char *at, const char *op, struct value a, struct value b) {
    bool shift = strcmp(op, "<<") == 0 || strcmp(op, ">>") == 0;
    if (p->failed)
        return whole(0);
    if (!shift && strchr("<>=!&|", op[0]))
        return compare(op, a, b);
    if (a.real || b.real)
        return operate_real(p, at, op, value_real(a), value_real(b));
    int64_t v = 0;
    bool over = false;
    if (shift) {
        if (b.i < 0 || b.i > 62)
            return fail_numeric(p, at, "a shift by less than 0 or more than 62");
        over = op[0] == '<' && __builtin_mul_overflow(a.i, (int64_t)1 << b.i, &v);
        v = op[0] == '<' ? v : a.i >> b.i;
    } else if (op[0] == '+') {
        over = __builtin_add_overflow(a.i, b.i, &v);
    } else if (op[0] == '-') {
        over = __builtin_sub_overflow(a.i, b.i, &v);
    } else if (op[0] == '*') {
        over = __builtin_mul_overflow(a.i, b.i, &v);
    } else if (b.i == 0) {
        return fail_numeric(p, at, "a division by zero");
    } else {
        over = a.i == INT64_MIN && b.i == -1;
        v = over ? 0 : op[0] == '/' ? a.i / b.i : a.i % b.i;
    }
    return over ? fail_numeric(p, at, "the result takes more than 64 bits") : whole(v);
}

/* Operators by precedence, lowest first. In a row, an operator precedes every operator that is a prefix of it, so that
 * "<=" is not read as "<". */
static const char *const levels[][5] = {
    {"||"}, {"&&"}, {"==", "!="}, {"<=", ">=", "<", ">"}, {"<<", ">>"}, {"+", "-"}, {"*", "/", "%"},
};
enum { N_LEVELS = sizeof levels / sizeof levels[0] };

static const char *operator_of(struct parser *p, int level) {
    skip_space(p);
    for (int i = 0; i < 5 && levels[level][i]; i++) {
        const char *op = levels[level][i];
        if (strncmp(p->at, op, strlen(op)) != 0)
            continue;
        bool shift = !op[1] && (op[0] == '<' || op[0] == '>') && p->at[1] == op[0];
        if (!shift)
            return op;
    }
    return NULL;
}

static struct value binary(struct parser *p, int level) {
    if (level == N_LEVELS)
        return primary(p);
    struct value v = binary(p, level + 1);
    for (const char *op; !p->failed && (op = operator_of(p, level));) {
        const char *at = p->at;
        p->at += strlen(op);
        v = operate(p, at, op, v, binary(p, level + 1));
    }
    return v;
}

static struct value any(struct parser *p) { return binary(p, 0); }

bool expr_eval(const char *text, const struct names *names, struct value *out, struct expr_error *e) {
    struct parser p = {.text = text, .at = text, .names = names, .e = e};
    e->numeric = false;
    e->len = 0;
    e->name[0] = '\0';
    *out = any(&p);
    skip_space(&p);
    if (!p.failed && *p.at)
        fail(&p, p.at, "the expression should end here");
    return !p.failed;
}
