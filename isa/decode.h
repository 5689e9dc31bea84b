#ifndef ISA_DECODE_H
#define ISA_DECODE_H
/* From a written opcode ("setp.lt.and.s32") to the row that implements it. Everything here is generated from
 * opcodes.def and the semantics rows: names, decoding, execution, latency class, documentation. */
#include "program.h"

/* Modifiers that select a row. One value a category, packed into 64 bits by FORM(category, value). */
#define ISA_CATEGORIES(X) /* X(name, first bit, bits) */                                                               \
    X(RND, 0, 4) X(FTZ, 4, 1) X(SAT, 5, 1) X(APPROX, 6, 2) X(CMP, 8, 5) X(OPN, 13, 4) X(PART, 17, 2) X(SPACE, 19, 4)   \
    X(VEC, 23, 2) X(MODE, 25, 6) X(MODE2, 31, 6) X(CC, 37, 1) X(SYNC, 38, 1) X(TO, 39, 1) X(NAN, 40, 1)                \
    X(XORSIGN, 41, 1) X(RELU, 42, 1) X(ABS, 43, 1) X(SHIFTAMT, 44, 1) X(GEOM, 45, 4) X(LEVEL, 49, 2) X(SATFINITE, 51, 1)\
    X(PO, 52, 1)
enum category {
#define X(name, first, bits) CAT_##name,
    ISA_CATEGORIES(X)
#undef X
        N_CATEGORIES
};

struct isa_op {
    const char *mnemonic;
    const char *help;  /* one line: what it does */
    uint32_t first_row, n_rows;
};

/* One instruction that exists: an opcode with the types and modifiers that change what it computes. */
struct isa_row {
    uint16_t op;
    uint8_t types[3];  /* enum type, in the order written; T_NONE where absent */
    uint8_t kind;      /* enum inst_kind */
    uint8_t latency;   /* enum latency_class */
    /* operand types; T_NONE: absent. Kinds from K_LOAD on describe their operands by kind, not here. */
    uint8_t d, d2, a, b, c, e;
    uint8_t d2_optional; /* setp p|q and shfl d|p: may be left out */
    uint8_t optional_sources; /* so many sources at the end may be left out */
    uint64_t form;
    union {
        lane_fn *lane;
        warp_fn *warp;
    } fn;
    const char *bound; /* approximate functions: the error bound kept, else NULL */
};

extern const struct isa_op isa_ops[];
extern const uint32_t isa_n_ops;
/* All rows, in the order of isa_ops. Built once by isa_rows_init() (thread safe, called by every function here). */
const struct isa_row *isa_rows(uint32_t *n);

struct decoded {
    const struct isa_op *op;
    const struct isa_row *row;
    uint16_t row_index;
    enum type types[3];
    int n_types;
    uint64_t form;
    enum space space;
    uint8_t vec;      /* 1, 2, 4 or 8 elements */
    uint8_t hints;    /* HINT_ bits */
    uint8_t cache_op; /* enum cache_op */
};

/* Why an opcode was refused: the part of it that is wrong (offsets into the spelling) and a sentence. */
struct decode_error {
    uint32_t begin, end;
    char message[256];
    char help[256]; /* did you mean, or the forms that exist; empty when there is nothing to say */
};

/* Decodes `opcode` of `len` bytes, with its suffixes. False, with `why` filled, when it does not exist.
 * Modifiers without effect on results (.volatile, .relaxed, .gpu, .L1::evict_last, .aligned, .noftz ...) are taken
 * where PTX allows them and become hints or nothing. */
bool isa_decode(const char *opcode, uint32_t len, struct decoded *out, struct decode_error *why);

/* The full spelling of a row: "add.rz.ftz.f32". Returns the length. */
int isa_row_name(const struct isa_row *row, char *out, size_t size);
/* Value of a category in a form; 0 when absent. */
unsigned form_get(uint64_t form, enum category c);
uint64_t form_put(enum category c, unsigned value);

/* Values of the categories that executors and lowering look at. */
enum { RND_NONE, RND_RN, RND_RZ, RND_RM, RND_RP, RND_RNI, RND_RZI, RND_RMI, RND_RPI, RND_RNA, RND_RS };
enum { PART_NONE, PART_LO, PART_HI, PART_WIDE };
enum { CMP_NONE, CMP_EQ, CMP_NE, CMP_LT, CMP_LE, CMP_GT, CMP_GE, CMP_LO, CMP_LS, CMP_HI, CMP_HS, CMP_EQU, CMP_NEU,
       CMP_LTU, CMP_LEU, CMP_GTU, CMP_GEU, CMP_NUM, CMP_NAN };
enum { OPN_NONE, OPN_AND, OPN_OR, OPN_XOR, OPN_ADD, OPN_MIN, OPN_MAX, OPN_INC, OPN_DEC, OPN_CAS, OPN_EXCH, OPN_POPC };
#endif
