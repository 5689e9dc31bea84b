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

/* Categories (as a mask of their bits) that rows of `op` need not name. */
uint64_t parts_free(const struct isa_op *op);

/* Fills `why` for a spelling whose parts are all known and for which there is no row. */
void explain_no_row(const struct parts *p, struct decode_error *why);
#endif
