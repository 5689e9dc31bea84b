#include "axes.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool add(struct axis *a, const char *key, int key_len, const char *value, int len) {
    char **more = realloc(a->values, (size_t)(a->n + 1) * sizeof *more);
    if (!more)
        return false;
    a->values = more;
    more[a->n] = NULL;
    if (asprintf(&more[a->n], "%.*s=%.*s", key_len, key, len, value) < 0)
        return false;
    a->n++;
    return true;
}

/* Parses a number with an optional unit, as in configurations ("8K"); returns the text after it. NULL: the text is no
 * number. */
static const char *number(const char *s, double *out) {
    char *end;
    *out = strtod(s, &end);
    if (end == s || !isfinite(*out))
        return NULL;
    double scale = *end == 'K' ? 1024 : *end == 'M' ? 1048576 : *end == 'G' ? 1073741824 : 1;
    *out *= scale;
    return scale > 1 ? end + 1 : end;
}

/* Parses a range FROM:TO:STEP, such as "300:900:300". Returns false if the text is not a range. */
static bool range(const char *s, double v[3]) {
    for (int i = 0; i < 3; i++) {
        s = number(s, &v[i]);
        if (!s || *s != (i < 2 ? ':' : '\0'))
            return false;
        s++;
    }
    return true;
}

/* Returns true for a range that lacks its step, "300:900". */
static bool half_range(const char *s) {
    double v;
    return (s = number(s, &v)) && *s == ':' && (s = number(s + 1, &v)) && !*s;
}

/* Adds a value for each step of a range. `key` points to the whole assignment KEY=RANGE, whose first `key_len`
 * characters are the key. */
static bool add_range(struct axis *a, const char *key, int key_len, const double v[3], char *err, size_t err_size) {
    if (!(v[2] > 0) || v[1] < v[0]) {
        snprintf(err, err_size, "%s: %s; a range is FROM:TO:STEP, for example 300:900:300", key,
                 v[1] < v[0] ? "TO is below FROM" : "the step must be more than 0");
        return false;
    }
    double steps = floor((v[1] - v[0]) / v[2] + 1e-9);
    if (steps >= AXIS_VALUES) {
        snprintf(err, err_size, "%.*s: more than %d values", key_len, key, AXIS_VALUES);
        return false;
    }
    for (int i = 0; i <= (int)steps; i++) {
        char value[64];
        int n = snprintf(value, sizeof value, "%.15g", v[0] + i * v[2]);
        if (!add(a, key, key_len, value, n)) {
            snprintf(err, err_size, "the host is out of memory");
            return false;
        }
    }
    return true;
}

bool assignment_is_one(const char *text, char *err, size_t err_size) {
    const char *comma = text + strcspn(text, ",");
    if (!*comma || !strchr(comma, '='))
        return true;
    /* the values of the first option end at the last comma before the second '=' */
    for (const char *second = strchr(comma, '='), *at = comma; at && at < second; at = strchr(at + 1, ','))
        comma = at;
    snprintf(err, err_size, "%s: one -s sets one option; write -s %.*s -s %s", text, (int)(comma - text), text,
             comma + 1);
    return false;
}

bool axis_read(struct axis *a, const char *text, char *err, size_t err_size) {
    int key_len = (int)strcspn(text, "=");
    double v[3];
    *a = (struct axis){NULL, 0};
    if (!assignment_is_one(text, err, err_size))
        return false;
    if (!text[key_len] || !key_len) {
        snprintf(err, err_size, "'%s' is no KEY=VALUE", text);
        return false;
    }
    const char *at = text + key_len + 1;
    if (range(at, v))
        return add_range(a, text, key_len, v, err, err_size);
    if (half_range(at)) {
        snprintf(err, err_size, "%s: a range is FROM:TO:STEP, for example 300:900:300", text);
        return false;
    }
    for (;; at++) {
        int n = (int)strcspn(at, ",");
        if (!n) {
            snprintf(err, err_size, "%s: a value is missing", text);
            return false;
        }
        if (a->n == AXIS_VALUES) {
            snprintf(err, err_size, "%.*s: more than %d values", key_len, text, AXIS_VALUES);
            return false;
        }
        if (!add(a, text, key_len, at, n)) {
            snprintf(err, err_size, "the host is out of memory");
            return false;
        }
        at += n;
        if (!*at)
            return true;
    }
}

void axes_free(struct axes *a) {
    for (int i = 0; i < a->n; i++) {
        for (int k = 0; k < a->axis[i].n; k++)
            free(a->axis[i].values[k]);
        free(a->axis[i].values);
    }
    free(a->axis);
    *a = (struct axes){NULL, 0};
}

bool axis_is(const struct axis *a, const char *name) {
    return strncmp(a->values[0], name, strlen(name)) == 0 && a->values[0][strlen(name)] == '=';
}

uint64_t axes_product(const struct axes *a, uint64_t most) {
    uint64_t n = 1;
    for (int i = 0; i < a->n && n <= most; i++)
        n *= (uint64_t)a->axis[i].n;
    return n <= most ? n : UINT64_MAX;
}

uint64_t axes_combination(const struct axes *a, uint64_t at, const char **out) {
    for (int i = a->n - 1; i >= 0; i--) {
        out[i] = a->axis[i].values[at % (uint64_t)a->axis[i].n];
        at /= (uint64_t)a->axis[i].n;
    }
    return at;
}
