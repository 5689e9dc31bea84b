#include "agenda.h"
#include <assert.h>
#include <string.h>

void agenda_init(struct agenda *a, uint32_t units, uint64_t now) {
    assert(units >= 1 && units <= AGENDA_UNITS);
    memset(a, 0, sizeof *a);
    a->words = (units + 63) / 64;
    a->now = now;
}

uint64_t agenda_next(const struct agenda *a) {
    uint32_t at = a->now % AGENDA_CYCLES, word = at / 64;
    uint64_t bits = a->busy[word] & ~0ull << at % 64;
    for (uint32_t i = 0; i <= AGENDA_CYCLES / 64; i++) {
        if (bits) {
            uint32_t found = word * 64 + (uint32_t)__builtin_ctzll(bits);
            return a->now + (found - at) % AGENDA_CYCLES;
        }
        word = (word + 1) % (AGENDA_CYCLES / 64);
        bits = a->busy[word];
    }
    return UINT64_MAX;
}
