/* Values of a program: from its settings, from its size `paper`, and from the command line or the caller. */
#include "parts.h"
#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Parses a number such as "4096", "4K", "-1" or "0.5"; K, M and G are powers of 1024. Returns false if the text is no
 * number, or if an integer needs more than 64 bits. */
static bool read_number(const char *text, struct value *out) {
    static const struct names none = {NULL, 0};
    static const char units[] = "KMG";
    size_t len = strlen(text);
    const char *unit = len > 1 ? strchr(units, text[len - 1]) : NULL;
    int shift = unit ? 10 * (int)(unit - units + 1) : 0;
    char digits[64];
    struct expr_error e;
    if (len - (unit != NULL) >= sizeof digits || text[strspn(text, "-0123456789.eExXabcdefABCDFKMG")])
        return false;
    snprintf(digits, sizeof digits, "%.*s", (int)(len - (unit != NULL)), text);
    if (!expr_eval(digits, &none, out, &e))
        return false;
    out->r = ldexp(out->r, shift);
    return out->real || !__builtin_mul_overflow(out->i, (int64_t)1 << shift, &out->i);
}

static void print_value(struct value v, char *out, size_t size) {
    if (v.real)
        snprintf(out, size, "%.15g", v.r);
    else
        snprintf(out, size, "%lld", (long long)v.i);
}

/* Setting `s` declares a value, and *v is its default. If the caller gave another number for this value, stores it in
 * *v. When the program is opened, also adds the number to the list `settings` of the program. */
static bool take_given(struct run *r, const config_setting_t *s, struct value *v) {
    const char *name = config_setting_name(s);
    size_t len = strlen(name);
    for (int i = 0; i < r->p->given.n; i++) {
        const char *given = r->p->given.list[i];
        struct value to;
        if (strncmp(given, name, len) != 0 || given[len] != '=')
            continue;
        if (!read_number(given + len + 1, &to))
            return run_fail(r, s, NULL, 0, "-v %s: '%s' is no number; one is like 4096, 4K, -1 or 0.5", given,
                            given + len + 1);
        if (to.real && !v->real)
            return run_fail(r, s, NULL, 0, "-v %s: '%s' is a whole number, and %s is none", given, name,
                            given + len + 1);
        if (v->real && !to.real)
            to = (struct value){.real = true, .r = (double)to.i};
        *v = to;
        char number[64], text[160];
        print_value(to, number, sizeof number);
        snprintf(text, sizeof text, "%s=%s", name, number);
        return r->h || note_text(r, &r->open->settings, text);
    }
    return true;
}

/* Checks that value `v` is in the range that the program gives for it, as in ranges = { n = (256, 65536); }. Both
 * limits are allowed values. */
static bool check_range(struct run *r, const config_setting_t *ranges, const config_setting_t *s, struct value v) {
    const char *name = config_setting_name(s);
    const config_setting_t *range = ranges ? config_setting_get_member(ranges, name) : NULL;
    struct value ends[2];
    char is[64], least[64], most[64];
    if (!range)
        return true;
    if (!config_setting_is_list(range) || config_setting_length(range) != 2)
        return run_fail(r, range, NULL, 0, "a range has two ends: %s = (LEAST, MOST)", name);
    for (unsigned i = 0; i < 2; i++)
        if (!read_value(r, config_setting_get_elem(range, i), &ends[i]))
            return false;
    struct value low = ends[0], high = ends[1];
    bool fine = low.real || high.real || v.real ? value_real(v) >= value_real(low) && value_real(v) <= value_real(high)
                                                : v.i >= low.i && v.i <= high.i;
    print_value(v, is, sizeof is);
    print_value(low, least, sizeof least);
    print_value(high, most, sizeof most);
    return fine || run_fail(r, s, NULL, 0, "'%s' is %s, and must be from %s to %s", name, is, least, most);
}

/* Groups that describe values (such as ranges) may name only values that the program declares. */
static bool check_names(struct run *r, const config_setting_t *group, const config_setting_t *values) {
    for (int i = 0; group && i < config_setting_length(group); i++) {
        const config_setting_t *s = config_setting_get_elem(group, (unsigned)i);
        if (!values || !config_setting_get_member(values, config_setting_name(s)))
            return run_fail(r, s, NULL, 0, "'%s' is not among the values", config_setting_name(s));
    }
    return true;
}

bool make_values(struct run *r) {
    const config_setting_t *values, *paper, *ranges;
    if (!read_group(r, r->p->root, "values", &values) || !read_group(r, r->p->root, "paper", &paper) ||
        !read_group(r, r->p->root, "ranges", &ranges) || !check_names(r, paper, values) ||
        !check_names(r, ranges, values))
        return false;
    for (int i = 0; values && i < config_setting_length(values); i++) {
        const config_setting_t *s = config_setting_get_elem(values, (unsigned)i), *other = NULL;
        struct value v, check;
        if (paper)
            other = config_setting_get_member(paper, config_setting_name(s));
        if (!read_value(r, s, &v) || (other && !read_value(r, other, &check)))
            return false;
        if (other && r->size != BENCH_SMALL)
            v = check;
        if (!take_given(r, s, &v) || !check_range(r, ranges, s, v) || !run_add_name(r, config_setting_name(s), v))
            return false;
    }
    return true;
}

const char *script_value(const struct script *p, int n) {
    const config_setting_t *values = config_setting_get_member(p->root, "values");
    const config_setting_t *s = values && n >= 0 ? config_setting_get_elem(values, (unsigned)n) : NULL;
    return s ? config_setting_name(s) : NULL;
}
