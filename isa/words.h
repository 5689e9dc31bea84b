#ifndef ISA_WORDS_H
#define ISA_WORDS_H
/* Spellings: the mnemonics and the words after the dots, both ways. Internal to isa/. */
#include "decode.h"

enum word_kind { WORD_TYPE, WORD_SELECTS, WORD_HINT, WORD_CACHE, WORD_ORDER, WORD_NOTHING, WORD_LAYOUT, WORD_REFUSED };

/* Why a word is WORD_REFUSED. */
enum { REFUSED_SPARSE, REFUSED_FOUR_BITS, REFUSED_ONE_BIT, REFUSED_FP8, REFUSED_SCALED, REFUSED_BYTES };

struct isa_word {
    const char *text; /* without the dot */
    uint8_t kind;     /* enum word_kind */
    uint8_t category; /* WORD_SELECTS */
    uint8_t value;    /* enum type, value of the category, HINT_ bits, enum cache_op, ORDER_ bits, enum
                       matrix_layout, number of the reason */
    uint16_t takes;   /* WORD_HINT and after: opcodes that have this bit take the word */
};

/* What `text` means after `op`; NULL when it means nothing there. */
const struct isa_word *word_find(const struct isa_op *op, const char *text, size_t len);
/* True when it means something after some opcode. */
bool word_known(const char *text, size_t len);
/* The spelling of a category's value, without the dot. */
const char *word_of(enum category c, unsigned value);
const struct isa_op *op_find(const char *mnemonic, size_t len);
/* The nearest spelling among the words that `op` takes, or among mnemonics; NULL when none is near. */
const char *word_suggest(const struct isa_op *op, const char *text, size_t len);
const char *op_suggest(const char *text, size_t len);
/* The row with exactly this key; NULL when there is none. */
const struct isa_row *row_find(unsigned op, const uint8_t types[ISA_MAX_TYPES], uint64_t form);
/* The categories in the order in which spellings have them (CAT_SYNC twice); N_CATEGORIES after the last. */
enum category category_in_order(unsigned i);
/* First bit and number of bits of a category. */
unsigned category_first(enum category c);
unsigned category_bits(enum category c);
#endif
