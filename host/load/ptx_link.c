/* Links PTX modules that were compiled separately into one text. Local names that occur in several modules are
 * renamed. Of several weak definitions the first is kept. */
#include "fatbin.h"
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A token, the text [at, at + len): a word (name, directive or number), a string, or a single character. */
struct token {
    const char *at;
    size_t len;
};

/* A declaration at module scope. */
struct declaration {
    struct token name;
    const char *begin, *end; /* the text of the whole declaration is [begin, end) */
    bool local, weak, defined;
};

struct names {
    struct declaration *list;
    int n, cap;
};

static bool in_word(char c) { return isalnum((unsigned char)c) || c == '_' || c == '$' || c == '%' || c == '.'; }

static const char *skip_space(const char *p, const char *end) {
    while (p < end) {
        if (isspace((unsigned char)*p)) {
            p++;
        } else if (end - p > 1 && p[0] == '/' && p[1] == '/') {
            while (p < end && *p != '\n')
                p++;
        } else if (end - p > 1 && p[0] == '/' && p[1] == '*') {
            const char *close = memmem(p + 2, (size_t)(end - p - 2), "*/", 2);
            p = close ? close + 2 : end;
        } else {
            break;
        }
    }
    return p;
}

/* Returns the next token at or after *p, and moves *p to its end. The length is 0 at the end of the text. */
static struct token next_token(const char **p, const char *end) {
    const char *at = skip_space(*p, end), *q = at;
    if (q < end && *q == '"') {
        for (q++; q < end && *q != '"'; q++)
            q += *q == '\\' && q + 1 < end;
        q += q < end;
    } else if (q < end && in_word(*q)) {
        while (q < end && in_word(*q))
            q++;
    } else if (q < end) {
        q++;
    }
    *p = q;
    return (struct token){at, (size_t)(q - at)};
}

static bool is(struct token t, const char *word) { return t.len == strlen(word) && memcmp(t.at, word, t.len) == 0; }
static bool same(struct token a, struct token b) { return a.len == b.len && memcmp(a.at, b.at, a.len) == 0; }
static bool is_name(struct token t) {
    return t.len && (isalpha((unsigned char)*t.at) || *t.at == '_' || *t.at == '$' || *t.at == '%');
}

static const struct declaration *known(const struct names *names, struct token name) {
    for (int i = 0; i < names->n; i++)
        if (names->list[i].defined && same(names->list[i].name, name))
            return &names->list[i];
    return NULL;
}

static bool add_name(struct names *names, const struct declaration *d) {
    if (names->n == names->cap) {
        int cap = names->cap ? 2 * names->cap : 64;
        struct declaration *list = realloc(names->list, (size_t)cap * sizeof *list);
        if (!list)
            return false;
        names->list = list;
        names->cap = cap;
    }
    names->list[names->n++] = *d;
    return true;
}

static bool is_line_directive(struct token t) {
    return is(t, ".version") || is(t, ".target") || is(t, ".address_size") || is(t, ".file") || is(t, ".loc");
}

static const char *end_of_line(const char *p, const char *end) {
    const char *newline = memchr(p, '\n', (size_t)(end - p));
    return newline ? newline : end;
}

/* Finds the next declaration at or after *p, and moves *p to its end. Returns false at the end of the text. */
static bool next_declaration(const char **p, const char *end, struct declaration *d) {
    struct token t = next_token(p, end);
    while (is_line_directive(t)) {
        *p = end_of_line(t.at, end);
        t = next_token(p, end);
    }
    *d = (struct declaration){.begin = t.at, .local = true, .defined = true};
    int depth = 0, round = 0;
    bool function = false, body = false;
    for (; t.len; t = next_token(p, end)) {
        depth += is(t, "{") - is(t, "}");
        round += is(t, "(") - is(t, ")");
        body |= depth > 0;
        if (depth || round || body) {
            /* inside braces */
        } else if (is(t, ".extern") || is(t, ".visible") || is(t, ".weak") || is(t, ".common")) {
            d->local = false;
            d->defined &= !is(t, ".extern");
            d->weak |= is(t, ".weak") || is(t, ".common");
        } else if (is(t, ".func") || is(t, ".entry")) {
            function = true;
        } else if (is_name(t) && !d->name.len) {
            d->name = t;
        }
        if ((is(t, ";") && !depth) || (is(t, "}") && depth <= 0 && (function || !d->name.len)))
            break;
    }
    d->defined &= !function || body;
    d->end = *p;
    return d->begin < d->end;
}

/* Writes [from, to), with the part's suffix appended to the names in `renamed`. */
static void write_renamed(FILE *out, const char *from, const char *to, const struct names *renamed, int part) {
    for (const char *p = from; p < to;) {
        const char *before = p;
        struct token t = next_token(&p, to);
        fwrite(before, 1, (size_t)(t.at - before) + t.len, out);
        if (is_name(t) && known(renamed, t))
            fprintf(out, "$part%d", part);
        if (!t.len)
            break;
    }
}

/* Adds the definitions of a part to `own`. Adds a definition also to `renamed` if its name is local and is also in
 * `all`, the names that earlier parts define. */
static bool scan(const struct ptx_part *part, const struct names *all, struct names *own, struct names *renamed) {
    const char *p = part->text, *end = p + part->len;
    for (struct declaration d; next_declaration(&p, end, &d);) {
        if (d.defined && d.name.len && !add_name(own, &d))
            return false;
        if (d.local && d.defined && d.name.len && known(all, d.name) && !add_name(renamed, &d))
            return false;
    }
    return true;
}

static bool append(FILE *out, const struct ptx_part *part, int index, struct names *all) {
    struct names own = {0}, renamed = {0};
    bool ok = scan(part, all, &own, &renamed);
    const char *p = part->text, *end = p + part->len;
    for (struct declaration d; ok && next_declaration(&p, end, &d);) {
        const struct declaration *first = d.weak && d.defined ? known(all, d.name) : NULL;
        if (!first)
            write_renamed(out, d.begin, d.end, &renamed, index);
        fputc('\n', out);
    }
    for (int i = 0; ok && i < own.n; i++)
        ok = add_name(all, &own.list[i]);
    free(own.list);
    free(renamed.list);
    return ok;
}

/* Returns .version as a comparable number; 0 if there is none. */
static int version_of(const struct ptx_part *part) {
    const char *p = part->text, *end = p + part->len;
    int major = 0, minor = 0;
    struct token t = next_token(&p, end);
    if (is(t, ".version"))
        sscanf(p, "%d.%d", &major, &minor);
    return 100 * major + minor;
}

/* Writes the header lines (.version, .target, .address_size) of the newest part. */
static void write_head(FILE *out, const struct device_code *c, int first) {
    const struct ptx_part *newest = &c->parts[first];
    for (int i = first + 1; i < c->n; i++)
        if (version_of(&c->parts[i]) > version_of(newest))
            newest = &c->parts[i];
    const char *p = newest->text, *end = p + newest->len;
    for (struct token t = next_token(&p, end); is_line_directive(t); t = next_token(&p, end)) {
        p = end_of_line(t.at, end);
        fprintf(out, "%.*s\n", (int)(p - t.at), t.at);
    }
}

bool ptx_link(struct device_code *c, int first) {
    char *text = NULL;
    size_t len = 0;
    FILE *out = open_memstream(&text, &len);
    struct names all = {0};
    bool ok = out != NULL;
    if (ok)
        write_head(out, c, first);
    for (int i = first; ok && i < c->n; i++)
        ok = append(out, &c->parts[i], i - first, &all);
    free(all.list);
    if (out && fclose(out) != 0)
        ok = false;
    if (!ok) {
        free(text);
        return device_code_fail(c, "the host is out of memory");
    }
    uint32_t arch = c->parts[first].arch;
    for (int i = first; i < c->n; i++) {
        arch = c->parts[i].arch < arch ? c->parts[i].arch : arch;
        free(c->parts[i].text);
    }
    c->parts[first] = (struct ptx_part){text, len, arch};
    c->n = first + 1;
    return true;
}
