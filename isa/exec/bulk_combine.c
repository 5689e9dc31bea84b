/* Element operations of bulk reductions. Their results equal those of the atomics of exec_atom.c. */
#include "bulk_combine.h"
#include "isa/decode.h"
#include "isa/softfloat.h"
#include <string.h>

static uint64_t integer(unsigned op, uint64_t x, uint64_t b) {
    switch (op) {
    case OPN_ADD:
        return x + b;
    case OPN_AND:
        return x & b;
    case OPN_OR:
        return x | b;
    case OPN_XOR:
        return x ^ b;
    case OPN_INC: /* inc and dec exist for u32 only */
        return x >= b ? 0 : x + 1;
    case OPN_DEC:
        return x == 0 || x > b ? b : x - 1;
    case OPN_MIN:
        return x < b ? x : b;
    default:
        return x > b ? x : b;
    }
}

static uint64_t signed_integer(unsigned op, int64_t x, int64_t b) {
    if (op == OPN_MIN)
        return (uint64_t)(x < b ? x : b);
    if (op == OPN_MAX)
        return (uint64_t)(x > b ? x : b);
    return integer(op, (uint64_t)x, (uint64_t)b);
}

static float single(unsigned op, float x, float b, bool flush) {
    if (op == OPN_ADD)
        return f32_result(f32_flush(x, flush) + f32_flush(b, flush), flush, false);
    return f32_minmax(x, b, op == OPN_MAX, false, false);
}

static double sum_f64(double x, double b) { return f64_result2(x + b, x, b); }

static uint64_t combine(unsigned op, unsigned type, uint64_t x, uint64_t b) {
    switch (type) {
    case T_F16:
        return f16_from_f32(single(op, f32_from_f16((uint16_t)x), f32_from_f16((uint16_t)b), false), RND_RN);
    case T_BF16:
        return bf16_from_f32(single(op, f32_from_bf16((uint16_t)x), f32_from_bf16((uint16_t)b), false), RND_RN);
    case T_F32:
        return f32_bits(single(op, f32_from_bits((uint32_t)x), f32_from_bits((uint32_t)b), true));
    case T_F64:
        return f64_bits(sum_f64(f64_from_bits(x), f64_from_bits(b)));
    case T_S32:
        return signed_integer(op, (int32_t)x, (int32_t)b);
    case T_S64:
        return signed_integer(op, (int64_t)x, (int64_t)b);
    default:
        return integer(op, x, b);
    }
}

void bulk_combine(unsigned op, unsigned type, unsigned char *to, const unsigned char *from, uint32_t bytes) {
    const unsigned size = type_bytes(type);
    for (uint32_t i = 0; i < bytes; i += size) {
        uint64_t x = 0, b = 0;
        memcpy(&x, to + i, size);
        memcpy(&b, from + i, size);
        x = combine(op, type, x, b);
        memcpy(to + i, &x, size);
    }
}

bool bulk_combines(unsigned op, unsigned type) {
    const bool half = type == T_F16 || type == T_BF16, word = type == T_U32 || type == T_S32;
    const bool wide = type == T_U64 || type == T_S64;
    switch (op) {
    case OPN_ADD:
        return word || wide || half || type == T_F32 || type == T_F64;
    case OPN_MIN:
    case OPN_MAX:
        return word || wide || half;
    case OPN_INC:
    case OPN_DEC:
        return type == T_U32;
    default: /* and, or, xor: integers of 32 and 64 bits */
        return word || wide || type == T_B32 || type == T_B64;
    }
}
