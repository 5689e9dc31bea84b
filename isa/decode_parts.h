#ifndef ISA_DECODE_PARTS_H
#define ISA_DECODE_PARTS_H
/* The parts of a written opcode, for decoding and for the explanation of errors. Internal to isa/. */
#include "words.h"

enum { MAX_PARTS = 20, MAX_TYPES = ISA_MAX_TYPES };

struct part {
    uint32_t begin, end; /* the part, with its dot, is text[begin .. end) of struct parts */
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

/* decode_match.c: returns the categories that rows of `op` need not name, as a mask of their bits. */
uint64_t parts_free(const struct isa_op *op);
/* Returns the row with these types and this form, or else a row that differs only in that it does not name categories
 * of parts_free(). Returns NULL if there is none. */
const struct isa_row *parts_match(const struct isa_op *op, const uint8_t types[MAX_TYPES], uint64_t form);

/* decode_explain.c: fills `why` with a message about text[begin .. end) of the opcode, without help. Returns false. */
bool decode_refuse(struct decode_error *why, uint32_t begin, uint32_t end, const char *fmt, ...)
    __attribute__((format(printf, 4, 5)));
/* Fills `why` for a written opcode that matches no row, although all its parts are known. */
void explain_no_row(const struct parts *p, struct decode_error *why);
#endif
