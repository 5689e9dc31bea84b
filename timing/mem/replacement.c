#include "replacement.h"

const struct replacement_ops *const replacement_built_in[] = {
#define REPLACEMENT(name) &replacement_##name,
#include "timing/config/policies.def"
    NULL,
};

const struct replacement_ops *replacement_selected(uint32_t choice) {
    uint32_t i = 0;
    while (i < choice && replacement_built_in[i])
        i++;
    return replacement_built_in[i] ? replacement_built_in[i] : &replacement_lru;
}
