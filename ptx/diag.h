#ifndef PTX_DIAG_H
#define PTX_DIAG_H
/* Messages about a source text: collected with byte offsets, turned into line and column only when printed. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct loc {
    uint32_t begin, end; /* byte offsets into the text, end exclusive */
};

enum diag_kind { DIAG_ERROR, DIAG_WARNING, DIAG_NOTE, DIAG_HELP };

struct diag {
    enum diag_kind kind;
    struct loc loc;
    char *message;
};

/* All messages about one text. Open for reading; written by the functions below only. */
struct diags {
    const char *file; /* name shown to the user; not owned */
    const char *text; /* the whole source; not owned, must outlive the messages */
    size_t len;       /* bytes of text */
    struct diag *list;
    int n, cap;
    int errors;
    int max_errors; /* after so many, further errors are counted but not kept (default 20) */
    bool dropped;   /* the latest error or warning was not kept; its notes are not kept either */
};

void diags_init(struct diags *d, const char *file, const char *text, size_t len);
void diags_free(struct diags *d);
/* An error at `loc`. A second error at the same begin offset is dropped. */
void diag_error(struct diags *d, struct loc loc, const char *fmt, ...) __attribute__((format(printf, 3, 4)));
void diag_warning(struct diags *d, struct loc loc, const char *fmt, ...) __attribute__((format(printf, 3, 4)));
/* Belongs to the message before it: another place (note), or what to do (help; printed without a place). Dropped
 * when the message before it was dropped. */
void diag_note(struct diags *d, struct loc loc, const char *fmt, ...) __attribute__((format(printf, 3, 4)));
void diag_help(struct diags *d, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* True when `d` takes no further errors: callers give up. */
bool diags_full(const struct diags *d);
/* Line and column (both from 1; the column counts bytes) of a byte offset. */
void diag_position(const struct diags *d, uint32_t offset, int *line, int *column);
/* "file:line:column: error: message", the source line, and a caret under the place. */
void diags_print(const struct diags *d, FILE *out);
/* What stands at a place, for use in a message: the whole of it, or its first 40 bytes and "...". Returns `out`. */
enum { DIAG_EXCERPT = 44 };
const char *diag_excerpt(const struct diags *d, struct loc loc, char out[DIAG_EXCERPT]);
/* The candidate nearest to `word` by edit distance, or NULL when none is near enough to be meant. */
const char *diag_suggest(const char *word, const char *const *candidates, int n);
#endif
