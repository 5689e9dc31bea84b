#include "trace.h"
#include "states.h"
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

struct trace *trace_new(uint64_t from, uint64_t to) {
    struct trace *t = calloc(1, sizeof *t);
    if (!t)
        return NULL;
    t->from = from;
    t->to = to;
    for (int i = 0; i < TRACE_CTA_SLOTS; i++)
        t->cta_started[i] = UINT64_MAX;
    return t;
}

void trace_free(struct trace *t) {
    if (!t)
        return;
    trace_bars_free(t);
    free(t->event);
    free(t);
}

/* Writes text between the quotes of a JSON string. */
static void write_escaped(FILE *out, const char *s) {
    for (; *s; s++) {
        if (*s == '"' || *s == '\\')
            fputc('\\', out);
        fputc((unsigned char)*s < ' ' ? ' ' : *s, out);
    }
}

static const char *request_name(uint8_t kind) {
    static const char *const names[] = {"read",    "write",    "atomic", "instructions", "constants",
                                        "texture", "prefetch", "line",   "read ahead",   "instructions ahead"};
    return kind < sizeof names / sizeof names[0] ? names[kind] : "?";
}

/* Returns the number of the event's track. The viewer shows tracks in the order of these numbers. */
static uint32_t track(const struct trace_event *e) {
    switch (e->kind) {
    case TRACE_INST:
        return e->row * TRACE_WARP_TRACKS + e->path;
    case TRACE_WAIT:
        return e->row * TRACE_WARP_TRACKS + TRACE_INST_TRACKS + e->path;
    case TRACE_CTA:
    case TRACE_BARRIER:
        return TRACE_FIRST_CTA + e->row;
    case TRACE_UNIT:
        return TRACE_FIRST_UNIT + e->row;
    default:
        return TRACE_MEMORY;
    }
}

/* Returns the warp slot of an event on a track of a warp, or WARP_SLOTS for the other tracks. */
static uint32_t warp_of(const struct trace_event *e) {
    return e->kind == TRACE_INST || e->kind == TRACE_WAIT ? e->row : WARP_SLOTS;
}

/* Writes the event's name and its type in the viewer. */
static void write_head(const struct trace_event *e, const struct program *p, const struct trace_names *names,
                       FILE *out) {
    uint64_t length = e->to > e->from ? e->to - e->from : 1;
    char text[160];
    switch (e->kind) {
    case TRACE_INST:
    case TRACE_UNIT:
        trace_name(names, p, e->pc, text, sizeof text);
        fprintf(out, "{\"name\":\"");
        write_escaped(out, text);
        fprintf(out, "\",\"cat\":\"%s\",\"ph\":\"X\",\"dur\":%" PRIu64, e->kind == TRACE_UNIT ? "unit" : "instruction",
                length);
        break;
    case TRACE_CTA:
        fprintf(out, "{\"name\":\"CTA %" PRIu64 "\",\"cat\":\"cta\",\"ph\":\"X\",\"dur\":%" PRIu64, e->lanes, length);
        break;
    case TRACE_WAIT:
        fprintf(out, "{\"name\":\"%s\",\"cat\":\"wait\",\"ph\":\"X\",\"dur\":%" PRIu64, path_state_word(e->what),
                length);
        break;
    case TRACE_BARRIER:
        fprintf(out, "{\"name\":\"barrier %" PRIu64 " opens\",\"cat\":\"barrier\",\"ph\":\"i\",\"s\":\"t\"", e->lanes);
        break;
    case TRACE_COUNTER:
        fprintf(out, "{\"name\":\"%s\",\"cat\":\"counter\",\"ph\":\"C\"", e->name);
        break;
    case TRACE_WRITE:
        fprintf(out, "{\"name\":\"write\",\"cat\":\"memory\",\"ph\":\"i\",\"s\":\"t\"");
        break;
    default:
        fprintf(out, "{\"name\":\"%s\",\"cat\":\"memory\",\"ph\":\"%c\",\"id2\":{\"local\":\"%u.%x\"}",
                request_name(e->what), e->kind == TRACE_REQUEST ? 'b' : 'e', e->what, e->row);
    }
}

static void write_event(const struct trace_event *e, uint32_t sm, const struct program *p,
                        const struct trace_names *names, FILE *out) {
    write_head(e, p, names, out);
    fprintf(out, ",\"ts\":%" PRIu64 ",\"pid\":%u,\"tid\":%u", e->from, sm, track(e));
    if (e->kind == TRACE_INST || e->kind == TRACE_WAIT)
        fprintf(out, ",\"args\":{\"pc\":%u,\"line\":%u,\"lanes\":\"%08" PRIx64 "\"%s%s}", e->pc, p->info[e->pc].line,
                e->lanes, e->missed ? ",\"missed\":true" : "", e->unfinished ? ",\"unfinished\":true" : "");
    else if (e->unfinished)
        fprintf(out, ",\"args\":{\"unfinished\":true}");
    else if (e->kind == TRACE_UNIT)
        fprintf(out, ",\"args\":{\"pc\":%u,\"line\":%u,\"warp\":%" PRIu64 "}", e->pc, p->info[e->pc].line, e->address);
    else if (e->kind == TRACE_REQUEST || e->kind == TRACE_WRITE)
        fprintf(out, ",\"args\":{\"address\":\"0x%" PRIx64 "\"}", e->address);
    else if (e->kind == TRACE_COUNTER)
        fprintf(out, ",\"args\":{\"n\":%" PRIu64 "}", e->address);
    fputc('}', out);
}

static void name_warp(const struct trace *t, uint32_t slot, FILE *out) {
    if (t->name[slot])
        write_escaped(out, t->name[slot]);
    else
        fprintf(out, "warp %u", slot);
}

/* Writes the names of the process and of the track before their first event. Begins the JSON array if this is the
 * first event of the file. */
static void name_track(struct trace *t, const struct trace_event *e, uint32_t sm, FILE *out, bool first) {
    uint32_t id = track(e);
    if (!t->begun)
        fprintf(out, "%s{\"name\":\"process_name\",\"ph\":\"M\",\"pid\":%u,\"args\":{\"name\":\"SM %u\"}}",
                first ? "[\n" : ",\n", sm, sm);
    t->begun = true;
    if (e->kind == TRACE_COUNTER) /* the viewer itself makes a track with the counter's name */
        return;
    if (t->named[id / 64] >> id % 64 & 1)
        return;
    t->named[id / 64] |= 1ull << id % 64;
    fprintf(out, ",\n{\"name\":\"thread_name\",\"ph\":\"M\",\"pid\":%u,\"tid\":%u,\"args\":{\"name\":\"", sm, id);
    if (e->kind == TRACE_INST || e->kind == TRACE_WAIT)
        name_warp(t, e->row, out);
    if (e->kind == TRACE_WAIT)
        fprintf(out, ", path %u waits for", e->path);
    else if (e->kind == TRACE_INST && e->path)
        fprintf(out, ", in flight %u", 1u + e->path);
    else if (e->kind == TRACE_INST)
        ;
    else if (e->kind == TRACE_UNIT)
        fprintf(out, "%s, row %u", e->name, e->row);
    else if (id == TRACE_MEMORY)
        fprintf(out, "memory");
    else
        fprintf(out, "CTA slot %u", e->row);
    fputs("\"}}", out);
}

void trace_finish(struct trace *t, uint64_t now) {
    for (uint32_t w = 0; w < WARP_SLOTS; w++) {
        trace_bars_end(t, w, now);
        for (uint32_t p = 0; p < MAX_PATHS; p++)
            trace_state(t, w, p, PATH_READY, 0, 0, now);
        t->paths[w] = 0;
    }
    for (uint32_t i = 0; i < TRACE_CTA_SLOTS; i++) {
        if (t->cta_started[i] != UINT64_MAX)
            trace_note(t, &(struct trace_event){.from = t->cta_started[i],
                                                .to = now,
                                                .lanes = t->cta_id[i],
                                                .row = i,
                                                .kind = TRACE_CTA,
                                                .unfinished = true});
        t->cta_started[i] = UINT64_MAX;
    }
}

void trace_write_end(FILE *out, bool first, uint64_t now, const char *why, const char *what) {
    fprintf(out,
            "%s{\"name\":\"%s\",\"cat\":\"end\",\"ph\":\"i\",\"s\":\"g\",\"ts\":%" PRIu64
            ",\"pid\":0,\"tid\":0,\"args\":{\"message\":\"",
            first ? "[\n" : ",\n", why, now);
    write_escaped(out, what);
    fputs("\"}}", out);
}

static void write_one(struct trace *t, const struct trace_event *e, uint32_t sm, const struct program *p,
                      const struct trace_names *names, FILE *out, bool first) {
    name_track(t, e, sm, out, first);
    fputs(",\n", out);
    write_event(e, sm, p, names, out);
}

/* Writes the events of one warp after the other: lines that resemble each other are then near each other, and the file
 * compresses better. Viewers accept events in any order. */
bool trace_write(struct trace *t, uint32_t sm, const struct program *p, const struct trace_names *names, FILE *out,
                 bool first) {
    uint64_t some[(WARP_SLOTS + 64) / 64] = {0}; /* by warp slot, and WARP_SLOTS for the others: there are events */
    for (uint32_t i = 0; i < t->n; i++)
        some[warp_of(&t->event[i]) / 64] |= 1ull << warp_of(&t->event[i]) % 64;
    for (uint32_t w = 0; w <= WARP_SLOTS; w++)
        for (uint32_t i = 0; some[w / 64] >> w % 64 & 1 && i < t->n; i++)
            if (warp_of(&t->event[i]) == w) {
                write_one(t, &t->event[i], sm, p, names, out, first);
                first = false;
            }
    t->n = 0;
    return !first;
}

void trace_end(FILE *out, bool empty, uint64_t lost) {
    if (lost)
        fprintf(out, "%s{\"name\":\"lost_events\",\"ph\":\"M\",\"pid\":0,\"args\":{\"count\":%" PRIu64 "}}",
                empty ? "[\n" : ",\n", lost);
    fputs(empty && !lost ? "[]\n" : "\n]\n", out);
}
