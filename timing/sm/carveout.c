#include "carveout.h"
#include "timing/config/config.h"

/* Returns the smallest size of shared memory, at least `used` bytes, that a card of this capability supports. Source:
 * CUDA C++ programming guide, compute capabilities, "shared memory" of 7.x, 8.x, 9.0 and 12.0. */
static uint32_t smallest(double capability, uint32_t most, uint64_t used) {
    static const uint32_t sizes[] = {0, 8, 16, 32, 64, 100, 132, 164, 196}; /* KB; `most` is one, too */
    const uint32_t least = capability < 7 ? most : capability > 7.4 && capability < 8 ? 32 * 1024 : 0;
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++)
        if (sizes[i] * 1024 >= used && sizes[i] * 1024 >= least && sizes[i] * 1024 < most)
            return sizes[i] * 1024;
    return most;
}

uint32_t carveout_shared(const struct config *cfg, const struct launch *l, struct sm_demand d) {
    const uint64_t used = (uint64_t)sm_occupancy(cfg, l, d) * sm_footprint_of(cfg, l, d).shared;
    return smallest(cfg->gpu.capability, cfg->sm.shared_bytes, used);
}
