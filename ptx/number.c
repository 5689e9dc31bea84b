/* Literals: converts the text of a number to its bits. */
#include "ptx/parse.h"
#include <locale.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static unsigned digit_value(char c) {
    if (c <= '9')
        return (unsigned)(c - '0');
    return (unsigned)((c | 0x20) - 'a') + 10;
}

/* Converts `len` digits to a number. Returns false if it does not fit into 64 bits. */
static bool digits(const char *p, size_t len, unsigned base, uint64_t *value) {
    *value = 0;
    for (size_t i = 0; i < len; i++) {
        unsigned d = digit_value(p[i]);
        if (__builtin_mul_overflow(*value, base, value) || __builtin_add_overflow(*value, d, value))
            return false;
    }
    return true;
}

struct operand *number_integer(struct parser *ps, struct loc loc) {
    struct operand *o = build_operand(ps, OPD_INT, loc);
    const char *p = ps->diags->text + loc.begin;
    size_t len = loc.end - loc.begin;
    if (p[len - 1] == 'U') {
        o->is_unsigned = true;
        len--;
    }
    unsigned base = 10;
    if (len > 1 && p[0] == '0') {
        int c = p[1] | 0x20;
        base = c == 'x' ? 16 : c == 'b' ? 2 : 8;
        size_t prefix = base == 8 ? 1 : 2;
        p += prefix;
        len -= prefix;
    }
    if (base == 8)
        for (size_t i = 0; i < len; i++)
            if (p[i] > '7') {
                diag_error(ps->diags, loc, "'%c' is not an octal digit", p[i]);
                diag_help(ps->diags, "a number that begins with 0 is octal");
                return o;
            }
    if (!digits(p, len, base, &o->integer)) {
        diag_error(ps->diags, loc, "number does not fit into 64 bits");
        o->integer = 0;
    }
    if (o->integer > INT64_MAX)
        o->is_unsigned = true;
    return o;
}

struct operand *number_hex_float(struct parser *ps, struct loc loc) {
    struct operand *o = build_operand(ps, OPD_FLOAT, loc);
    digits(ps->diags->text + loc.begin + 2, loc.end - loc.begin - 2, 16, &o->real);
    o->real_bits = loc.end - loc.begin == 10 ? 32 : 64;
    return o;
}

/* Calls strtod() in the C locale, since the process may use a locale with another decimal point. Decimal fractions are
 * rare in PTX, so creating a locale for each is fast enough. */
static double c_strtod(const char *text) {
    locale_t c = newlocale(LC_NUMERIC_MASK, "C", (locale_t)0);
    if (!c)
        return strtod(text, NULL);
    double value = strtod_l(text, NULL, c);
    freelocale(c);
    return value;
}

struct operand *number_decimal_float(struct parser *ps, struct loc loc) {
    struct operand *o = build_operand(ps, OPD_FLOAT, loc);
    char *spelling = arena_strndup(ps->arena, ps->diags->text + loc.begin, loc.end - loc.begin);
    double value = c_strtod(spelling);
    if (isinf(value)) {
        diag_error(ps->diags, loc, "number does not fit into a 64-bit float");
        value = 0;
    }
    memcpy(&o->real, &value, 8);
    o->real_bits = 64;
    return o;
}

void number_bad(struct parser *ps, struct loc loc) {
    const char *p = ps->diags->text + loc.begin;
    int prefix = loc.end - loc.begin > 1 && p[0] == '0' ? p[1] | 0x20 : 0;
    char text[DIAG_EXCERPT];
    diag_error(ps->diags, loc, "'%s' is not a number", diag_excerpt(ps->diags, loc, text));
    if (prefix == 'f')
        diag_help(ps->diags, "0f takes exactly 8 hexadecimal digits, the bits of a 32-bit float");
    else if (prefix == 'd')
        diag_help(ps->diags, "0d takes exactly 16 hexadecimal digits, the bits of a 64-bit float");
    else if (prefix == 'x' || prefix == 'b')
        diag_help(ps->diags, "0%c takes %s digits", prefix, prefix == 'x' ? "hexadecimal" : "binary");
    else if (p[loc.end - loc.begin - 1] == 'u')
        diag_help(ps->diags, "the unsigned suffix is a capital U");
}
