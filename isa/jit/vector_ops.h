#ifndef ISA_JIT_VECTOR_OPS_H
#define ISA_JIT_VECTOR_OPS_H
/* Opcodes of vector instructions for emit_vector(), in the encoding of VECTOR(). lanes.c has the opcodes that only one
 * of AVX-512 and AVX2 has. */
#include "jit_emit.h"

/* No mask: all lanes. */
#define WHOLE ((struct lanes){0, false})

/* A number in a name is the element's size in bits; S: signed. */
#define V_LOAD        VECTOR(1, 0, 0, 0x10) /* vmovups */
#define V_STORE       VECTOR(1, 0, 0, 0x11)
#define V_LOAD64      VECTOR(1, 1, 1, 0x10) /* vmovupd: for masks of 64-bit elements */
#define V_COPY32      VECTOR(1, 1, 0, 0x6f) /* vmovdqa32; with a mask it merges */
#define V_COPY64      VECTOR(1, 1, 1, 0x6f)
#define V_LOAD_SAME32 (VECTOR(2, 1, 0, 0x18) | VECTOR_ELEMENT)                 /* vbroadcastss from memory */
#define V_LOAD_SAME64 (VECTOR(2, 1, 1, 0x19) | VECTOR_ELEMENT | VECTOR_EVEX_W) /* vbroadcastsd */
#define V_BROADCAST32 (VECTOR(2, 1, 0, 0x58) | VECTOR_ELEMENT) /* vpbroadcastd from a vector or memory */
#define V_BROADCAST64 (VECTOR(2, 1, 1, 0x59) | VECTOR_ELEMENT | VECTOR_EVEX_W)
#define V_XOR         VECTOR(1, 1, 0, 0xef)
#define V_AND         VECTOR(1, 1, 0, 0xdb)
#define V_ANDNOT      VECTOR(1, 1, 0, 0xdf) /* ~second & third */
#define V_OR          VECTOR(1, 1, 0, 0xeb)
#define V_OR64        VECTOR(1, 1, 1, 0xeb) /* vporq: for masks of 64-bit elements */
#define V_ADD32       VECTOR(1, 1, 0, 0xfe)
#define V_SUB32       VECTOR(1, 1, 0, 0xfa)
#define V_ADD64       VECTOR(1, 1, 1, 0xd4)
#define V_SUB64       VECTOR(1, 1, 1, 0xfb)
#define V_MUL32       VECTOR(2, 1, 0, 0x40)                   /* vpmulld */
#define V_MUL64       VECTOR(2, 1, 1, 0x40)                   /* vpmullq */
#define V_WIDE_U32    VECTOR(1, 1, 1, 0xf4)                   /* vpmuludq */
#define V_WIDE_S32    (VECTOR(2, 1, 1, 0x28) | VECTOR_EVEX_W) /* vpmuldq */
#define V_MIN_U32     VECTOR(2, 1, 0, 0x3b)                   /* vpminud */
#define V_SHL32       VECTOR(2, 1, 0, 0x47)                   /* vpsllvd */
#define V_SHR32       VECTOR(2, 1, 0, 0x45)                   /* vpsrlvd */
#define V_SHR64       VECTOR(2, 1, 1, 0x45)                   /* vpsrlvq */
#define V_SHR64S      VECTOR(2, 1, 1, 0x46)                   /* vpsravq */
#define V_SHIFT32     VECTOR(1, 1, 0, 0x72) /* shift by an immediate; reg: SHIFT_x, second: the destination */
#define V_SHIFT64     VECTOR(1, 1, 1, 0x73)
#define V_ABS64       VECTOR(2, 1, 1, 0x1f)                /* vpabsq */
#define V_F32_S32     VECTOR(1, 0, 0, 0x5b)                /* vcvtdq2ps */
#define V_F32_U32     VECTOR(1, 3, 0, 0x7a)                /* vcvtudq2ps */
#define V_FMA231      VECTOR(2, 1, 0, 0xb8)                /* reg = second * third + reg; f64 if W is set */
#define V_FMA213      VECTOR(2, 1, 0, 0xa8)                /* reg = second * reg + third */
#define V_LOW32       VECTOR(2, 1, 0, 0x35)                /* vpmovzxdq */
#define V_LOW32S      VECTOR(2, 1, 0, 0x25)                /* vpmovsxdq */
#define V_TO_GPR32    (VECTOR(1, 1, 0, 0x7e) | VECTOR_128) /* vmovd; reg is the source */
#define V_TO_GPR64    (VECTOR(1, 1, 1, 0x7e) | VECTOR_128)
#define V_MIN_F32     VECTOR(1, 0, 0, 0x5d) /* returns the third operand if one is a NaN or both are zeros */
#define V_MAX_F32     VECTOR(1, 0, 0, 0x5f)
#define V_CMP_F32     VECTOR(1, 0, 0, 0xc2)
#define V_CMP_F64     VECTOR(1, 1, 1, 0xc2)
#define V_MUL16       VECTOR(1, 1, 0, 0xd5) /* vpmullw */
#define V_CMP_U16     VECTOR(3, 1, 1, 0x3e) /* AVX-512 only */
#define V_CMP_S16     VECTOR(3, 1, 1, 0x3f)
#define V_CMP_U32     VECTOR(3, 1, 0, 0x1e)
#define V_CMP_U64     VECTOR(3, 1, 1, 0x1e)
#define V_CMP_S32     VECTOR(3, 1, 0, 0x1f)
#define V_CMP_S64     VECTOR(3, 1, 1, 0x1f)
#define V_GATHER32    VECTOR(2, 1, 0, 0x90) /* vpgatherdd */
#define V_GATHER64    VECTOR(2, 1, 1, 0x91) /* vpgatherqq */
#define V_GATHERQ32   VECTOR(2, 1, 0, 0x91) /* vpgatherqd */
/* added to the opcode of a gather, gives the opcode of the scatter (0x10 higher); reg is the source */
#define V_TO_SCATTER  0x100000u
#define CMP_UNORDERED 3
/* ROTATE_x: AVX-512 only */
enum { ROTATE_RIGHT = 0, ROTATE_LEFT = 1, SHIFT_RIGHT = 2, SHIFT_RIGHT_SIGNED = 4, SHIFT_LEFT = 6 };
#endif
