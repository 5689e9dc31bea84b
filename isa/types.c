#include "program.h"
#include <string.h>

static const struct {
    const char *name;
    uint8_t bytes;
    char class;
} types[N_TYPES] = {
#define X(id, name, bytes, class) {name, bytes, class},
    ISA_TYPES(X)
#undef X
};

const char *type_name(enum type t) { return types[t].name; }
unsigned type_bytes(enum type t) { return types[t].bytes; }
char type_class(enum type t) { return types[t].class; }

enum type type_named(const char *name) {
    for (int t = T_NONE + 1; t < N_TYPES; t++)
        if (strcmp(types[t].name, name) == 0)
            return t;
    return T_NONE;
}

const char *space_name(enum space s) {
    static const char *const names[N_SPACES] = {"generic", "global", "shared", "local", "const", "param", "tex"};
    return names[s];
}

const char *latency_name(enum latency_class c) {
    static const char *const names[N_LATENCIES] = {
#define X(id) #id,
        ISA_LATENCIES(X)
#undef X
    };
    return names[c];
}
