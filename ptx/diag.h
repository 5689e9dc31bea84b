#ifndef PTX_DIAG_H
#define PTX_DIAG_H
/* Error messages about a source text. A message keeps byte offsets; printing turns them into line and column. */
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

/* All messages about one text. Other files read the fields; only the functions below write them. */
struct diags {
    const char *file; /* file name printed in messages; not owned */
    const char *text; /* the whole source; not owned; must outlive the messages */
    size_t len;       /* bytes of text */
    struct diag *list;
    int n, cap;
    int errors;
    int max_errors; /* further errors are counted but not kept; default 20 */
    bool dropped;   /* the latest error or warning was dropped, so its notes and help are dropped, too */
};

/* Starts an empty list of messages about the `len` bytes at `text`. `file` and `text` must outlive the list. */
void diags_init(struct diags *d, const char *file, const char *text, size_t len);
/* Frees the messages; `d` may be initialised again. */
void diags_free(struct diags *d);
/* Adds an error at `loc`. A second error at the same begin offset is dropped. */
void diag_error(struct diags *d, struct loc loc, const char *fmt, ...) __attribute__((format(printf, 3, 4)));
/* Adds a warning at `loc`. At most 1,000 messages are kept. */
void diag_warning(struct diags *d, struct loc loc, const char *fmt, ...) __attribute__((format(printf, 3, 4)));
/* Adds to the previous message: diag_note() adds a note with another location, and diag_help() adds advice without a
 * location. Both are dropped if the previous message was dropped. */
void diag_note(struct diags *d, struct loc loc, const char *fmt, ...) __attribute__((format(printf, 3, 4)));
void diag_help(struct diags *d, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* Returns true once max_errors errors have been reported; the parser then stops. */
bool diags_full(const struct diags *d);
/* Converts a byte offset to line and column. Both count from 1; the column counts bytes. An offset beyond the text
 * means the end of the text. */
void diag_position(const struct diags *d, uint32_t offset, int *line, int *column);
/* Prints each message as "file:line:column: error: message", then the source line, then a caret below the location. */
void diags_print(const struct diags *d, FILE *out);
/* Prints a line of the text and a line with a caret below the column, each after `before`. Prints nothing if the text
 * has no such place. Line and column count from 1; the column counts bytes. */
void diag_print_place(const char *text, uint32_t line, uint32_t column, const char *before, FILE *out);
/* Copies the text at `loc` to `out` for use in a message. Text over 40 bytes is cut and ends in "...". Returns
 * `out`. */
enum { DIAG_EXCERPT = 44 };
const char *diag_excerpt(const struct diags *d, struct loc loc, char out[DIAG_EXCERPT]);
/* Returns the candidate nearest to `word` by edit distance, or NULL if none is close (see spelling.h). */
const char *diag_suggest(const char *word, const char *const *candidates, int n);
#endif
