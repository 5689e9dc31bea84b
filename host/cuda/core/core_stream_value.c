/* Operations by which streams write values into memory and wait for values. */
#include "core_graph_parts.h"
#include <stdlib.h>
#include <string.h>

/* Operations of one call. */
struct cuda_values {
    unsigned n;
    union cuda_operation list[];
};

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

/* Stands until the value in memory satisfies the comparison, or a kernel has left a fault. */
static enum cuda_error wait_for(uint64_t address, uint64_t value, unsigned flags, unsigned bits) {
    uint64_t is = 0;
    for (bool first = true;; first = false) {
        if (heddle_read(cuda_core.h, address, &is, bits / 8) != HEDDLE_OK)
            return cuda_complain("cuStreamWaitValue", CUDA_ErrorInvalidValue);
        if (holds(flags & ~(unsigned)AND_FLUSH, is, value, bits))
            return CUDA_Success;
        if (cuda_core.sticky)
            return cuda_core.sticky;
        if (!cuda_runner_stands(NULL, first))
            break;
    }
    fprintf(stderr, "heddle: cuStreamWaitValue%u: deadlock: the value at 0x%llx stays 0x%llx\n", bits,
            (unsigned long long)address, (unsigned long long)is);
    cuda_runner_describe_others();
    return CUDA_ErrorLaunchTimeout;
}

static enum cuda_error write_to(uint64_t address, uint64_t value, unsigned bits) {
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
        return write_to(o->value.address, o->value.value, o->kind == WRITE_32 ? 32 : 64);
    default:
        return CUDA_Success;
    }
}

static enum cuda_error operate_all(const union cuda_operation *list, unsigned n) {
    enum cuda_error e = CUDA_Success;
    for (unsigned i = 0; !e && i < n; i++)
        e = operate(&list[i]);
    return e;
}

static enum cuda_error run(const void *values) {
    const struct cuda_values *v = values;
    return operate_all(v->list, v->n);
}

static bool is_valid(const union cuda_operation *o) {
    const unsigned flags = o->value.flags;
    if (o->kind != FLUSH && o->kind != BARRIER && !heddle_buffer(cuda_core.h, o->value.address, NULL, NULL, NULL))
        return false;
    switch (o->kind) {
    case WAIT_32:
    case WAIT_64:
        return (flags & ~(unsigned)AND_FLUSH) <= UNTIL_NOR && o->value.address % (o->kind == WAIT_32 ? 4 : 8) == 0;
    case WRITE_32:
    case WRITE_64:
        return !(flags & ~(unsigned)NO_BARRIER) && o->value.address % (o->kind == WRITE_32 ? 4 : 8) == 0;
    default:
        return o->kind == FLUSH || o->kind == BARRIER;
    }
}

enum cuda_error cuda_stream_operate(struct cuda_stream *s, unsigned n, const union cuda_operation *list,
                                    unsigned flags) {
    CUDA_LOCK;
    enum { MOST = 256 };
    bool valid = n <= MOST && (!n || list) && !flags, waits = false;
    for (unsigned i = 0; valid && i < n; i++) {
        valid = is_valid(&list[i]);
        waits |= list[i].kind == WAIT_32 || list[i].kind == WAIT_64;
    }
    if (!valid)
        return CUDA_ErrorInvalidValue;
    if (cuda_capturing(s))
        return cuda_capture_spoil(s);
    if (!waits && !cuda_pends(s))
        return operate_all(list, n);
    struct cuda_values *v = malloc(sizeof *v + n * sizeof v->list[0]);
    if (!v)
        return CUDA_ErrorMemoryAllocation;
    v->n = n;
    memcpy(v->list, list, n * sizeof v->list[0]);
    return cuda_submit(&(struct cuda_work){NODE_TASK, .task = {run, v, true, free}}, s, 0, NULL);
}

enum cuda_error cuda_stream_operate_one(struct cuda_stream *s, int kind, uint64_t address, uint64_t value,
                                        unsigned flags) {
    CUDA_LOCK;
    return cuda_stream_operate(s, 1, &(union cuda_operation){.value = {kind, address, value, flags}}, 0);
}
