/* Shortens the names of a chart for its axes: drops the words that all places share, and cuts long names. */
#include "chart.h"
#include <stdlib.h>
#include <string.h>

/* Returns true for the characters that separate the parts of a name. */
static bool separates(char c) { return c && strchr(" ,/", c) != NULL; }

/* Returns the length of the prefix that all names share, up to the last separator in it. */
static size_t shared_prefix(char *const *names, int n) {
    size_t len = 0, kept = 0;
    for (; names[0][len]; len++) {
        for (int i = 1; i < n; i++)
            if (names[i][len] != names[0][len])
                return kept;
        if (separates(names[0][len]))
            kept = len + 1;
    }
    return kept;
}

/* Returns the length of the suffix that all names share after their first `from` characters, down to the first
 * separator in it. */
static size_t shared_suffix(char *const *names, int n, size_t from) {
    size_t kept = 0;
    for (size_t len = 1;; len++) {
        size_t first = strlen(names[0]);
        if (len + from >= first)
            return kept;
        char c = names[0][first - len];
        for (int i = 1; i < n; i++) {
            size_t own = strlen(names[i]);
            if (len + from >= own || names[i][own - len] != c)
                return kept;
        }
        if (separates(c))
            kept = len;
    }
}

static bool continues(char c) { return ((unsigned char)c & 0xc0) == 0x80; }

size_t chart_characters(const char *text) {
    size_t n = 0;
    for (; *text; text++)
        n += !continues(*text);
    return n;
}

/* Returns a copy of the first `len` bytes of `text`. If these are more than CHART_NAME characters, the copy has an
 * ellipsis and the last characters, because names of runs differ mostly at their ends. */
static char *cut(const char *text, size_t len) {
    char *copy = strndup(text, len), *shorter;
    size_t n = copy ? chart_characters(copy) : 0;
    if (n <= CHART_NAME)
        return copy;
    const char *at = copy;
    for (size_t skip = n - (CHART_NAME - 1); skip; at++)
        skip -= !continues(at[1]);
    if (asprintf(&shorter, "\u2026%s", at) < 0)
        shorter = NULL;
    free(copy);
    return shorter;
}

char **chart_names(char *const *names, int n, char **shared) {
    size_t before = n > 1 ? shared_prefix(names, n) : 0, after = n > 1 ? shared_suffix(names, n, before) : 0;
    char **out = calloc((size_t)n + 1, sizeof *out);
    *shared = NULL;
    if (before + after &&
        asprintf(shared, "all: %.*s%s%s", (int)(before ? before - 1 : 0), names[0], before && after ? ", " : "",
                 names[0] + strlen(names[0]) - (after ? after - 1 : 0)) < 0)
        *shared = NULL;
    for (int i = 0; out && i < n; i++)
        if (!(out[i] = cut(names[i] + before, strlen(names[i]) - before - after))) {
            chart_names_free(out);
            free(*shared);
            *shared = NULL;
            return NULL;
        }
    return out;
}

void chart_names_free(char **names) {
    for (int i = 0; names && names[i]; i++)
        free(names[i]);
    free(names);
}
