/* Tensor maps of the driver. They describe tensors for the tensor memory accelerator (isa/tensormap.h). */
#include "driver.h"
#include "isa/tensormap.h"

/* The arguments that cuTensorMapEncodeTiled() and cuTensorMapEncodeIm2col() share. */
struct tensor_arguments {
    unsigned type, rank;
    void *address;
    const uint64_t *dim, *stride;
    const uint32_t *step;
    unsigned interleave, swizzle, promotion, fill;
};

/* Fills the fields of `m` that do not depend on the mode. Returns false if an argument is missing or out of range. */
static bool set_common(struct tensor_map *m, const struct tensor_arguments *a) {
    if (a->rank == 0 || a->rank > TENSOR_DIMS || !a->dim || !a->step || (a->rank > 1 && !a->stride))
        return false;
    if (a->type > UINT8_MAX || a->interleave > UINT8_MAX || a->swizzle > UINT8_MAX || a->promotion > UINT8_MAX ||
        a->fill > 1)
        return false;
    *m = (struct tensor_map){.type = (uint8_t)a->type,
                             .rank = (uint8_t)a->rank,
                             .interleave = (uint8_t)a->interleave,
                             .swizzle = (uint8_t)a->swizzle,
                             .promotion = (uint8_t)a->promotion,
                             .fills_nan = a->fill != 0,
                             .address = (uintptr_t)a->address};
    for (unsigned i = 0; i < TENSOR_DIMS; i++) {
        m->dim[i] = i < a->rank ? a->dim[i] : 1;
        m->step[i] = i < a->rank ? a->step[i] : 1;
        m->box[i] = 1;
        m->stride[i] = i && i < a->rank ? a->stride[i - 1] : 0;
    }
    return true;
}

static enum cuda_error finish(unsigned char *out, const struct tensor_map *m) {
    if (!out || (uintptr_t)out % TENSOR_MAP_ALIGN || tensor_map_wrong(m))
        return CUDA_ErrorInvalidValue;
    tensor_map_write(m, out);
    return CUDA_Success;
}

static enum cuda_error encode_tiled(unsigned char *out, const struct tensor_arguments *a, const uint32_t *box) {
    struct tensor_map m;
    if (!box || !set_common(&m, a))
        return CUDA_ErrorInvalidValue;
    for (unsigned i = 0; i < a->rank; i++)
        m.box[i] = box[i];
    return finish(out, &m);
}

CUDA_API enum cuda_error cuTensorMapEncodeTiled(unsigned char *out, unsigned type, uint32_t rank, void *address,
                                                const uint64_t *dim, const uint64_t *stride, const uint32_t *box,
                                                const uint32_t *step, unsigned interleave, unsigned swizzle,
                                                unsigned promotion, unsigned fill) {
    const struct tensor_arguments a = {type, rank, address, dim, stride, step, interleave, swizzle, promotion, fill};
    DRIVER_READY(encode_tiled(out, &a, box));
}

static enum cuda_error encode_im2col(unsigned char *out, const struct tensor_arguments *a, const int *lower,
                                     const int *upper, uint32_t channels, uint32_t pixels) {
    struct tensor_map m;
    if (!lower || !upper || a->rank < 3 || !set_common(&m, a))
        return CUDA_ErrorInvalidValue;
    m.im2col = TENSOR_COLUMNS_ALL;
    m.channels = channels;
    m.pixels = pixels;
    for (unsigned i = 0; i < a->rank - 2; i++) {
        m.lower[i] = lower[i];
        m.upper[i] = upper[i];
    }
    return finish(out, &m);
}

CUDA_API enum cuda_error cuTensorMapEncodeIm2col(unsigned char *out, unsigned type, uint32_t rank, void *address,
                                                 const uint64_t *dim, const uint64_t *stride, const int *lower,
                                                 const int *upper, uint32_t channels, uint32_t pixels,
                                                 const uint32_t *step, unsigned interleave, unsigned swizzle,
                                                 unsigned promotion, unsigned fill) {
    const struct tensor_arguments a = {type, rank, address, dim, stride, step, interleave, swizzle, promotion, fill};
    DRIVER_READY(encode_im2col(out, &a, lower, upper, channels, pixels));
}

/* Encodes columns along W. `mode`: 0: as many pixels as `pixels` says; 1: 128. */
static enum cuda_error encode_wide(unsigned char *out, const struct tensor_arguments *a, int lower, int upper,
                                   uint32_t channels, uint32_t pixels, unsigned mode) {
    struct tensor_map m;
    if (a->rank < 3 || mode > 1 || !set_common(&m, a))
        return CUDA_ErrorInvalidValue;
    m.im2col = mode ? TENSOR_COLUMNS_WIDE_128 : TENSOR_COLUMNS_WIDE;
    m.channels = channels;
    m.pixels = mode ? 0 : pixels;
    m.lower[0] = lower;
    m.upper[0] = upper;
    return finish(out, &m);
}

CUDA_API enum cuda_error cuTensorMapEncodeIm2colWide(unsigned char *out, unsigned type, uint32_t rank, void *address,
                                                     const uint64_t *dim, const uint64_t *stride, int lower, int upper,
                                                     uint32_t channels, uint32_t pixels, const uint32_t *step,
                                                     unsigned interleave, unsigned mode, unsigned swizzle,
                                                     unsigned promotion, unsigned fill) {
    const struct tensor_arguments a = {type, rank, address, dim, stride, step, interleave, swizzle, promotion, fill};
    DRIVER_READY(encode_wide(out, &a, lower, upper, channels, pixels, mode));
}

static enum cuda_error replace_address(unsigned char *map, void *address) {
    struct tensor_map m;
    if (!map || !tensor_map_read(map, &m))
        return CUDA_ErrorInvalidValue;
    m.address = (uintptr_t)address;
    return finish(map, &m);
}

CUDA_API enum cuda_error cuTensorMapReplaceAddress(unsigned char *map, void *address) {
    DRIVER_READY(replace_address(map, address));
}
