/* Names the instructions of a trace by their PTX statements. */
#include "trace.h"
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

bool trace_names_init(struct trace_names *n, const struct program *p, const char *text) {
    uint32_t last = 0, line = 1;
    *n = (struct trace_names){.text = text};
    for (uint32_t pc = 0; pc < p->n; pc++)
        last = p->info[pc].line > last ? p->info[pc].line : last;
    const char **begin = text ? calloc((size_t)last + 2, sizeof *begin) : NULL;
    n->at = text ? calloc((size_t)p->n + 1, sizeof *n->at) : NULL;
    for (const char *at = text; begin && at && line <= last; line++) {
        begin[line] = at;
        at = strchr(at, '\n');
        at = at ? at + 1 : NULL;
    }
    for (uint32_t pc = 0; begin && n->at && pc < p->n; pc++) {
        const struct inst_info *i = &p->info[pc];
        const char *at = begin[i->line];
        bool inside = at && i->column && strcspn(at, "\n") >= i->column;
        n->at[pc] = inside ? (uint32_t)(at - text) + i->column - 1 : UINT32_MAX;
    }
    bool fine = !text || (begin && n->at);
    free(begin);
    return fine;
}

void trace_names_free(struct trace_names *n) {
    free(n->at);
    *n = (struct trace_names){0};
}

void trace_name(const struct trace_names *n, const struct program *p, uint32_t pc, char *out, size_t size) {
    size_t len = 0;
    if (!n || !n->text || n->at[pc] == UINT32_MAX) {
        program_print_inst(p, pc, out, size);
        return;
    }
    for (const char *at = n->text + n->at[pc]; *at && *at != ';' && len + 1 < size; at++)
        if (!isspace((unsigned char)*at))
            out[len++] = *at;
        else if (len && out[len - 1] != ' ')
            out[len++] = ' ';
    while (len && out[len - 1] == ' ')
        len--;
    out[len] = '\0';
}
