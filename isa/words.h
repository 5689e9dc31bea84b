#ifndef ISA_WORDS_H
#define ISA_WORDS_H
/* Spellings of mnemonics and of the words after the dots, in both directions. Internal to isa/. */
#include "decode.h"

enum word_kind { WORD_TYPE, WORD_SELECTS, WORD_HINT, WORD_CACHE, WORD_ORDER, WORD_NOTHING, WORD_LAYOUT, WORD_SCALE };

struct isa_word {
    const char *text; /* without the dot */
    uint8_t kind;     /* enum word_kind */
    uint8_t category; /* WORD_SELECTS */
    /* by kind: enum type, value of the category, HINT_ bits, enum cache_op, ORDER_ bits, enum matrix_layout, or SCALE_
     * bits */
    uint8_t value;
    uint16_t takes; /* for WORD_HINT and later kinds: the TAKES_ bit of the opcodes that accept the word */
};

/* Returns the meaning of `text` after `op`, or NULL if the text has no meaning for this opcode. */
const struct isa_word *word_find(const struct isa_op *op, const char *text, size_t len);
/* Returns true if the word has a meaning after any opcode. */
bool word_known(const char *text, size_t len);
/* Returns the spelling of a category's value, without the dot. */
const char *word_of(enum category c, unsigned value);
const struct isa_op *op_find(const char *mnemonic, size_t len);
/* word_suggest() returns the nearest spelling among the words that `op` takes, op_suggest() among mnemonics. NULL: no
 * spelling is near. */
const char *word_suggest(const struct isa_op *op, const char *text, size_t len);
const char *op_suggest(const char *text, size_t len);
/* Returns the row with exactly this key, or NULL. */
const struct isa_row *row_find(unsigned op, const uint8_t types[ISA_MAX_TYPES], uint64_t form);
/* Returns the category of the i-th word in a mnemonic, in the order in which PTX writes the words (CAT_SYNC occurs
 * twice). Returns N_CATEGORIES after the last one. */
enum category category_in_order(unsigned i);
/* category_first() returns the first bit of a category, category_bits() the number of its bits. */
unsigned category_first(enum category c);
unsigned category_bits(enum category c);
#endif
