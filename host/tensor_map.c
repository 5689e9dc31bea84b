/* Tensor maps of the library. */
#include "context.h"
#include "isa/tensormap.h"

_Static_assert((int)HEDDLE_TENSOR_MAP_BYTES == (int)TENSOR_MAP_BYTES, "heddle.h has the size of a tensor map");
_Static_assert((int)HEDDLE_TENSOR_F16 == (int)TENSOR_F16 && (int)HEDDLE_TENSOR_BF16 == (int)TENSOR_BF16,
               "heddle.h has the numbers of types");
_Static_assert((int)HEDDLE_SWIZZLE_128B == (int)SWIZZLE_128B, "heddle.h has the numbers of swizzles");

enum heddle_status heddle_tensor_map(struct heddle *h, const struct heddle_tensor *t,
                                     unsigned char map[HEDDLE_TENSOR_MAP_BYTES]) {
    if (!context_enter(h) || !given(h, t, "the tensor") || !given(h, map, "the tensor map"))
        return HEDDLE_USAGE;
    if (t->dims < 1 || t->dims > TENSOR_DIMS || (unsigned)t->type > TENSOR_BF16 ||
        (unsigned)t->swizzle > HEDDLE_SWIZZLE_128B)
        return fail(h, HEDDLE_USAGE, "a tensor has 1 to %d dimensions, a type and a swizzle of heddle.h", TENSOR_DIMS);
    struct tensor_map m = {
        .type = (uint8_t)t->type, .rank = (uint8_t)t->dims, .swizzle = (uint8_t)t->swizzle, .address = t->data};
    for (uint32_t i = 0; i < TENSOR_DIMS; i++) {
        const bool used = i < t->dims;
        m.dim[i] = used ? t->size[i] : 1;
        m.box[i] = used ? t->box[i] : 1;
        m.stride[i] = used && i ? t->stride[i] : 0;
        m.step[i] = 1;
    }
    const char *wrong = tensor_map_wrong(&m);
    if (wrong)
        return fail(h, HEDDLE_USAGE, "this tensor map cannot be: %s", wrong);
    tensor_map_write(&m, map);
    return HEDDLE_OK;
}
