/* Messages and status of a context, and the checks with which every function of heddle.h begins. */
#include "context.h"
#include "handles.h"
#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>

void error_begin(struct error_text *e) {
    e->text = NULL;
    e->len = 0;
    e->stream = open_memstream(&e->text, &e->len);
    if (!e->stream)
        e->stream = stderr; /* out of memory: the message goes to stderr instead */
}

enum heddle_status error_end(struct heddle *h, struct error_text *e, enum heddle_status status) {
    if (e->stream != stderr && (fclose(e->stream) != 0 || !e->len)) {
        free(e->text);
        e->text = NULL;
    }
    free(h->error);
    h->error = e->text;
    h->status = status;
    return status;
}

enum heddle_status fail(struct heddle *h, enum heddle_status status, const char *fmt, ...) {
    struct error_text e;
    error_begin(&e);
    va_list args;
    va_start(args, fmt);
    vfprintf(e.stream, fmt, args);
    va_end(args);
    fputc('\n', e.stream);
    return error_end(h, &e, status);
}

void note(struct heddle *h, const char *fmt, ...) {
    char *text = NULL, *all = NULL;
    va_list args;
    va_start(args, fmt);
    if (vasprintf(&text, fmt, args) < 0)
        text = NULL;
    va_end(args);
    if (text && asprintf(&all, "%s%s\n", h->notes ? h->notes : "", text) >= 0) {
        free(h->notes);
        h->notes = all;
    }
    free(text);
}

enum heddle_status fail_memory(struct heddle *h) { return fail(h, HEDDLE_USAGE, "the host is out of memory"); }

enum heddle_status fail_room(struct heddle *h, const char *what, uint64_t bytes) {
    const struct memory *m = &h->memory;
    if (m->folder && m->folder_error && bytes <= m->limit_bytes - m->live_bytes)
        return fail(h, HEDDLE_USAGE, "the folder %s cannot hold %s of %llu bytes: %s%s", m->folder, what,
                    (unsigned long long)bytes, strerror(m->folder_error),
                    m->folder_error == EOPNOTSUPP
                        ? "; its file system cannot reserve space: name a folder of another one"
                    : m->folder_error == ENOSPC ? "; free some space, or name a folder with more"
                                                : "");
    if (bytes <= m->limit_bytes - m->live_bytes)
        return fail(h, HEDDLE_USAGE, "the host is out of memory for %s of %llu bytes", what, (unsigned long long)bytes);
    return fail(h, HEDDLE_USAGE, "no room for %s of %llu bytes: %llu of %llu bytes of device memory are in use", what,
                (unsigned long long)bytes, (unsigned long long)m->live_bytes, (unsigned long long)m->limit_bytes);
}

bool context_enter(struct heddle *h) {
    if (!handle_is_open(h, HANDLE_CONTEXT))
        return false;
    free(h->error);
    h->error = NULL;
    h->facts = (struct heddle_error_facts){0};
    h->status = HEDDLE_OK;
    return true;
}

bool module_enter(struct heddle *h, const struct heddle_module *m) {
    if (!context_enter(h))
        return false;
    if (handle_is_open(m, HANDLE_MODULE) && m->owner == h)
        return true;
    fail(h, HEDDLE_USAGE, "the module is %s",
         !m                                 ? "NULL"
         : handle_is_open(m, HANDLE_MODULE) ? "another context's"
                                            : "not one that was loaded, or it was freed with its context");
    return false;
}

bool given(struct heddle *h, const void *p, const char *what) {
    if (!p)
        fail(h, HEDDLE_USAGE, "%s is NULL", what);
    return p != NULL;
}

const char *heddle_error(const struct heddle *h) {
    if (!handle_is_open(h, HANDLE_CONTEXT))
        return h ? "the context is not open: it was closed, or heddle_open() never gave it\n" : "the context is NULL\n";
    if (!h->error && h->status != HEDDLE_OK) /* a call failed, and there was no memory for its message */
        return "the host is out of memory\n";
    return h->error ? h->error : "";
}

void heddle_error_facts(const struct heddle *h, struct heddle_error_facts *out) {
    *out = handle_is_open(h, HANDLE_CONTEXT) ? h->facts : (struct heddle_error_facts){0};
}

enum heddle_status heddle_status(const struct heddle *h) {
    return handle_is_open(h, HANDLE_CONTEXT) ? h->status : HEDDLE_USAGE;
}

const char *heddle_notes(const struct heddle *h) {
    if (!handle_is_open(h, HANDLE_CONTEXT))
        return "";
    if (h->window.passed && !h->window.chose)
        return "no launch ran with timing, since no launch matches --time-launch\n";
    return h->notes ? h->notes : "";
}
