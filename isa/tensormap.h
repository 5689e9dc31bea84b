#ifndef ISA_TENSORMAP_H
#define ISA_TENSORMAP_H
/* Tensor maps: descriptions of a tensor in global memory and of the box that one copy moves (CUDA driver API, "Tensor
 * Map Object Management"; PTX ISA 9.0, sections 5.5 and 9.7.9.28). CUtensorMap has 128 opaque bytes. Heddle has an
 * encoding of its own in them, with a version and a checksum, so that other bytes are recognised. */
#include "swizzle.h"
#include <stdbool.h>
#include <stdint.h>

enum { TENSOR_MAP_BYTES = 128, TENSOR_MAP_ALIGN = 64, TENSOR_DIMS = 5 };

/* The numbers of these constants are those of the driver's type CUtensorMapDataType. */
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
    N_TENSOR_TYPES, /* the packed types of 4 and 6 bits follow, which are not supported */
};
enum tensor_interleave { TENSOR_NOT_INTERLEAVED, TENSOR_16B, TENSOR_32B, N_TENSOR_INTERLEAVES };

struct tensor_map {
    uint8_t type, rank, interleave, swizzle; /* enum tensor_type, tensor_interleave, swizzle */
    uint8_t promotion;                       /* CUtensorMapL2promotion; without effect */
    bool fills_nan;                          /* elements outside the tensor are read as NaN, else as 0 */
    bool im2col;
    uint64_t address;
    uint64_t dim[TENSOR_DIMS];
    uint64_t stride[TENSOR_DIMS]; /* bytes from one element to the next along a dimension; stride[0] is not used */
    uint32_t box[TENSOR_DIMS];    /* tiled */
    uint32_t step[TENSOR_DIMS];   /* element strides */
    /* im2col: offsets of the corners of the bounding box, in the order W, H, D; elements along C and pixels */
    int32_t lower[3], upper[3];
    uint32_t channels, pixels;
};

/* Returns the number of bytes of an element. */
uint32_t tensor_element(enum tensor_type t);
/* Checks a map. Returns NULL if the map obeys all rules of cuTensorMapEncodeTiled() or cuTensorMapEncodeIm2col(), else
 * a text that states the rule that the map breaks. */
const char *tensor_map_wrong(const struct tensor_map *m);
/* Writes and reads the 128 bytes. tensor_map_read() returns false if the bytes are no tensor map of this version. */
void tensor_map_write(const struct tensor_map *m, unsigned char raw[TENSOR_MAP_BYTES]);
bool tensor_map_read(const unsigned char raw[TENSOR_MAP_BYTES], struct tensor_map *m);

/* Where a copy is in a tensor: coordinates (for gather4 and scatter4: a column and four rows) and im2col offsets. */
enum tensor_mode { TENSOR_TILE, TENSOR_ROWS4, TENSOR_IM2COL };
struct tensor_place {
    enum tensor_mode mode;
    int32_t at[TENSOR_DIMS];
    uint32_t offset[3];
};
/* A part of a box that is contiguous in global memory. */
struct tensor_part {
    uint64_t global; /* device address; not set for elements outside the tensor */
    uint32_t offset; /* offset in the box in shared memory, before the swizzle */
    uint32_t bytes;
    bool inside; /* false: outside the tensor */
};
/* Calls `part` for each part of a box in order of offsets, until it returns false. Returns false if a call did. */
typedef bool tensor_part_fn(void *ctx, const struct tensor_part *p);
bool tensor_walk(const struct tensor_map *m, const struct tensor_place *p, tensor_part_fn *part, void *ctx);
/* Returns the number of bytes of a box, including elements outside the tensor: an mbarrier counts this number. Requires
 * that tensor_mode_wrong() accepts the map, as tensor_box_span() does. */
uint32_t tensor_box_bytes(const struct tensor_map *m, enum tensor_mode mode);
/* Returns the bytes of shared memory from the first to the last byte of a box. A row shorter than the swizzle's span
 * fills the whole span (our reading of the manual). */
uint32_t tensor_box_span(const struct tensor_map *m, enum tensor_mode mode);
/* Checks whether the map can be used in this mode with `dims` dimensions, and whether its box fits into shared memory.
 * Returns NULL if so, else the reason why not. */
const char *tensor_mode_wrong(const struct tensor_map *m, enum tensor_mode mode, unsigned dims);
#endif
