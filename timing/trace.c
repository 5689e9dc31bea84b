#include "trace.h"
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { CTA_ROWS = 1000 }; /* threads of the viewer from here on are CTA slots */

struct trace *trace_new(uint64_t from, uint64_t to) {
    struct trace *t = calloc(1, sizeof *t);
    if (!t)
        return NULL;
    t->from = from;
    t->to = to;
    return t;
}

void trace_free(struct trace *t) {
    if (!t)
        return;
    free(t->event);
    free(t);
}

void trace_note(struct trace *t, const struct trace_event *e) {
    if (e->from < t->from || e->from >= t->to)
        return;
    if (t->n == t->cap) {
        uint32_t cap = t->cap ? t->cap * 2 : 1024;
        struct trace_event *grown = realloc(t->event, cap * sizeof *grown);
        if (!grown) {
            t->lost++;
            return;
        }
        t->event = grown;
        t->cap = cap;
    }
    t->event[t->n++] = *e;
}

/* Text between quotes of JSON. */
static void write_escaped(FILE *out, const char *s) {
    for (; *s; s++) {
        if (*s == '"' || *s == '\\')
            fputc('\\', out);
        fputc((unsigned char)*s < ' ' ? ' ' : *s, out);
    }
}

static void write_event(const struct trace_event *e, uint32_t sm, const struct program *p, FILE *out) {
    uint64_t length = e->to > e->from ? e->to - e->from : 1;
    if (e->pc == PC_EXIT) {
        fprintf(out, "{\"name\":\"CTA %u\",\"ph\":\"X\",\"ts\":%" PRIu64 ",\"dur\":%" PRIu64 ",\"pid\":%u,\"tid\":%u}",
                e->lanes, e->from, length, sm, CTA_ROWS + e->row);
        return;
    }
    char text[160];
    program_print_inst(p, e->pc, text, sizeof text);
    fprintf(out, "{\"name\":\"");
    write_escaped(out, text);
    fprintf(out,
            "\",\"ph\":\"X\",\"ts\":%" PRIu64 ",\"dur\":%" PRIu64
            ",\"pid\":%u,\"tid\":%u,\"args\":{\"pc\":%u,\"line\":%u,\"lanes\":\"%08x\"%s}}",
            e->from, length, sm, e->row, e->pc, p->info[e->pc].line, e->lanes, e->missed ? ",\"missed\":true" : "");
}

bool trace_write(struct trace *t, uint32_t sm, const struct program *p, FILE *out, bool first) {
    for (uint32_t i = 0; i < t->n; i++) {
        fputs(first ? "[\n" : ",\n", out);
        first = false;
        write_event(&t->event[i], sm, p, out);
    }
    t->n = 0;
    return !first;
}
