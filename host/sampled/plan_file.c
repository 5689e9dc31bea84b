/* Writes and reads sample plans (sampling.h). */
#include "sampling.h"
#include <stdlib.h>
#include <string.h>

static const char magic[16] = "heddle plan 5";
/* Sizes of structs, which a file contains. A reader refuses a file with other sizes: another Heddle has written it. */
static const uint32_t sizes[] = {sizeof(struct heddle_plan), sizeof(struct planned), sizeof(struct sampling_group),
                                 N_STATS};

static bool write_stats(const struct stats_kept *k, FILE *out) {
    return fwrite(&k->n, sizeof k->n, 1, out) == 1 &&
           (!k->n || (fwrite(k->v, sizeof *k->v, (size_t)k->n, out) == (size_t)k->n &&
                      fwrite(k->index, sizeof *k->index, (size_t)k->n, out) == (size_t)k->n));
}

bool sampling_write(const struct heddle_plan *p, FILE *out) {
    bool ok = p->surveyed && fwrite(magic, sizeof magic, 1, out) == 1 && fwrite(sizes, sizeof sizes, 1, out) == 1 &&
              fwrite(p, sizeof *p, 1, out) == 1 && fwrite(p->launch, sizeof *p->launch, p->n, out) == p->n &&
              fwrite(p->group, sizeof *p->group, p->n_groups, out) == p->n_groups;
    for (uint32_t i = 0; ok && i < p->n; i++)
        ok = !p->launch[i].measured || write_stats(&p->launch[i].stats, out);
    return ok && fflush(out) == 0;
}

/* Reads statistics into a new stats_kept. */
static bool read_stats(struct stats_kept *k, FILE *in) {
    struct stats s;
    double v[N_STATS];
    uint16_t index[N_STATS];
    int n;
    if (fread(&n, sizeof n, 1, in) != 1 || n < 0 || n > N_STATS || fread(v, sizeof *v, (size_t)n, in) != (size_t)n ||
        fread(index, sizeof *index, (size_t)n, in) != (size_t)n || !stats_init(&s))
        return false;
    bool ok = true;
    for (int i = 0; i < n; i++) {
        ok = ok && index[i] < N_STATS;
        if (ok)
            s.v[index[i]] = v[i];
    }
    ok = ok && stats_keep(k, &s);
    stats_free(&s);
    return ok;
}

struct heddle_plan *sampling_read(FILE *in) {
    char word[sizeof magic];
    uint32_t found[sizeof sizes / sizeof *sizes];
    struct heddle_plan *p = calloc(1, sizeof *p);
    bool ok = p && fread(word, sizeof word, 1, in) == 1 && fread(found, sizeof found, 1, in) == 1 &&
              memcmp(word, magic, sizeof magic) == 0 && memcmp(found, sizes, sizeof sizes) == 0 &&
              fread(p, sizeof *p, 1, in) == 1;
    if (!ok) {
        free(p);
        return NULL;
    }
    const uint32_t n = p->n, groups = p->n_groups;
    p->launch = calloc((size_t)n + 1, sizeof *p->launch);
    p->group = calloc((size_t)groups + 1, sizeof *p->group);
    p->room = n;
    p->groups_room = groups;
    p->n = 0;
    ok = p->launch && p->group && groups <= n && fread(p->launch, sizeof *p->launch, n, in) == n &&
         fread(p->group, sizeof *p->group, groups, in) == groups;
    uint64_t members = 0;
    for (uint32_t g = 0; ok && g < groups; g++) {
        members += p->group[g].n;
        ok = p->group[g].first < n && p->group[g].prototype < n;
    }
    ok = ok && members == n;
    for (uint32_t i = 0; ok && i < n; i++) {
        p->launch[i].stats = (struct stats_kept){.n = 0};
        p->n = i + 1;
        ok = p->launch[i].group < groups && p->launch[i].member < p->group[p->launch[i].group].n &&
             (!p->launch[i].measured || read_stats(&p->launch[i].stats, in));
    }
    p->next = 0;
    if (ok)
        return p;
    sampling_clear(p);
    free(p);
    return NULL;
}
