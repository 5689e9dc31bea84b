#include "daws_predict.h"
#include <stdlib.h>

bool daws_init(struct daws_table *t, uint32_t lines) {
    *t = (struct daws_table){.most_lines = lines ? lines : 1};
    t->line = calloc(t->most_lines, sizeof *t->line);
    return t->line != NULL;
}

void daws_free(struct daws_table *t) { free(t->line); }

void daws_sample_begin(struct daws_table *t, uint32_t loop) {
    t->loop = loop;
    t->n_lines = 0;
    for (struct daws_load *l = t->load; l < t->load + t->n; l++)
        if (l->loop == loop) {
            l->count /= 2;
            l->lines /= 2;
            l->again /= 2;
            l->others /= 2;
        }
}

static struct daws_load *find_load(struct daws_table *t, uint32_t pc) {
    for (uint32_t i = 0; i < t->n; i++)
        if (t->load[i].pc == pc)
            return &t->load[i];
    if (t->n == DAWS_LOADS)
        return NULL;
    t->load[t->n] = (struct daws_load){.pc = pc, .loop = t->loop};
    return &t->load[t->n++];
}

/* Finds the line among the lines of the sample. If it is absent, adds it, in place of the least recently used line if
 * the sample is full, and returns NULL. */
static const struct daws_line *use_line(struct daws_table *t, uint32_t pc, uint64_t line) {
    struct daws_line *oldest = t->line;
    for (struct daws_line *l = t->line; l < t->line + t->n_lines; l++) {
        if (l->line == line) {
            l->used = ++t->clock;
            return l;
        }
        if (l->used < oldest->used)
            oldest = l;
    }
    if (t->n_lines < t->most_lines)
        oldest = &t->line[t->n_lines++];
    *oldest = (struct daws_line){line, ++t->clock, pc};
    return NULL;
}

static enum daws_kind kind_of(const struct daws_load *l) {
    if (l->again * 4 < l->lines || l->others * 2 > l->again || !l->again)
        return DAWS_ONCE;
    return l->lines > 2 * l->count ? DAWS_DIVERGED : DAWS_CONVERGED;
}

bool daws_sample(struct daws_table *t, uint32_t pc, uint64_t line, bool leads) {
    const struct daws_line *found = use_line(t, pc, line);
    struct daws_load *l = find_load(t, pc);
    if (!l)
        return false;
    enum daws_kind before = l->kind;
    l->count += leads;
    l->lines++;
    l->again += found != NULL;
    l->others += found && found->pc != pc;
    l->kind = kind_of(l);
    return l->kind != before;
}

uint32_t daws_footprint(const struct daws_table *t, uint32_t loop, uint32_t lanes) {
    uint32_t lines = 0;
    for (const struct daws_load *l = t->load; l < t->load + t->n; l++)
        if (l->loop == loop && l->kind != DAWS_ONCE)
            lines += l->kind == DAWS_DIVERGED ? lanes : 1;
    return lines;
}
