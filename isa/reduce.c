/* Facts about reductions; isa/exec/exec_reduce.c executes them. */
#include "reduce.h"
#include "decode.h"

int reduce_print(const struct program_reduce *r, char *out, size_t size) {
    char shuffle[64], add[64];
    uint32_t n;
    const struct isa_row *rows = isa_rows(&n);
    if (r->tree || r->serial)
        snprintf(shuffle, sizeof shuffle, "shared");
    else
        isa_row_name(&rows[r->shuffle_row], shuffle, sizeof shuffle);
    isa_row_name(&rows[r->add_row], add, sizeof add);
    if (r->serial)
        return snprintf(out, size, "%s, %s, %u words in a row", shuffle, add, r->serial);
    int len = snprintf(out, size, "%s, %s, %u to %u", shuffle, add, r->distance[0], r->distance[REDUCE_STEPS - 1]);
    if (r->lane != REDUCE_ALL && len > 0 && (size_t)len < size)
        len += snprintf(out + len, size - (size_t)len, ", for lane %u", r->lane);
    return len;
}
