#ifndef TEST_FRONTEND_HELP_H
#define TEST_FRONTEND_HELP_H
/* From PTX text to a program, for tests of the front end. */
#include "frontend/analysis/ir.h"
#include "frontend/frontend.h"
#include <stdio.h>

struct lowered {
    char *text;
    struct diags diags;
    struct module *module;
    struct image *image;
    struct program *program; /* NULL when something was wrong */
};

/* Lowers kernel `kernel` of a whole text; NULL: all of them, and keeps the first program. Module variables get
 * addresses from DEVICE_BASE on, 4096 bytes apart. */
struct lowered *lower_text(const char *text, const char *kernel);
/* A kernel 'k' with one .u64 parameter 'p', these declarations of .param .u64 registers and others: %p<9> .pred, %h<9>
 * .b16, %r<9> .b32, %d<9> .b64, %f<9> .f32, %g<9> .f64, and this body. */
struct lowered *lower_body(const char *body);
void lowered_free(struct lowered *l);
/* The messages as "line:column: text", one a line; help and notes are left out. Valid until lowered_free. */
const char *lowered_errors(struct lowered *l, char *buffer, size_t size);
/* What `inspect --pass` shows of kernel k of a text, with a model and options (NULL: none). Free it. */
char *listing_of(const char *model, const char *const *set, const char *pass, const char *text);
/* A whole file; NULL when it cannot be read. */
char *read_whole(const char *path);
#endif
