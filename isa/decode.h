#ifndef ISA_DECODE_H
#define ISA_DECODE_H
/* Finds the row of the instruction table that implements a written opcode ("setp.lt.and.s32"). Names, decoding,
 * execution, latency classes and documentation are generated from opcodes.def and the rows of isa/exec/. */
#include "program.h"

/* Modifiers that select a row. Each category has one value, packed into 64 bits by FORM(category, value). */
/* clang-format off */
#define ISA_CATEGORIES(X) /* X(name, first bit, bits) */ \
    X(RND, 0, 4) X(FTZ, 4, 1) X(SAT, 5, 1) X(APPROX, 6, 2) X(CMP, 8, 5) X(OPN, 13, 4) X(PART, 17, 2) X(SPACE, 19, 4) \
    X(VEC, 23, 2) X(MODE, 25, 6) X(MODE2, 31, 6) X(CC, 37, 1) X(SYNC, 38, 1) X(TO, 39, 1) X(NAN, 40, 1) \
    X(XORSIGN, 41, 1) X(RELU, 42, 1) X(ABS, 43, 1) X(SHIFTAMT, 44, 1) X(GEOM, 45, 4) X(LEVEL, 49, 2) \
    X(SATFINITE, 51, 1) X(PO, 52, 1) X(OOB, 53, 1) X(NOFTZ, 54, 1) X(NUM, 55, 2) \
    X(KIND, 57, 3) X(SPARSE, 60, 2) X(NOINC, 63, 1)
/* clang-format on */
enum category {
#define X(name, first, bits) CAT_##name,
    ISA_CATEGORIES(X)
#undef X
        N_CATEGORIES
};

/* Modifiers that an opcode accepts although its rows do not name them. They reach lowering as decoded.space, .vec,
 * .hints and .cache_op, or have no effect. A row may still name its space, vector size or .sync: decoding then prefers
 * this row to a row that does not. */
enum {
    TAKES_SPACE = 1,      /* .global .shared::cta .param::entry ... */
    TAKES_VEC = 2,        /* .v2 .v4 .v8 */
    TAKES_CACHE = 4,      /* .ca .cg .nc .L1::evict_last .L2::128B .L2::cache_hint .level::eviction ... */
    TAKES_ORDER = 8,      /* .volatile .weak .relaxed .acquire .release .acq_rel .sc .mmio, and scopes */
    TAKES_UNI = 16,       /* .uni */
    TAKES_SYNC = 32,      /* .sync .aligned */
    TAKES_PROXY = 64,     /* .proxy .alias .async .mbarrier_init */
    TAKES_COPY = 512,     /* .async .global, and some of TAKES_CACHE: .L2::128B .L2::cache_hint ... */
    TAKES_MATRIX = 1024,  /* .row .col .popc, and the modifiers of mma with scaled blocks */
    TAKES_POLICY = 2048,  /* .fractional .range .cvt of createpolicy */
    TAKES_GROUP = 8192,   /* wgmma: its shapes, .sp .popc; lowering reads these words from the opcode */
    TAKES_TMEM = 16384,   /* tcgen05: shapes, kinds and other words that lowering reads from the opcode */
    TAKES_LAUNCH = 32768, /* clusterlaunchcontrol: words that lowering reads from the opcode */
    IS_REFUSED = 128,     /* instructions that are known but not supported; the message contains the help text */
};

/* Opcodes: one line each in opcodes.def. Mnemonics that begin with '#' exist only inside Heddle (see rows.h). */
enum op_id {
#define OP(id, mnemonic, takes, help) OP_##id,
#include "opcodes.def"
#undef OP
    N_OPS
};

struct isa_op {
    const char *mnemonic;
    const char *help; /* a line of text about what the opcode does */
    uint32_t takes;   /* TAKES_ bits */
};

enum { ISA_MAX_TYPES = 4 }; /* maximum number of types in a written opcode */

/* A row of the instruction table: an opcode with the types and modifiers that change what it computes. */
struct isa_row {
    uint16_t op;
    uint8_t types[ISA_MAX_TYPES]; /* enum type, in the order written; T_NONE where absent */
    uint8_t kind;                 /* enum inst_kind */
    uint8_t latency;              /* enum latency_class */
    /* operand types; T_NONE: absent. Rows of K_LOAD and later kinds have operands by kind (exec.h) and leave these
     * empty */
    uint8_t d, d2, a, b, c, e;
    uint8_t d2_optional;      /* true if the second destination is optional, as in setp p|q and shfl d|p */
    uint8_t optional_sources; /* number of sources at the end that are optional */
    /* last PTX version that has this row, as 10 * major + minor; 0 if the newest version has it */
    uint8_t last_version;
    uint64_t form;
    union {
        lane_fn *lane;
        warp_fn *warp;
    } fn;
    const char *bound; /* text of the error bound if the function is approximate, else NULL */
};

extern const struct isa_op isa_ops[N_OPS];
/* Returns all rows, in the order of isa_ops, and their number (thread safe). */
const struct isa_row *isa_all_rows(uint32_t *n);
/* Returns the same table, for look-ups by inst.row: a row that no function has returned yet may be empty. */
const struct isa_row *isa_rows(uint32_t *n);
/* Returns the rows of one opcode; NULL and 0 if it has none. */
const struct isa_row *isa_op_rows(enum op_id op, uint32_t *n);
/* Returns the row with exactly this opcode, these types and this form, or NULL. Used for instructions that lowering
 * creates. */
const struct isa_row *isa_find_row(enum op_id op, enum type t0, enum type t1, uint64_t form);
/* Works as isa_find_row(), with an array of types. */
const struct isa_row *isa_find_row_of(enum op_id op, const uint8_t types[ISA_MAX_TYPES], uint64_t form);
/* Returns the index of a row in isa_rows(), for inst.row. */
uint16_t isa_row_index(const struct isa_row *row);

struct decoded {
    const struct isa_op *op;
    const struct isa_row *row;
    uint16_t row_index;
    enum type types[ISA_MAX_TYPES];
    int n_types;
    uint64_t form;
    enum space space;
    uint8_t vec;                  /* number of elements: 1, 2, 4 or 8 */
    uint8_t hints;                /* HINT_ bits */
    uint8_t cache_op;             /* enum cache_op */
    uint8_t order;                /* ORDER_ bits */
    int64_t bulk;                 /* of bulk instructions: the packed form (bulk.h) */
    uint8_t scale;                /* SCALE_ bits: the modifiers of scaled blocks */
    uint8_t n_layouts, layout[2]; /* layout: the modifiers .row and .col as enum matrix_layout, in the order written */
};

/* Why an opcode was refused: a sentence, and the begin and end of the wrong part of the written opcode. */
struct decode_error {
    uint32_t begin, end;
    char message[256];
    char help[256]; /* "did you mean", or the forms that exist; may be empty */
};

/* Decodes `opcode` of `len` bytes, with its suffixes. Returns false and fills `why` if it does not exist. Modifiers
 * without effect on results (.volatile, .relaxed, .gpu, .L1::evict_last, .aligned, .noftz ...) are accepted where PTX
 * allows them; some become hints. */
bool isa_decode(const char *opcode, uint32_t len, struct decoded *out, struct decode_error *why);

/* Writes the full name of a row, such as "add.rz.ftz.f32". Returns its length. */
int isa_row_name(const struct isa_row *row, char *out, size_t size);
/* Returns the value of a category in a form; 0 if the form does not name the category. */
unsigned form_get(uint64_t form, enum category c);
uint64_t form_put(enum category c, unsigned value);

/* Values of the categories that executors and lowering read. */
enum { RND_NONE, RND_RN, RND_RZ, RND_RM, RND_RP, RND_RNI, RND_RZI, RND_RMI, RND_RPI, RND_RNA, RND_RS };
enum { PART_NONE, PART_LO, PART_HI, PART_WIDE };
enum {
    CMP_NONE,
    CMP_EQ,
    CMP_NE,
    CMP_LT,
    CMP_LE,
    CMP_GT,
    CMP_GE,
    CMP_LO,
    CMP_LS,
    CMP_HI,
    CMP_HS,
    CMP_EQU,
    CMP_NEU,
    CMP_LTU,
    CMP_LEU,
    CMP_GTU,
    CMP_GEU,
    CMP_NUM,
    CMP_NAN
};
enum { APPROX_NONE, APPROX_APPROX, APPROX_FULL };
enum { VEC_NONE, VEC_V2, VEC_V4, VEC_V8 };
enum { GEOM_NONE, GEOM_1D, GEOM_2D, GEOM_3D, GEOM_A1D, GEOM_A2D, GEOM_CUBE, GEOM_ACUBE, GEOM_2DMS, GEOM_A2DMS };
enum { LEVEL_NONE, LEVEL_BASE, LEVEL_LEVEL, LEVEL_GRAD };
/* Words that few opcodes have. The first such word of an opcode is in category MODE, and a second such word in
 * MODE2. */
/* clang-format off */
#define ISA_MODES(X) \
    X(L, "l") X(R, "r") X(F4E, "f4e") X(B4E, "b4e") X(RC8, "rc8") X(ECL, "ecl") X(ECR, "ecr") X(RC16, "rc16") \
    X(UP, "up") X(DOWN, "down") X(BFLY, "bfly") X(IDX, "idx") X(ALL, "all") X(ANY, "any") X(UNI, "uni") \
    X(BALLOT, "ballot") X(ARRIVE, "arrive") X(RED, "red") X(WARP, "warp") X(WAIT, "wait") X(PACK, "pack") \
    X(LAUNCH_DEPENDENTS, "launch_dependents") X(FINITE, "finite") X(INFINITE, "infinite") X(NUMBER, "number") \
    X(NOTANUMBER, "notanumber") X(NORMAL, "normal") X(SUBNORMAL, "subnormal") X(SHR7, "shr7") X(SHR15, "shr15") \
    X(B, "b") X(P, "p") X(A, "a") X(G, "g") X(WIDTH, "width") X(HEIGHT, "height") X(DEPTH, "depth") \
    X(CHANNEL_DATA_TYPE, "channel_data_type") X(CHANNEL_ORDER, "channel_order") \
    X(NORMALIZED_COORDS, "normalized_coords") X(FORCE_UNNORMALIZED, "force_unnormalized_coords") \
    X(FILTER_MODE, "filter_mode") X(ADDR_MODE_0, "addr_mode_0") X(ADDR_MODE_1, "addr_mode_1") \
    X(ADDR_MODE_2, "addr_mode_2") X(ARRAY_SIZE, "array_size") X(NUM_MIPMAP_LEVELS, "num_mipmap_levels") \
    X(NUM_SAMPLES, "num_samples") X(MEMORY_LAYOUT, "memory_layout") X(INIT, "init") X(INVAL, "inval") \
    X(ARRIVE_DROP, "arrive_drop") X(TEST_WAIT, "test_wait") X(TRY_WAIT, "try_wait") \
    X(COMPLETE_TX, "complete_tx") X(PENDING_COUNT, "pending_count") X(MASK, "mask") X(DATA, "data") X(ADDR, "addr") \
    X(C, "c") X(D, "d") X(WALK, "walk")
#define ISA_MODES2(X) \
    X(WRAP, "wrap") X(CLAMP, "clamp") X(TRAP, "trap") X(ZERO, "zero") X(CLUSTER, "cluster") X(PARITY, "parity") \
    X(NOCOMPLETE, "noComplete") X(EXPECT_TX, "expect_tx") X(TEXREF, "texref") X(SAMPLERREF, "samplerref") \
    X(SURFREF, "surfref") X(CA, "ca") X(CG, "cg") X(COMMIT_GROUP, "commit_group") X(WAIT_GROUP, "wait_group") \
    X(WAIT_ALL, "wait_all") X(MBARRIER, "mbarrier") X(MMA_ASYNC, "mma_async") X(ALLOC, "alloc") \
    X(DEALLOC, "dealloc") X(RELINQUISH, "relinquish_alloc_permit") X(LD, "ld") X(ST, "st") X(CP, "cp") \
    X(MULTIPLY, "mma") X(SHIFT, "shift") X(COMMIT_FAR, "#commit_far") X(COMMIT, "commit") \
    X(TRY_CANCEL, "try_cancel") X(QUERY_CANCEL, "query_cancel")
/* More values of MODE2, the shapes of mma and wmma: X(id, word, rows of a and c, columns of b and c, columns of a and
 * rows of b). M8N8 to M16N8 are the shapes of ldmatrix, stmatrix and movmatrix. */
#define ISA_SHAPES(X) \
    X(M8N8K4, m8n8k4, 8, 8, 4) X(M8N8K16, m8n8k16, 8, 8, 16) X(M8N8K32, m8n8k32, 8, 8, 32) \
    X(M8N8K128, m8n8k128, 8, 8, 128) X(M16N8K4, m16n8k4, 16, 8, 4) X(M16N8K8, m16n8k8, 16, 8, 8) \
    X(M16N8K16, m16n8k16, 16, 8, 16) X(M16N8K32, m16n8k32, 16, 8, 32) X(M16N8K64, m16n8k64, 16, 8, 64) \
    X(M16N8K128, m16n8k128, 16, 8, 128) X(M16N8K256, m16n8k256, 16, 8, 256) X(M16N16K16, m16n16k16, 16, 16, 16) \
    X(M32N8K16, m32n8k16, 32, 8, 16) X(M8N32K16, m8n32k16, 8, 32, 16) X(M16N16K8, m16n16k8, 16, 16, 8) \
    X(M8N8, m8n8, 8, 8, 0) X(M8N16, m8n16, 8, 16, 0) X(M16N16, m16n16, 16, 16, 0) X(M16N8, m16n8, 16, 8, 0)
/* clang-format on */
enum {
    MODE_NONE,
#define X(id, word) MODE_##id,
    ISA_MODES(X)
#undef X
};
enum {
    MODE2_NONE,
#define X(id, word) MODE2_##id,
    ISA_MODES2(X)
#undef X
#define X(id, word, m, n, k) MODE2_##id,
        ISA_SHAPES(X)
#undef X
};
enum {
    OPN_NONE,
    OPN_AND,
    OPN_OR,
    OPN_XOR,
    OPN_ADD,
    OPN_MIN,
    OPN_MAX,
    OPN_INC,
    OPN_DEC,
    OPN_CAS,
    OPN_EXCH,
    OPN_POPC,
    OPN_LOAD,
    OPN_STORE,
    OPN_MMA,
    OPN_TRANS
};
enum { NUM_NONE, NUM_X1, NUM_X2, NUM_X4 };
/* How an mma multiplies: numbers of 8 bits and fewer (.kind::), with scaled blocks (KIND_MX...), or single bits
 * (.xor.popc, .and.popc). SPARSE_ORDERED: .sp::ordered_metadata. */
enum { KIND_NONE, KIND_F8F6F4, KIND_MXF8F6F4, KIND_MXF4, KIND_MXF4NVF4, KIND_XOR, KIND_AND };
enum { SPARSE_NONE, SPARSE_SP, SPARSE_ORDERED };
/* Modifiers of scaled blocks: .block_scale, the number of scales of a row (.scale_vec::), and their type. */
enum { SCALE_BLOCK = 1, SCALE_1X = 2, SCALE_2X = 4, SCALE_4X = 8, SCALE_UE8M0 = 16, SCALE_UE4M3 = 32 };
enum matrix_layout { LAYOUT_ROW, LAYOUT_COL };
#endif
