/* Operations by which streams write values into memory and wait for values. All earlier work is done, so either a
 * wait finds its value immediately, or it would wait forever. The latter is reported as an error. */
#include "core_graph_parts.h"

enum { FLUSH = 3, BARRIER = 6 };
enum { UNTIL_GREATER, UNTIL_EQUAL, UNTIL_AND, UNTIL_NOR, AND_FLUSH = 1 << 30, NO_BARRIER = 1 };

static bool holds(unsigned how, uint64_t is, uint64_t value, unsigned bits) {
    uint64_t mask = bits == 32 ? UINT32_MAX : UINT64_MAX, difference = is - value;
    switch (how) {
    case UNTIL_GREATER:
        return bits == 32 ? (int32_t)difference >= 0 : (int64_t)difference >= 0;
    case UNTIL_EQUAL:
        return ((is ^ value) & mask) == 0;
    case UNTIL_AND:
        return (is & value & mask) != 0;
    default:
        return (~(is | value) & mask) != 0;
    }
}

static enum cuda_error wait_for(uint64_t address, uint64_t value, unsigned flags, unsigned bits) {
    static bool printed;
    uint64_t is = 0;
    unsigned how = flags & ~(unsigned)AND_FLUSH;
    if (how > UNTIL_NOR || address % (bits / 8))
        return CUDA_ErrorInvalidValue;
    if (heddle_read(cuda_core.h, address, &is, bits / 8) != HEDDLE_OK)
        return cuda_complain("cuStreamWaitValue", CUDA_ErrorInvalidValue);
    if (holds(how, is, value, bits))
        return CUDA_Success;
    if (!printed)
        fprintf(stderr,
                "heddle: cuStreamWaitValue%u: the value at 0x%llx is 0x%llx, and nothing that was called before can "
                "still change it: streams do not run beside the program\n",
                bits, (unsigned long long)address, (unsigned long long)is);
    printed = true;
    return CUDA_ErrorNotSupported;
}

static enum cuda_error write_to(uint64_t address, uint64_t value, unsigned flags, unsigned bits) {
    if (flags & ~(unsigned)NO_BARRIER || address % (bits / 8))
        return CUDA_ErrorInvalidValue;
    return heddle_write(cuda_core.h, address, &value, bits / 8) == HEDDLE_OK
               ? CUDA_Success
               : cuda_complain("cuStreamWriteValue", CUDA_ErrorInvalidValue);
}

static enum cuda_error operate(const union cuda_operation *o) {
    switch (o->kind) {
    case WAIT_32:
    case WAIT_64:
        return wait_for(o->value.address, o->value.value, o->value.flags, o->kind == WAIT_32 ? 32 : 64);
    case WRITE_32:
    case WRITE_64:
        return write_to(o->value.address, o->value.value, o->value.flags, o->kind == WRITE_32 ? 32 : 64);
    case FLUSH:
    case BARRIER:
        return CUDA_Success;
    default:
        return CUDA_ErrorInvalidValue;
    }
}

enum cuda_error cuda_stream_operate(struct cuda_stream *s, unsigned n, const union cuda_operation *list,
                                    unsigned flags) {
    CUDA_LOCK;
    enum { MOST = 256 };
    if (n > MOST || (n && !list) || flags)
        return CUDA_ErrorInvalidValue;
    if (cuda_capturing(s))
        return cuda_capture_spoil(s);
    enum cuda_error e = CUDA_Success;
    for (unsigned i = 0; !e && i < n; i++)
        e = operate(&list[i]);
    return e;
}

enum cuda_error cuda_stream_operate_one(struct cuda_stream *s, int kind, uint64_t address, uint64_t value,
                                        unsigned flags) {
    CUDA_LOCK;
    return cuda_stream_operate(s, 1, &(union cuda_operation){.value = {kind, address, value, flags}}, 0);
}
