/* The table of expansions. */
#include "expansions.h"
#include "program.h"
#include <assert.h>

static const struct expansion expansions[N_EXPANSIONS] = {
#define S(class, n, gap)                                                                                               \
    { LAT_##class, n, gap }
#define EXPANSION(id, label, n, more, ...)                                                                             \
    [EXPANSION_##id] = {.name = label, .temporaries = n, .spare = more, .step = {__VA_ARGS__}},
#include "expansions.def"
#undef EXPANSION
#undef S
};

const struct expansion *expansion_of(enum expansion_id id) {
    assert(id > EXPANSION_NONE && id < N_EXPANSIONS);
    return &expansions[id];
}

unsigned expansion_count(enum expansion_id id) {
    unsigned n = id == EXPANSION_NONE;
    for (int i = 0; i < EXPANSION_STEPS; i++)
        n += expansions[id].step[i].count;
    return n;
}

bool expansion_branches(enum expansion_id id) {
    for (const struct expansion_step *s = expansions[id].step; s < expansions[id].step + EXPANSION_STEPS; s++)
        if (s->count && machine_class_of(s->latency) == MACHINE_FLOW)
            return true;
    return false;
}

const struct expansion_step *expansion_last(enum expansion_id id) {
    const struct expansion_step *s = expansion_of(id)->step;
    while (s < expansions[id].step + EXPANSION_STEPS - 1 && s[1].count)
        s++;
    return s;
}

const char *machine_class_name(enum machine_class c) {
    static const char *const names[N_MACHINE_CLASSES] = {"ALU", "FMA", "XU", "f64", "memory", "flow", "uniform"};
    return names[c];
}

enum machine_class machine_class_of(uint8_t latency) {
    switch (latency) {
    case LAT_INT_MUL:
    case LAT_INT_MAD:
    case LAT_F32_ADD:
    case LAT_F32_MUL:
    case LAT_F32_FMA:
    case LAT_F16:
    case LAT_MMA:
        return MACHINE_FMA;
    case LAT_F32_DIV:
    case LAT_SFU:
    case LAT_INT_DIV:
        return MACHINE_XU;
    case LAT_F64_ADD:
    case LAT_F64_MINMAX:
    case LAT_F64_MUL:
    case LAT_F64_FMA:
    case LAT_F64_DIV:
    case LAT_F64_RCP:
        return MACHINE_F64;
    case LAT_MEM:
    case LAT_SHFL:
        return MACHINE_MEMORY;
    case LAT_CONTROL:
        return MACHINE_FLOW;
    default:
        return MACHINE_ALU;
    }
}
