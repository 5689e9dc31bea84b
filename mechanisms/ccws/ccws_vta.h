#ifndef CCWS_VTA_H
#define CCWS_VTA_H
/* The victim tag arrays of an SM, one for each warp slot. An array is a small set-associative table with the tags of
 * lines that the warp had fetched and that other lines replaced in the L1. It holds no data. */
#include <stdbool.h>
#include <stdint.h>

struct ccws_vta {
    uint32_t warps, sets, ways;
    uint64_t clock;
    struct ccws_tag {
        uint64_t line; /* line number */
        uint64_t time; /* time of the insertion; 0 for a free entry */
    } * tag;
};

/* Makes empty arrays of `entries` tags. Returns false when memory runs out. */
bool ccws_vta_init(struct ccws_vta *v, uint32_t warps, uint32_t entries, uint32_t ways);
void ccws_vta_free(struct ccws_vta *v);
/* Empties the array of a warp. */
void ccws_vta_clear(struct ccws_vta *v, uint32_t warp);
/* Adds a line. If the set is full, the line that was added first leaves it. */
void ccws_vta_add(struct ccws_vta *v, uint32_t warp, uint64_t line);
/* Removes the line. Returns false if the array of the warp lacks it. */
bool ccws_vta_take(struct ccws_vta *v, uint32_t warp, uint64_t line);
#endif
