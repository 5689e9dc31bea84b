/* Hash tables of mnemonics and words, built at the first look-up. */
#include "words.h"
#include "ptx/spelling.h"
#include <assert.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

const struct isa_op isa_ops[N_OPS] = {
#define OP(id, mnemonic, takes, help) {mnemonic, help, takes},
#include "opcodes.def"
#undef OP
};

static const struct {
    uint8_t first, bits;
} categories[N_CATEGORIES] = {
#define X(name, first, bits) {first, bits},
    ISA_CATEGORIES(X)
#undef X
};
unsigned category_first(enum category c) { return categories[c].first; }
unsigned category_bits(enum category c) { return categories[c].bits; }

/* The keys have no leading dot. The spelling of a type has a dot, so its key begins at the second character; the
 * spelling of T_NONE is empty. */
static const struct isa_word words[] = {
#define X(id, name, bytes, class) {&name[sizeof name > 1], WORD_TYPE, 0, T_##id, 0},
    ISA_TYPES(X)
#undef X
#define WORD(text, cat, value)         {#text, WORD_SELECTS, CAT_##cat, cat##_##value, 0},
#define SWITCH(text, cat)              {#text, WORD_SELECTS, CAT_##cat, 1, 0},
#define FREE(text, takes, kind, value) {#text, WORD_##kind, 0, value, takes},
#include "words.def"
#undef WORD
#undef SWITCH
#undef FREE
#define X(id, text) {text, WORD_SELECTS, CAT_MODE, MODE_##id, 0},
        ISA_MODES(X)
#undef X
#define X(id, text) {text, WORD_SELECTS, CAT_MODE2, MODE2_##id, 0},
            ISA_MODES2(X)
#undef X
#define X(id, text, m, n, k) {#text, WORD_SELECTS, CAT_MODE2, MODE2_##id, 0},
                ISA_SHAPES(X)
#undef X
};
enum { N_WORDS = sizeof words / sizeof words[0], WORD_SLOTS = 2048, OP_SLOTS = 1024 };

/* Written once, by build(). */
static struct {
    /* index in words[], + 1; words with equal spellings are in adjacent slots, in the order of words[] */
    uint16_t word_slots[WORD_SLOTS];
    uint16_t op_slots[OP_SLOTS];
} table;

static uint32_t hash(const char *text, size_t len) {
    uint32_t h = 2166136261u;
    for (size_t i = 0; i < len; i++)
        h = (h ^ (unsigned char)text[i]) * 16777619u;
    return h ^ h >> 15;
}

static void put(uint16_t *slots, uint32_t n_slots, const char *text, uint32_t index) {
    uint32_t at = hash(text, strlen(text)) % n_slots;
    while (slots[at])
        at = (at + 1) % n_slots;
    slots[at] = (uint16_t)(index + 1);
}

static void build(void) {
    assert(N_WORDS * 2 < WORD_SLOTS && N_OPS * 2 < OP_SLOTS);
    for (uint32_t i = 1; i < N_WORDS; i++) /* 0 is T_NONE */
        put(table.word_slots, WORD_SLOTS, words[i].text, i);
    for (uint32_t i = 0; i < N_OPS; i++)
        put(table.op_slots, OP_SLOTS, isa_ops[i].mnemonic, i);
}

static void ready(void) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, build);
}

static bool same(const char *word, const char *text, size_t len) {
    return strncmp(word, text, len) == 0 && word[len] == '\0';
}

/* Returns true for words that only cp.async has. Some of them have another meaning for other opcodes. */
static bool is_of_copy(const struct isa_word *w) {
    return w->category == CAT_NOINC || (w->category == CAT_MODE2 && w->value >= MODE2_CA && w->value <= MODE2_MBARRIER);
}

/* Returns true for words that name an operation of wgmma or tcgen05 and nothing else. */
static bool is_of_tensor(const struct isa_word *w) {
    return w->category == CAT_MODE2 && w->value >= MODE2_MMA_ASYNC && w->value <= MODE2_COMMIT;
}

/* Returns true if a word that selects a row has this meaning for wgmma or tcgen05. Their other words are FREE. */
static bool applies_to_group(const struct isa_word *w, const struct isa_op *op) {
    if (is_of_tensor(w))
        return (w->value == MODE2_MMA_ASYNC) == ((op->takes & TAKES_GROUP) != 0);
    if (w->category == CAT_SYNC)
        return true;
    return op->takes & TAKES_GROUP &&
           (w->category == CAT_SATFINITE || (w->category == CAT_OPN && w->value == OPN_AND) ||
            (w->category == CAT_MODE2 && (w->value == MODE2_COMMIT_GROUP || w->value == MODE2_WAIT_GROUP)));
}

/* Returns true for the shapes of wgmma: m64n8k16, with N a multiple of 8 up to 256, and K a power of two from 8 to
 * 256. Lowering checks which type has which K. */
static bool is_group_shape(const char *text, size_t len) {
    unsigned n = 0, k = 0;
    int end = 0;
    char copy[16] = "";
    if (len >= sizeof copy)
        return false;
    memcpy(copy, text, len);
    return sscanf(copy, "m64n%3uk%3u%n", &n, &k, &end) == 2 && (size_t)end == len && n % 8 == 0 && n >= 8 && n <= 256 &&
           k >= 8 && k <= 256 && (k & (k - 1)) == 0;
}

/* Returns true if this meaning of the word applies to the opcode. A word may have several meanings. */
static bool word_applies(const struct isa_word *w, const struct isa_op *op) {
    if (w->takes == TAKES_ORDER && strcmp(w->text, "async") == 0) /* st.async and red.async of global memory */
        return op == &isa_ops[OP_ST] || op == &isa_ops[OP_RED];
    if (w->kind >= WORD_HINT) /* in barrier.cluster, .cluster is no scope */
        return (op->takes & w->takes) != 0 && !(op == &isa_ops[OP_BARRIER] && strcmp(w->text, "cluster") == 0);
    if (w->kind == WORD_TYPE && w->value >= T_B8X16 && w->value <= T_B4X16_P64) /* for tcgen05.cp, these are FREE */
        return !(op->takes & TAKES_TMEM);
    if (w->kind != WORD_SELECTS)
        return true;
    unsigned id = (unsigned)(op - isa_ops);
    if (op->takes & (TAKES_GROUP | TAKES_TMEM))
        return applies_to_group(w, op);
    if (w->category == CAT_MODE2 && (w->value == MODE2_TRY_CANCEL || w->value == MODE2_QUERY_CANCEL))
        return (op->takes & TAKES_LAUNCH) != 0;
    if (op->takes & TAKES_LAUNCH || is_of_tensor(w))
        return false;
    if (w->category == CAT_KIND)
        return (op->takes & TAKES_MATRIX) != 0;
    if (w->category == CAT_OPN && op->takes & TAKES_MATRIX)
        return w->value >= OPN_LOAD;
    if (is_of_copy(w))
        return id == OP_CP;
    /* a row of cp.async names only the destination: the shared memory of the own CTA */
    if (id == OP_CP && w->category == CAT_SPACE)
        return w->value == SPACE_SHARED && strcmp(w->text, "shared::cluster") != 0;
    if (w->category == CAT_CMP && (w->value == CMP_LO || w->value == CMP_HI))
        return id == OP_SETP || id == OP_SET;
    if (w->category == CAT_MODE && w->value == MODE_UNI)
        return !(op->takes & TAKES_UNI);
    if (w->category == CAT_MODE2 && w->value == MODE2_CLUSTER)
        return id == OP_BARRIER;
    return true;
}

static const struct isa_word *find(const struct isa_op *op, const char *text, size_t len) {
    static const struct isa_word shape = {"m64n8k16", WORD_NOTHING, 0, 0, TAKES_GROUP};
    ready();
    if (op && op->takes & TAKES_GROUP && is_group_shape(text, len))
        return &shape;
    for (uint32_t at = hash(text, len) % WORD_SLOTS; table.word_slots[at]; at = (at + 1) % WORD_SLOTS) {
        const struct isa_word *w = &words[table.word_slots[at] - 1];
        if (same(w->text, text, len) && (!op || word_applies(w, op)))
            return w;
    }
    return NULL;
}

const struct isa_word *word_find(const struct isa_op *op, const char *text, size_t len) { return find(op, text, len); }
bool word_known(const char *text, size_t len) { return find(NULL, text, len) != NULL; }

const struct isa_op *op_find(const char *mnemonic, size_t len) {
    ready();
    for (uint32_t at = hash(mnemonic, len) % OP_SLOTS; table.op_slots[at]; at = (at + 1) % OP_SLOTS) {
        const struct isa_op *op = &isa_ops[table.op_slots[at] - 1];
        if (same(op->mnemonic, mnemonic, len))
            return op;
    }
    return NULL;
}

const char *word_of(enum category c, unsigned value) {
    for (uint32_t i = 0; i < N_WORDS; i++)
        if (words[i].kind == WORD_SELECTS && words[i].category == c && words[i].value == value)
            return words[i].text;
    assert(!"a category's value without a word");
    return "?";
}

const char *word_suggest(const struct isa_op *op, const char *text, size_t len) {
    struct spelling s;
    spelling_begin(&s, text, len);
    for (uint32_t i = 1; i < N_WORDS; i++)
        if (word_applies(&words[i], op))
            spelling_try(&s, words[i].text);
    return s.best;
}

const char *op_suggest(const char *text, size_t len) {
    struct spelling s;
    spelling_begin(&s, text, len);
    for (uint32_t i = 0; i < N_OPS; i++)
        if (isa_ops[i].mnemonic[0] != '#')
            spelling_try(&s, isa_ops[i].mnemonic);
    return s.best;
}
