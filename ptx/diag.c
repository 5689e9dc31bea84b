/* Collects and prints messages about a source text (diag.h). */
#include "ptx/diag.h"
#include "spelling.h"
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

enum {
    DEFAULT_MAX_ERRORS = 20,
    MAX_MESSAGES = 1000, /* maximum number of warnings and notes; max_errors limits the number of errors */
    WINDOW = 120,        /* maximum number of bytes of a source line that a message prints */
    LEAD = 60,           /* number of bytes before the location that are printed if the line is cut */
};

void diags_init(struct diags *d, const char *file, const char *text, size_t len) {
    *d = (struct diags){.file = file, .text = text, .len = len, .max_errors = DEFAULT_MAX_ERRORS};
}

void diags_free(struct diags *d) {
    for (int i = 0; i < d->n; i++)
        free(d->list[i].message);
    free(d->list);
    d->list = NULL;
    d->n = d->cap = 0;
}

bool diags_full(const struct diags *d) { return d->errors >= d->max_errors; }

/* Appends a message, or sets `dropped` if out of memory. */
__attribute__((format(printf, 4, 0))) static void append(struct diags *d, enum diag_kind kind, struct loc loc,
                                                         const char *fmt, va_list ap) {
    d->dropped = true;
    if (d->n == d->cap) {
        int cap = d->cap ? d->cap * 2 : 16;
        struct diag *list = realloc(d->list, (size_t)cap * sizeof *list);
        if (!list)
            return;
        d->list = list;
        d->cap = cap;
    }
    char *message;
    if (vasprintf(&message, fmt, ap) < 0)
        return;
    d->list[d->n++] = (struct diag){kind, loc, message};
    d->dropped = false;
}

void diag_error(struct diags *d, struct loc loc, const char *fmt, ...) {
    for (int i = 0; i < d->n; i++)
        if (d->list[i].kind == DIAG_ERROR && d->list[i].loc.begin == loc.begin) {
            d->dropped = true;
            return;
        }
    if (d->errors++ >= d->max_errors) {
        d->dropped = true;
        return;
    }
    va_list ap;
    va_start(ap, fmt);
    append(d, DIAG_ERROR, loc, fmt, ap);
    va_end(ap);
}

void diag_warning(struct diags *d, struct loc loc, const char *fmt, ...) {
    if (d->n >= MAX_MESSAGES) {
        d->dropped = true;
        return;
    }
    va_list ap;
    va_start(ap, fmt);
    append(d, DIAG_WARNING, loc, fmt, ap);
    va_end(ap);
}

void diag_note(struct diags *d, struct loc loc, const char *fmt, ...) {
    if (d->dropped || d->n >= MAX_MESSAGES)
        return;
    va_list ap;
    va_start(ap, fmt);
    append(d, DIAG_NOTE, loc, fmt, ap);
    va_end(ap);
}

void diag_help(struct diags *d, const char *fmt, ...) {
    if (d->dropped || d->n >= MAX_MESSAGES)
        return;
    va_list ap;
    va_start(ap, fmt);
    append(d, DIAG_HELP, (struct loc){0, 0}, fmt, ap);
    va_end(ap);
}

const char *diag_excerpt(const struct diags *d, struct loc loc, char out[DIAG_EXCERPT]) {
    const int most = DIAG_EXCERPT - 4;
    bool cut = loc.end - loc.begin > (uint32_t)most;
    snprintf(out, DIAG_EXCERPT, "%.*s%s", cut ? most : (int)(loc.end - loc.begin), d->text + loc.begin,
             cut ? "..." : "");
    return out;
}

static size_t line_start(const struct diags *d, size_t at) {
    const char *nl = at ? memrchr(d->text, '\n', at) : NULL;
    return nl ? (size_t)(nl - d->text) + 1 : 0;
}

void diag_position(const struct diags *d, uint32_t offset, int *line, int *column) {
    size_t at = offset < d->len ? offset : d->len;
    const char *end = d->text + at;
    *line = 1;
    for (const char *p = d->text; at && (p = memchr(p, '\n', (size_t)(end - p))); p++)
        ++*line;
    *column = (int)(at - line_start(d, at)) + 1;
}

/* Returns the number of bytes of the UTF-8 character at `p`, or 0 if it is invalid or a control character. */
static int character_length(const unsigned char *p, const unsigned char *end) {
    if (*p < 0x80)
        return *p >= ' ' && *p != 0x7f;
    int n = *p >= 0xf0 && *p < 0xf8 ? 4 : *p >= 0xe0 && *p < 0xf0 ? 3 : *p >= 0xc2 && *p < 0xe0 ? 2 : 0;
    if (n > end - p)
        return 0;
    for (int i = 1; i < n; i++)
        if ((p[i] & 0xc0) != 0x80)
            return 0;
    return n;
}

/* The range [from, to) of the text to print, which contains the location. */
struct window {
    size_t from, to;
    bool cut_left, cut_right;
};

static bool inside_character(const struct diags *d, size_t at) {
    return at < d->len && ((unsigned char)d->text[at] & 0xc0) == 0x80;
}

static struct window window_at(const struct diags *d, size_t at) {
    size_t start = line_start(d, at);
    const char *nl = memchr(d->text + start, '\n', d->len - start);
    size_t end = nl ? (size_t)(nl - d->text) : d->len;
    if (end > start && d->text[end - 1] == '\r')
        end--;
    struct window w = {start, end, false, false};
    if (end - start <= WINDOW)
        return w;
    if (at - start > WINDOW - LEAD / 3) {
        w.from = at - LEAD;
        w.cut_left = true;
        for (int i = 0; i < 3 && inside_character(d, w.from); i++)
            w.from++;
    }
    if (end - w.from > WINDOW) {
        w.to = w.from + WINDOW;
        w.cut_right = true;
        for (int i = 0; i < 3 && inside_character(d, w.to); i++)
            w.to--;
    }
    return w;
}

/* Prints a source line and a line with the caret. Both have the same number of characters up to the caret: a tab stays
 * a tab, and an unprintable byte becomes one '?' above one space. Both lines begin with `before`. */
static void print_source(const struct diags *d, struct loc loc, const char *before, FILE *out) {
    size_t at = loc.begin < d->len ? loc.begin : d->len;
    struct window w = window_at(d, at);
    const unsigned char *text = (const unsigned char *)d->text, *end = text + w.to;
    fputs(before, out);
    if (w.cut_left)
        fputs("...", out);
    for (const unsigned char *p = text + w.from; p < end;) {
        int n = character_length(p, end);
        if (n)
            fwrite(p, 1, (size_t)n, out);
        else
            fputc(*p == '\t' ? '\t' : '?', out);
        p += n ? n : 1;
    }
    fputs(w.cut_right ? "...\n" : "\n", out);
    fputs(before, out);
    if (w.cut_left)
        fputs("   ", out);
    const unsigned char *p = text + w.from, *place = text + at;
    while (p < place && p < end) {
        int n = character_length(p, end);
        fputc(*p == '\t' ? '\t' : ' ', out);
        p += n ? n : 1;
    }
    fputc('^', out);
    const unsigned char *last = text + (loc.end < w.to ? loc.end : w.to);
    if (p < end)
        for (p += character_length(p, end) ? character_length(p, end) : 1; p < last;) {
            int n = character_length(p, end);
            fputc('~', out);
            p += n ? n : 1;
        }
    fputc('\n', out);
}

void diags_print(const struct diags *d, FILE *out) {
    static const char *const kinds[] = {"error", "warning", "note", "help"};
    for (int i = 0; i < d->n; i++) {
        const struct diag *m = &d->list[i];
        if (m->kind == DIAG_HELP) {
            fprintf(out, "help: %s\n", m->message);
            continue;
        }
        int line, column;
        diag_position(d, m->loc.begin, &line, &column);
        fprintf(out, "%s:%d:%d: %s: %s\n", d->file, line, column, kinds[m->kind], m->message);
        print_source(d, m->loc, "", out);
    }
}

void diag_print_place(const char *text, uint32_t line, uint32_t column, const char *before, FILE *out) {
    const char *at = text;
    for (; line > 1 && at; line--) {
        at = strchr(at, '\n');
        at += at != NULL;
    }
    if (!at || !line || !column || column > strcspn(at, "\n"))
        return;
    uint32_t offset = (uint32_t)(at - text) + column - 1;
    const struct diags d = {.text = text, .len = strlen(text)};
    print_source(&d, (struct loc){offset, offset + (uint32_t)strcspn(text + offset, ";\n")}, before, out);
}

const char *diag_suggest(const char *word, const char *const *candidates, int n) {
    struct spelling s;
    spelling_begin(&s, word, strlen(word));
    for (int i = 0; i < n; i++)
        spelling_try(&s, candidates[i]);
    return s.best;
}
