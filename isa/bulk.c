/* Reads the opcodes of bulk instructions. The words may stand in any order, as in decode.c, except that the destination
 * precedes the source. */
#include "bulk.h"
#include "decode_parts.h"
#include <assert.h>
#include <string.h>

static bool begins(const char *text, uint32_t len, const char *with) {
    const size_t n = strlen(with);
    return len >= n && memcmp(text, with, n) == 0 && (len == n || text[n] == '.');
}

/* Returns true if the opcode has the word .global: st.async and red.async are then ordinary accesses. */
static bool is_global(const char *opcode, uint32_t len) {
    static const char word[] = ".global";
    const uint32_t n = sizeof word - 1;
    for (uint32_t i = 0; i + n <= len; i++)
        if (memcmp(opcode + i, word, n) == 0)
            return true;
    return false;
}

bool bulk_is(const char *opcode, uint32_t len) {
    if ((begins(opcode, len, "st.async") || begins(opcode, len, "red.async")) && is_global(opcode, len))
        return false;
    return begins(opcode, len, "cp.async.bulk") || begins(opcode, len, "cp.reduce.async.bulk") ||
           begins(opcode, len, "st.async") || begins(opcode, len, "red.async") || begins(opcode, len, "st.bulk") ||
           begins(opcode, len, "tensormap");
}

/* The fields that a word of an opcode can set. WHAT is the kind of the instruction. */
enum meaning {
    NOTHING,
    WHAT,
    MODE,
    DIMS,
    SPACE,
    OP,
    TYPE,
    VEC,
    FIELD,
    SIGNALS,
    GROUPED,
    MULTICAST,
    MASK,
    OOB,
    HINT,
    READ,
    NOFTZ,
    PAIR
};
/* The instructions that may have a word, as a mask with one bit for each mnemonic. */
enum { OF_CP = 1, OF_ST = 2, OF_RED = 4, OF_MAP = 8, OF_ALL = 15 };

static const struct word {
    const char *text;
    uint8_t of, meaning, value;
} words[] = {{"async", OF_CP | OF_ST | OF_RED, NOTHING, 0},
             {"bulk", OF_CP, NOTHING, 0},
             {"tensor", OF_CP, NOTHING, 1},
             {"bulk", OF_ST, WHAT, BULK_ZERO},
             {"reduce", OF_CP, WHAT, BULK_RED},
             {"prefetch", OF_CP, WHAT, BULK_PREFETCH},
             {"commit_group", OF_CP, WHAT, BULK_COMMIT},
             {"wait_group", OF_CP, WHAT, BULK_WAIT},
             {"replace", OF_MAP, WHAT, BULK_REPLACE},
             {"cp_fenceproxy", OF_MAP, WHAT, BULK_COPY_MAP},
             {"L2", OF_CP, NOTHING, 0},
             {"1d", OF_CP, DIMS, 1},
             {"2d", OF_CP, DIMS, 2},
             {"3d", OF_CP, DIMS, 3},
             {"4d", OF_CP, DIMS, 4},
             {"5d", OF_CP, DIMS, 5},
             {"global", OF_CP | OF_MAP, SPACE, SPACE_GLOBAL},
             {"shared", OF_CP | OF_ST, SPACE, SPACE_SHARED},
             {"shared::cta", OF_CP | OF_ST | OF_MAP, SPACE, SPACE_SHARED},
             {"shared::cluster", OF_CP | OF_ST | OF_RED, SPACE, SPACE_SHARED},
             {"tile", OF_CP | OF_MAP, MODE, BULK_TILE},
             {"tile::gather4", OF_CP, MODE, BULK_GATHER4},
             {"tile::scatter4", OF_CP, MODE, BULK_SCATTER4},
             {"im2col", OF_CP, MODE, BULK_IM2COL},
             {"im2col_no_offs", OF_CP, MODE, BULK_IM2COL_NO_OFFS},
             {"im2col::w", OF_CP, MODE, BULK_WIDE},
             {"im2col::w::128", OF_CP, MODE, BULK_WIDE_128},
             {"im2col_no_offs::w", OF_CP, MODE, BULK_WIDE_NO_OFFS},
             {"cta_group::1", OF_CP, NOTHING, 0},
             {"cta_group::2", OF_CP, PAIR, 1},
             {"mbarrier::complete_tx::bytes", OF_CP | OF_ST | OF_RED, SIGNALS, 1},
             {"bulk_group", OF_CP, GROUPED, 1},
             {"multicast::cluster", OF_CP, MULTICAST, 1},
             {"cp_mask", OF_CP, MASK, 1},
             {"ignore_oob", OF_CP, OOB, 1},
             {"L2::cache_hint", OF_CP, HINT, 1},
             {"read", OF_CP, READ, 1},
             {"noftz", OF_CP, NOFTZ, 1},
             {"weak", OF_ST, NOTHING, 0},
             {"relaxed", OF_RED, NOTHING, 0},
             {"cluster", OF_RED | OF_MAP, NOTHING, 0},
             {"cta", OF_MAP, NOTHING, 0},
             {"gpu", OF_MAP, NOTHING, 0},
             {"sys", OF_MAP, NOTHING, 0},
             {"release", OF_MAP, NOTHING, 0},
             {"tensormap::generic", OF_MAP, NOTHING, 0},
             {"sync", OF_MAP, NOTHING, 0},
             {"aligned", OF_MAP, NOTHING, 0},
             {"b1024", OF_MAP, NOTHING, 0},
             {"v2", OF_ST, VEC, 2},
             {"v4", OF_ST, VEC, 4},
             {"add", OF_CP | OF_RED, OP, OPN_ADD},
             {"min", OF_CP | OF_RED, OP, OPN_MIN},
             {"max", OF_CP | OF_RED, OP, OPN_MAX},
             {"inc", OF_CP | OF_RED, OP, OPN_INC},
             {"dec", OF_CP | OF_RED, OP, OPN_DEC},
             {"and", OF_CP | OF_RED, OP, OPN_AND},
             {"or", OF_CP | OF_RED, OP, OPN_OR},
             {"xor", OF_CP | OF_RED, OP, OPN_XOR},
             {"f16", OF_CP, TYPE, T_F16},
             {"bf16", OF_CP, TYPE, T_BF16},
             {"f32", OF_CP | OF_ST, TYPE, T_F32},
             {"f64", OF_CP | OF_ST, TYPE, T_F64},
             {"b32", OF_ALL, TYPE, T_B32},
             {"b64", OF_ALL, TYPE, T_B64},
             {"u32", OF_CP | OF_ST | OF_RED, TYPE, T_U32},
             {"s32", OF_CP | OF_ST | OF_RED, TYPE, T_S32},
             {"u64", OF_CP | OF_ST | OF_RED, TYPE, T_U64},
             {"s64", OF_CP | OF_ST | OF_RED, TYPE, T_S64},
#define X(id, text) {text, OF_MAP, FIELD, BULK_MAP_##id},
             BULK_MAP_FIELDS(X)
#undef X
};
enum { N_WORDS = sizeof words / sizeof words[0] };

static const struct word *find_word(const char *text, uint32_t len, unsigned of) {
    for (uint32_t i = 0; i < N_WORDS; i++)
        if (words[i].of & of && strlen(words[i].text) == len && memcmp(words[i].text, text, len) == 0)
            return &words[i];
    return NULL;
}

/* Stores the value of a word in its field. */
static void apply(struct bulk_form *f, const struct word *w) {
    uint8_t *const byte[] = {[WHAT] = &f->what, [MODE] = &f->mode, [DIMS] = &f->dims,  [OP] = &f->op,
                             [TYPE] = &f->type, [VEC] = &f->vec,   [FIELD] = &f->field};
    bool *const flag[] = {[SIGNALS] = &f->signals, [GROUPED] = &f->grouped, [MULTICAST] = &f->multicast,
                          [MASK] = &f->cp_mask,    [OOB] = &f->ignore_oob,  [HINT] = &f->cache_hint,
                          [READ] = &f->read,       [NOFTZ] = &f->noftz,     [PAIR] = &f->pair};
    if (w->meaning == SPACE)
        *(f->to ? &f->from : &f->to) = w->value;
    else if (w->meaning >= SIGNALS && w->meaning <= PAIR)
        *flag[w->meaning] = true;
    else if (w->meaning != NOTHING)
        *byte[w->meaning] = w->value;
}

/* Returns true if a reduction of this operation and type exists (PTX ISA 9.0, tables of cp.reduce.async.bulk and
 * red.async). */
static bool reduces(const struct bulk_form *f) {
    const bool global = f->to == SPACE_GLOBAL, wide = f->type == T_U64 || f->type == T_S64;
    const bool half = f->type == T_F16 || f->type == T_BF16, word = f->type == T_U32 || f->type == T_S32;
    switch (f->op) {
    case OPN_ADD:
        return word || f->type == T_U64 || (f->type == T_S64 && f->what == BULK_RED_ASYNC) ||
               (global && ((half && f->noftz) || f->type == T_F32 || f->type == T_F64));
    case OPN_MIN:
    case OPN_MAX:
        return word || (global && (wide || half));
    case OPN_INC:
    case OPN_DEC:
        return f->type == T_U32;
    default:
        return f->type == T_B32 || (global && f->type == T_B64);
    }
}

/* Checks the spaces and the completion of a copy. Returns the reason why the copy is invalid, or NULL if it is
 * valid. */
static const char *wrong_copy(const struct bulk_form *f) {
    const bool load = f->to == SPACE_SHARED && f->from == SPACE_GLOBAL;
    if (!f->to || !f->from || (f->to == SPACE_GLOBAL && f->from == SPACE_GLOBAL))
        return "a bulk copy names destination and source: .shared::cluster.global, .shared::cta.global, "
               ".global.shared::cta, or .shared::cluster.shared::cta";
    if (f->to == SPACE_GLOBAL ? !f->grouped || f->signals : !f->signals || f->grouped)
        return "a bulk copy into shared memory has .mbarrier::complete_tx::bytes, and one into global memory has "
               ".bulk_group";
    if (f->multicast && !load)
        return "only a bulk copy from global into shared memory has .multicast::cluster";
    if (f->cp_mask && (f->to != SPACE_GLOBAL || f->dims || f->what != BULK_COPY))
        return "only cp.async.bulk.global.shared::cta has .cp_mask";
    if (f->ignore_oob && (!load || f->dims))
        return "only a bulk copy from global into shared memory without .tensor has .ignore_oob";
    return NULL;
}

static const char *wrong_tensor(const struct bulk_form *f, bool tensor) {
    const bool store = f->to == SPACE_GLOBAL && f->what != BULK_PREFETCH;
    if (tensor != (f->dims != 0))
        return tensor ? "a tensor copy names its dimensions: .1d to .5d" : "dimensions are only for .tensor";
    if (!tensor)
        return f->mode ? "a mode is only for .tensor" : NULL;
    if (f->what != BULK_PREFETCH && f->to == f->from)
        return "a tensor copy is between global and shared memory";
    if (f->mode == BULK_GATHER4 && (f->dims != 2 || store || f->what == BULK_RED))
        return ".tile::gather4 is for loads of 2d tensors";
    if (f->mode == BULK_SCATTER4 && (f->dims != 2 || !store || f->what != BULK_COPY))
        return ".tile::scatter4 is for stores of 2d tensors";
    if (f->pair && (store || f->what != BULK_COPY))
        return ".cta_group::2 is for loads";
    if ((f->mode == BULK_WIDE || f->mode == BULK_WIDE_128) && (f->dims < 3 || store))
        return ".im2col::w is for loads of 3d to 5d tensors; stores have .im2col_no_offs::w";
    if (f->mode == BULK_WIDE_NO_OFFS && (f->dims < 3 || !store))
        return ".im2col_no_offs::w is for stores of 3d to 5d tensors";
    if (f->mode == BULK_IM2COL && (f->dims < 3 || store))
        return ".im2col is for loads of 3d to 5d tensors; stores have .im2col_no_offs";
    if (f->mode == BULK_IM2COL_NO_OFFS && (f->dims < 3 || !store))
        return ".im2col_no_offs is for stores of 3d to 5d tensors";
    return NULL;
}

static const char *wrong_move(const struct bulk_form *f, bool tensor) {
    const char *wrong = NULL;
    if (f->what == BULK_PREFETCH)
        wrong = f->to == SPACE_GLOBAL && !f->from ? NULL : "a prefetch names .L2.global";
    else
        wrong = wrong_copy(f);
    wrong = wrong ? wrong : wrong_tensor(f, tensor);
    if (wrong)
        return wrong;
    if (f->what == BULK_RED && tensor)
        return f->to == SPACE_GLOBAL && f->op && !f->type
                   ? NULL
                   : "a reduction of a tensor is .global.shared::cta, and has an operation and no type";
    if (f->what == BULK_RED)
        return f->from == SPACE_SHARED && f->op && reduces(f)
                   ? NULL
                   : "no such reduction; it goes from .shared::cta and has an operation and a type that fit";
    return f->op || f->type || f->noftz ? "only a reduction has an operation and a type" : NULL;
}

/* Checks a form. Returns the reason why the form is invalid, or NULL if it is valid. */
static const char *wrong_form(const struct bulk_form *f, bool tensor) {
    switch (f->what) {
    case BULK_COPY:
    case BULK_RED:
    case BULK_PREFETCH:
        return f->read ? "only wait_group has .read" : wrong_move(f, tensor);
    case BULK_COMMIT:
        return f->to || f->read || tensor ? "commit_group has no more words" : NULL;
    case BULK_WAIT:
        return f->to || tensor ? "wait_group has at most .read" : NULL;
    case BULK_ST_ASYNC:
        return f->to && f->signals && f->type && type_bytes(f->type) * (f->vec ? f->vec : 1) <= 16
                   ? NULL
                   : "st.async has .shared::cluster, .mbarrier::complete_tx::bytes and a "
                     "type";
    case BULK_RED_ASYNC:
        return f->to && f->signals && f->op && reduces(f)
                   ? NULL
                   : "red.async has .shared::cluster, .mbarrier::complete_tx::bytes, an operation and a type that fit";
    case BULK_ZERO:
        return !f->signals && !f->type && !f->vec ? NULL : "st.bulk is written st.bulk.weak.shared::cta";
    case BULK_REPLACE:
        return f->field && !f->from && f->type
                   ? NULL
                   : "tensormap.replace has .tile, a field, .global or .shared::cta, .b1024, and .b32 or .b64";
    default:
        return f->to == SPACE_GLOBAL && f->from == SPACE_SHARED && !f->type && !f->field
                   ? NULL
                   : "tensormap.cp_fenceproxy copies .global.shared::cta";
    }
}

static bool read_words(const char *text, uint32_t len, unsigned of, struct bulk_form *f, bool *tensor,
                       struct decode_error *why) {
    uint64_t seen[2] = {0};
    const struct word *last[PAIR + 1] = {NULL}; /* for each meaning: its last word */
    static_assert(N_WORDS <= 128, "a bit for each word");
    uint32_t at = (uint32_t)((const char *)memchr(text, '.', len) - text);
    while (at < len) {
        const char *dot = memchr(text + at + 1, '.', len - at - 1);
        const uint32_t end = dot ? (uint32_t)(dot - text) : len, n = end - at - 1;
        const struct word *w = find_word(text + at + 1, n, of);
        if (!w)
            return decode_refuse(why, at, end, "bulk instructions do not take '.%.*s' here", (int)n, text + at + 1);
        const uint32_t i = (uint32_t)(w - words);
        const bool again = seen[i / 64] >> i % 64 & 1;
        if ((again && w->meaning != SPACE) || (w->meaning == SPACE && f->from))
            return decode_refuse(why, at, end, "'.%s' is written twice", w->text);
        if (last[w->meaning] && w->meaning != NOTHING && w->meaning != SPACE)
            return decode_refuse(why, at, end, "'.%s' contradicts '.%s'", w->text, last[w->meaning]->text);
        last[w->meaning] = w;
        seen[i / 64] |= 1ull << i % 64;
        *tensor |= w->meaning == NOTHING && w->value;
        apply(f, w);
        at = end;
    }
    return true;
}

bool bulk_decode(const char *opcode, uint32_t len, struct bulk_form *out, struct decode_error *why) {
    const unsigned of = opcode[0] == 'c' ? OF_CP : opcode[0] == 's' ? OF_ST : opcode[0] == 'r' ? OF_RED : OF_MAP;
    static const uint8_t first[] = {
        [OF_CP] = BULK_COPY, [OF_ST] = BULK_ST_ASYNC, [OF_RED] = BULK_RED_ASYNC, [OF_MAP] = BULK_COPY_MAP};
    bool tensor = false;
    *out = (struct bulk_form){.what = first[of]};
    if (!memchr(opcode, '.', len))
        return decode_refuse(why, 0, len, "'%.*s' is incomplete", (int)len, opcode);
    if (!read_words(opcode, len, of, out, &tensor, why))
        return false;
    const char *wrong = wrong_form(out, tensor);
    return !wrong || decode_refuse(why, 0, len, "'%.*s' does not exist: %s", (int)len, opcode, wrong);
}

/* The fields of a packed form, from the lowest bit up, each with its number of bits. */
#define FIELDS(X)                                                                                                      \
    X(what, 4)                                                                                                         \
    X(mode, 4)                                                                                                         \
    X(dims, 3)                                                                                                         \
    X(to, 4)                                                                                                           \
    X(from, 4)                                                                                                         \
    X(op, 4)                                                                                                           \
    X(type, 8)                                                                                                         \
    X(vec, 3)                                                                                                          \
    X(field, 4)                                                                                                        \
    X(signals, 1)                                                                                                      \
    X(multicast, 1)                                                                                                    \
    X(cp_mask, 1)                                                                                                      \
    X(ignore_oob, 1)                                                                                                   \
    X(cache_hint, 1) X(grouped, 1) X(read, 1) X(noftz, 1) X(pair, 1)

int64_t bulk_pack(const struct bulk_form *f) {
    uint64_t bits = 0;
    unsigned at = 0;
#define X(name, n)                                                                                                     \
    bits |= (uint64_t)f->name << at;                                                                                   \
    at += n;
    FIELDS(X)
#undef X
    assert(at < 63);
    return (int64_t)bits;
}

struct bulk_form bulk_unpack(int64_t imm) {
    struct bulk_form f;
    unsigned at = 0;
#define X(name, n)                                                                                                     \
    f.name = (uint8_t)((uint64_t)imm >> at & ((1u << n) - 1));                                                         \
    at += n;
    FIELDS(X)
#undef X
    return f;
}

bool bulk_is_ordered(int64_t packed) {
    const struct bulk_form form = bulk_unpack(packed), *f = &form;
    switch (f->what) {
    case BULK_COPY:
    case BULK_RED:
        return f->to == SPACE_GLOBAL || f->from == SPACE_SHARED || f->multicast || f->pair;
    case BULK_ST_ASYNC:
    case BULK_RED_ASYNC:
        return true;
    case BULK_REPLACE:
    case BULK_COPY_MAP:
        return f->to != SPACE_SHARED;
    default:
        return false;
    }
}
