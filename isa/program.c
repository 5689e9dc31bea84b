#include "program.h"
#include <string.h>

const char *special_name(enum special s) {
    static const char *const names[N_SPECIALS] = {
#define X(id, name) name,
        ISA_SPECIALS(X)
#undef X
    };
    return names[s];
}

bool special_is_volatile(enum special s) {
    switch (s) {
    case SPECIAL_CLOCK:
    case SPECIAL_CLOCK_HI:
    case SPECIAL_CLOCK64:
    case SPECIAL_GLOBALTIMER:
    case SPECIAL_GLOBALTIMER_LO:
    case SPECIAL_GLOBALTIMER_HI:
    case SPECIAL_PM:
        return true;
    default:
        return false;
    }
}

void program_print_source(const struct program *p, uint32_t pc, FILE *out) {
    const struct inst_info *i = &p->info[pc];
    if (!i->src_line)
        return;
    for (uint32_t s = 0; s < p->n_sources; s++)
        if (p->sources[s].index == i->src_file) {
            fprintf(out, " (%s:%u)", p->sources[s].name, i->src_line);
            return;
        }
    fprintf(out, " (source file %u, line %u)", i->src_file, i->src_line);
}

uint32_t program_affine_stream(const struct program *p) {
    for (uint32_t s = 1; s < p->n_streams; s++)
        if (strcmp(p->streams[s].name, AFFINE_STREAM) == 0)
            return s;
    return 0;
}

double program_count(const struct program *p, const char *name) {
    for (uint32_t i = 0; i < p->n_counts; i++)
        if (strcmp(p->counts[i].name, name) == 0)
            return p->counts[i].value;
    return 0;
}

const uint32_t *program_fact(const struct program *p, const char *name) {
    for (uint32_t i = 0; i < p->n_facts; i++)
        if (strcmp(p->facts[i].name, name) == 0)
            return p->facts[i].of_block;
    return NULL;
}

void program_free(struct program *p) {
    if (p && p->free_owner)
        p->free_owner(p->owner); /* p itself is allocated in this arena */
}
