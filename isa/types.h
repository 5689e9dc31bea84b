#ifndef ISA_TYPES_H
#define ISA_TYPES_H
/* Definitions that all stages share: lanes, types, and limits of a launch. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* WARP_LANES: lanes of a row, which is what one register holds for executors. A warp of a launch has launch_lanes()
 * lanes, a power of two from MIN_WARP_LANES to MAX_WARP_LANES: a part of a row, or two rows (struct warp). Code that
 * computes whole rows also computes lanes without a thread; no result of such a lane is used. */
enum { WARP_LANES = 32, MIN_WARP_LANES = 4, MAX_WARP_LANES = 64 };

typedef uint32_t rowmask_t;                /* bit l: lane l of a row */
typedef uint64_t lanemask_t;               /* bit l: lane l of a warp */
#define LANES_ALL ((rowmask_t)0xffffffffu) /* all lanes of a row */

/* Returns the number of lanes in a mask. */
static inline unsigned lanes_count(lanemask_t m) { return (unsigned)__builtin_popcountll(m); }
/* Returns the lowest lane of a mask that is not empty. */
static inline unsigned lanes_first(lanemask_t m) { return (unsigned)__builtin_ctzll(m); }

/* X(id, spelling, bytes, class): the fundamental types. Class: u s f b (bits) p (predicate) n (none). */
/* clang-format off */
#define ISA_TYPES(X)                                                                                                   \
    X(NONE, "", 0, 'n')                                                                                                \
    X(U8, ".u8", 1, 'u') X(U16, ".u16", 2, 'u') X(U32, ".u32", 4, 'u') X(U64, ".u64", 8, 'u')                          \
    X(S8, ".s8", 1, 's') X(S16, ".s16", 2, 's') X(S32, ".s32", 4, 's') X(S64, ".s64", 8, 's')                          \
    X(B8, ".b8", 1, 'b') X(B16, ".b16", 2, 'b') X(B32, ".b32", 4, 'b') X(B64, ".b64", 8, 'b')                          \
    X(B128, ".b128", 16, 'b')                                                                                          \
    X(F16, ".f16", 2, 'f') X(F16X2, ".f16x2", 4, 'f') X(BF16, ".bf16", 2, 'f') X(BF16X2, ".bf16x2", 4, 'f')            \
    X(F32, ".f32", 4, 'f') X(F64, ".f64", 8, 'f') X(TF32, ".tf32", 4, 'f')                                             \
    X(E4M3X2, ".e4m3x2", 2, 'f') X(E5M2X2, ".e5m2x2", 2, 'f') X(E2M3X2, ".e2m3x2", 2, 'f')                             \
    X(E3M2X2, ".e3m2x2", 2, 'f') X(E2M1X2, ".e2m1x2", 1, 'f') X(UE8M0X2, ".ue8m0x2", 2, 'f')                           \
    X(E4M3X4, ".e4m3x4", 4, 'f') X(E5M2X4, ".e5m2x4", 4, 'f') X(E2M3X4, ".e2m3x4", 4, 'f')                             \
    X(E3M2X4, ".e3m2x4", 4, 'f') X(E2M1X4, ".e2m1x4", 2, 'f') X(F32X2, ".f32x2", 8, 'f')                               \
    X(U4, ".u4", 1, 'u') X(S4, ".s4", 1, 's') X(U2, ".u2", 1, 'u') X(S2, ".s2", 1, 's')                                \
    X(E4M3, ".e4m3", 1, 'f') X(E5M2, ".e5m2", 1, 'f') X(E3M2, ".e3m2", 1, 'f') X(E2M3, ".e2m3", 1, 'f')                \
    X(E2M1, ".e2m1", 1, 'f') X(B1, ".b1", 1, 'b') X(B8X16, ".b8x16", 16, 'b')                                          \
    X(B6X16_P32, ".b6x16_p32", 16, 'b') X(B4X16_P64, ".b4x16_p64", 16, 'b')                                            \
    X(U16X2, ".u16x2", 4, 'u') X(S16X2, ".s16x2", 4, 's') X(PRED, ".pred", 0, 'p')
/* clang-format on */

enum type {
#define X(id, name, bytes, class) T_##id,
    ISA_TYPES(X)
#undef X
        N_TYPES
};

/* Returns the spelling of a type, such as ".u32"; "" for T_NONE. */
const char *type_name(enum type t);
/* Returns the bytes of one lane's value; 0 for T_PRED and T_NONE. */
unsigned type_bytes(enum type t);
/* Returns the class of a type: u s f b p or n, see ISA_TYPES. */
char type_class(enum type t);
/* Returns the type with the spelling `name` (including the dot), T_NONE if there is none. */
enum type type_named(const char *name);

enum space { SPACE_GENERIC, SPACE_GLOBAL, SPACE_SHARED, SPACE_LOCAL, SPACE_CONST, SPACE_PARAM, SPACE_TEX, N_SPACES };
const char *space_name(enum space s);

struct dim3 {
    uint32_t x, y, z;
};

/* Limits of a launch (CUDA programming guide, table of technical specifications, compute capability 5.0 to 9.0). */
enum {
    MAX_CTA_THREADS = 1024,
    MAX_BLOCK_X = 1024,
    MAX_BLOCK_Y = 1024,
    MAX_BLOCK_Z = 64,
    MAX_GRID_Y = 65535,
    MAX_GRID_Z = 65535,
    MAX_CTA_WARPS = MAX_CTA_THREADS / MIN_WARP_LANES,
    GROUP_WARPS = 4, /* warps of a warp group, which execute wgmma together */
    MAX_SHARED_BYTES = 227 * 1024,
    MAX_PARAM_BYTES = 32764,
    PORTABLE_CLUSTER_CTAS = 8, /* CTAs of a cluster on every GPU with clusters */
    MAX_CLUSTER_CTAS = 16,     /* the same limit if the kernel allows cluster sizes that are not portable */
    MAX_NAMED_BARRIERS = 16,
    CLUSTER_BARRIER = MAX_NAMED_BARRIERS, /* lanes of barrier.cluster.wait wait at this barrier number, which follows
                                           * the 16 named barriers */
    GROUP_BARRIERS,                       /* the barriers of warp groups, at which their wgmma.wait_group meet */
    N_CTA_BARRIERS = GROUP_BARRIERS + MAX_CTA_THREADS / (GROUP_WARPS * WARP_LANES),
};

/* Generic addresses. Device memory lies above both windows, and starts low enough for 32-bit modules. */
#define SHARED_WINDOW 0x01000000ull /* generic address of shared byte 0; the window is 16 MiB */
#define LOCAL_WINDOW  0x02000000ull /* generic address of a thread's local byte 0; the window is 224 MiB */
#define DEVICE_BASE   0x10000000ull /* lowest device (global, constant) address */
#define PARAM_WINDOW  0x00f00000ull /* generic address of byte 0 of the kernel's parameters */
/* address of function 0 of a module; the addresses of successive functions differ by 16 */
#define CODE_BASE 0x00001000ull
#endif
