#ifndef TEST_FRONTEND_HELP_H
#define TEST_FRONTEND_HELP_H
/* Helpers for tests of the front end: they make programs from PTX text. */
#include "frontend/analysis/ir.h"
#include "frontend/frontend.h"
#include <stdio.h>

struct lowered {
    char *text;
    struct diags diags;
    struct module *module;
    struct image *image;
    struct program *program; /* NULL after an error */
};

/* Lowers kernel `kernel` of a module's text. If `kernel` is NULL, lowers all kernels and keeps the program of the first
 * kernel. Module variables get addresses from DEVICE_BASE on, 4096 bytes apart. The caller calls lowered_free(). */
struct lowered *lower_text(const char *text, const char *kernel);
/* Lowers a kernel 'k' with this body and one .u64 parameter 'p'. Declared registers: %p<9> .pred, %h<9> .b16, %r<9>
 * .b32, %d<9> .b64, %f<9> .f32, %g<9> .f64. The caller calls lowered_free(). */
struct lowered *lower_body(const char *body);
void lowered_free(struct lowered *l);
/* Writes the errors as "line:column: text", one per line, without help and notes. Returns `buffer`. */
const char *lowered_errors(struct lowered *l, char *buffer, size_t size);
/* Returns the output of `inspect --pass` for kernel k of `text`, under a model, with the options in `set` (NULL: none).
 * The caller frees it. */
char *listing_of(const char *model, const char *const *set, const char *pass, const char *text);
/* Returns the content of a file, terminated by a zero; NULL when it cannot be read. The caller frees it. */
char *read_whole(const char *path);
#endif
