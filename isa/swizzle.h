#ifndef ISA_SWIZZLE_H
#define ISA_SWIZZLE_H
/* Swizzles of shared memory (PTX ISA 9.0, section 5.5.5), for tensor copies and matrix instructions. A swizzle permutes
 * the bytes of each block of shared memory, so that a column of a matrix lies in different banks. It depends only on
 * the shared memory address, not on the place of the matrix. */
#include <stdint.h>

/* The constants have the same values as in the driver's type CUtensorMapSwizzle. */
enum swizzle {
    SWIZZLE_NONE,
    SWIZZLE_32B,      /* swaps units of 16 bytes within 32 bytes; the pattern repeats after 256 bytes */
    SWIZZLE_64B,      /* units of 16 bytes within 64 bytes; repeats after 512 bytes */
    SWIZZLE_128B,     /* units of 16 bytes within 128 bytes; repeats after 1024 bytes */
    SWIZZLE_128B_32B, /* units of 32 bytes within 128 bytes; repeats after 512 bytes */
    /* as SWIZZLE_128B_ATOM_32B, and each second row of 128 bytes also swaps the halves of each 16 bytes */
    SWIZZLE_128B_32B_FLIP_8B,
    SWIZZLE_128B_64B, /* units of 64 bytes within 128 bytes; repeats after 256 bytes */
    N_SWIZZLES
};

/* Returns the shared memory address of the byte that is at `address` without a swizzle. Applying the function twice
 * gives `address` again. The result is in the same 128 bytes, so a check of `address` is enough. */
uint64_t swizzle_address(enum swizzle s, uint64_t address);
/* Returns how many bytes stay together: blocks of this size and alignment move as a whole. SWIZZLE_NONE: 128. */
uint32_t swizzle_unit(enum swizzle s);
/* Returns the bytes after which the pattern repeats, which is also the alignment that shared memory needs so that the
 * first row of a matrix is not swizzled. SWIZZLE_NONE: 128. */
uint32_t swizzle_period(enum swizzle s);
/* Returns the number of bytes within which units move, the largest inner dimension of a tensor copy. SWIZZLE_NONE: 0,
 * no limit. */
uint32_t swizzle_span(enum swizzle s);
#endif
