#ifndef ISA_DECODE_PARTS_H
#define ISA_DECODE_PARTS_H
/* A spelling taken apart, shared by decoding and by the explanation of what is wrong. Internal to isa/. */
#include "words.h"

enum { MAX_PARTS = 20, MAX_TYPES = ISA_MAX_TYPES };

struct part {
    uint32_t begin, end; /* with its dot */
    const struct isa_word *word;
};

struct parts {
    const char *text;
    uint32_t len;
    const struct isa_op *op;
    struct part part[MAX_PARTS];
    int n;
    uint8_t types[MAX_TYPES];
    int n_types;
    uint64_t form;
};

/* decode_match.c: categories (as a mask of their bits) that rows of `op` need not name. */
uint64_t parts_free(const struct isa_op *op);
/* Returns the row with these types and this form, or a row that lacks only categories of parts_free(). NULL if there is
 * none. */
const struct isa_row *parts_match(const struct isa_op *op, const uint8_t types[MAX_TYPES], uint64_t form);

/* decode_explain.c: fills `why` for a spelling whose parts are all known and for which there is no row. */
void explain_no_row(const struct parts *p, struct decode_error *why);
#endif
