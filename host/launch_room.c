/* Counts the CTAs of a launch that fit on the machine. */
#include "context.h"
#include "timing/sm/sm.h"

uint32_t launch_occupancy(const struct heddle *h, const struct launch *l) {
    return sm_occupancy(&h->config, l, sm_demand_of(h->units, h->n_units, &h->config, l));
}

uint64_t launch_room(const struct heddle *h, const struct launch *l) {
    const uint32_t each = launch_cluster_ctas(l);
    return each == 1 ? (uint64_t)launch_occupancy(h, l) * h->config.gpu.sms
                     : (uint64_t)each * sm_most_clusters(&h->config, launch_occupancy(h, l), each);
}
