#ifndef ISA_TENSORMAP_H
#define ISA_TENSORMAP_H
/* Tensor maps: descriptions of a tensor in global memory and of the box that one copy moves (CUDA driver API, "Tensor
 * Map Object Management"; PTX ISA 9.0, sections 5.5 and 9.7.9.28). CUtensorMap has 128 opaque bytes. Heddle has an
 * encoding of its own in them, with a version and a checksum, so that other bytes are recognised. */
#include "swizzle.h"
#include <stdbool.h>
#include <stdint.h>

enum { TENSOR_MAP_BYTES = 128, TENSOR_MAP_ALIGN = 64, TENSOR_DIMS = 5 };

/* The constants have the same values as in the driver's type CUtensorMapDataType. */
enum tensor_type {
    TENSOR_U8,
    TENSOR_U16,
    TENSOR_U32,
    TENSOR_S32,
    TENSOR_U64,
    TENSOR_S64,
    TENSOR_F16,
    TENSOR_F32,
    TENSOR_F64,
    TENSOR_BF16,
    TENSOR_F32_FTZ,
    TENSOR_TF32,
    TENSOR_TF32_FTZ,
    TENSOR_16U4_ALIGN8B,  /* numbers of 4 bits without gaps */
    TENSOR_16U4_ALIGN16B, /* of 4 bits; in shared memory, 8 bytes of padding follow 16 numbers */
    TENSOR_16U6_ALIGN16B, /* of 6 bits; in shared memory, 4 bytes of padding follow 16 numbers */
    N_TENSOR_TYPES
};
enum tensor_interleave { TENSOR_NOT_INTERLEAVED, TENSOR_16B, TENSOR_32B, N_TENSOR_INTERLEAVES };

/* The kind of a map's im2col columns. TILED: the map has no columns. ALL: a column has pixels along all spatial
 * dimensions. WIDE: along W only. WIDE_128: 128 pixels along W. */
enum tensor_columns { TENSOR_TILED, TENSOR_COLUMNS_ALL, TENSOR_COLUMNS_WIDE, TENSOR_COLUMNS_WIDE_128 };

struct tensor_map {
    uint8_t type, rank, interleave, swizzle; /* enum tensor_type, tensor_interleave, swizzle */
    uint8_t promotion;                       /* CUtensorMapL2promotion; without effect */
    bool fills_nan;                          /* elements outside the tensor are read as NaN, else as 0 */
    uint8_t im2col;                          /* enum tensor_columns */
    uint64_t address;
    uint64_t dim[TENSOR_DIMS];
    uint64_t stride[TENSOR_DIMS]; /* bytes from one element to the next along a dimension; stride[0] is not used */
    uint32_t box[TENSOR_DIMS];    /* tiled */
    uint32_t step[TENSOR_DIMS];   /* element strides */
    /* im2col: offsets of the corners of the bounding box, in the order W, H, D; elements along C and pixels */
    int32_t lower[3], upper[3];
    uint32_t channels, pixels;
};

/* Returns the bytes of an element. Returns 1 for numbers of 4 and 6 bits. */
uint32_t tensor_element(enum tensor_type t);
static inline bool tensor_is_packed(enum tensor_type t) { return t >= TENSOR_16U4_ALIGN8B; }
/* Return the bits of an element in global and in shared memory, where padding counts as part of the elements. */
uint32_t tensor_global_bits(enum tensor_type t);
uint32_t tensor_shared_bits(enum tensor_type t);
/* Returns NULL if the map obeys all rules of cuTensorMapEncodeTiled(), cuTensorMapEncodeIm2col() or
 * cuTensorMapEncodeIm2colWide(); else the rule. */
const char *tensor_map_wrong(const struct tensor_map *m);
/* Writes and reads the 128 bytes. tensor_map_read() returns false if the bytes are no tensor map of this version. */
void tensor_map_write(const struct tensor_map *m, unsigned char raw[TENSOR_MAP_BYTES]);
bool tensor_map_read(const unsigned char raw[TENSOR_MAP_BYTES], struct tensor_map *m);

/* The place of a copy in a tensor: coordinates (for gather4 and scatter4: a column and four rows) and im2col offsets.
 * WIDE is for both wide modes; its offsets are wHalo and wOffset. */
enum tensor_mode { TENSOR_TILE, TENSOR_ROWS4, TENSOR_IM2COL, TENSOR_WIDE };
struct tensor_place {
    enum tensor_mode mode;
    int32_t at[TENSOR_DIMS];
    uint32_t offset[3];
};
/* A part of a box that is contiguous in global memory. */
struct tensor_part {
    uint64_t global; /* device address; not set outside the tensor */
    uint32_t offset; /* in the box in shared memory, before the swizzle */
    uint32_t bytes;  /* bytes in shared memory; without the padding of packed types, global memory has fewer */
    bool inside;     /* false: the part is outside the tensor */
};
/* Calls `part` for each part of a box in order of offsets, until it returns false. Returns false if a call did. */
typedef bool tensor_part_fn(void *ctx, const struct tensor_part *p);
bool tensor_walk(const struct tensor_map *m, const struct tensor_place *p, tensor_part_fn *part, void *ctx);
/* Returns the number of bytes of a box, including elements outside the tensor: an mbarrier counts this number. Requires
 * that tensor_place_wrong() accepts the place, as tensor_box_span() does. */
uint32_t tensor_box_bytes(const struct tensor_map *m, const struct tensor_place *p);
/* Returns the bytes of shared memory from the first to the last byte of a box. A row shorter than the swizzle's span
 * fills the whole span (our reading of the manual). */
uint32_t tensor_box_span(const struct tensor_map *m, const struct tensor_place *p);
/* Checks whether the map can be used for this place with `dims` dimensions, and whether its box fits into shared
 * memory. Returns NULL if so, or the reason why not. `wide_128`: the mode is .im2col::w::128. */
const char *tensor_place_wrong(const struct tensor_map *m, const struct tensor_place *p, unsigned dims, bool wide_128);
/* Returns the bytes in global memory of a part that has `bytes` bytes in shared memory. */
uint32_t tensor_global_bytes(const struct tensor_map *m, uint32_t bytes);
#endif
