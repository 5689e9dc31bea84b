#include "window.h"
#include "heddle.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Returns true if `wanted`, which the user wrote, is the kernel's PTX name, or its C++ name with or without
 * parameters. */
static bool is_kernel(const char *kernel, const char *wanted) {
    char name[512];
    if (strcmp(kernel, wanted) == 0)
        return true;
    heddle_demangle(kernel, name, sizeof name);
    if (strcmp(name, wanted) == 0)
        return true;
    char *end = strchr(name, '(');
    if (end)
        *end = '\0';
    const char *begin = strncmp(name, "void ", 5) == 0 ? name + 5 : name;
    if (strcmp(begin, wanted) == 0)
        return true;
    size_t len = strcspn(begin, "<");
    return strlen(wanted) == len && strncmp(begin, wanted, len) == 0;
}

static bool in_range(struct window *w, uint64_t launch, const char *kernel) {
    uint64_t n = launch;
    if (*w->kernel) {
        if (!is_kernel(kernel, w->kernel))
            return false;
        n = w->ordinal++;
    }
    return n >= w->from && n < w->to;
}

static bool in_text_range(struct window *w, uint64_t launch, const char *kernel) {
    const bool in = in_range(w, launch, kernel);
    w->chose |= in;
    w->passed |= !in;
    return in;
}

void window_by_number(struct window *w, uint64_t from, uint64_t to) {
    *w = (struct window){.in_time = in_range, .from = from, .to = to};
}

/* Reads "A", "A:B" or "A:". */
static bool read_range(const char *text, uint64_t *from, uint64_t *to) {
    char *end;
    if (*text < '0' || *text > '9')
        return false;
    errno = 0;
    *from = strtoull(text, &end, 10);
    *to = *from + 1;
    if (*end == ':' && !end[1]) {
        *to = UINT64_MAX;
        return !errno;
    }
    if (*end == ':' && end[1] >= '0' && end[1] <= '9')
        *to = strtoull(end + 1, &end, 10);
    return !*end && !errno && *to > *from;
}

bool window_by_text(struct window *w, const char *text, char *err, size_t err_size) {
    *w = (struct window){.in_time = in_text_range, .to = UINT64_MAX};
    const char *range = text;
    if (*text < '0' || *text > '9') {
        const char *at = strrchr(text, '@');
        size_t len = at ? (size_t)(at - text) : strlen(text);
        range = at ? at + 1 : NULL;
        if (!len || len >= sizeof w->kernel) {
            snprintf(err, err_size, "'%s' selects no launch: use a number, A:B, a kernel or KERNEL@A:B", text);
            return false;
        }
        memcpy(w->kernel, text, len);
        w->kernel[len] = '\0';
    }
    if (!range || read_range(range, &w->from, &w->to))
        return true;
    snprintf(err, err_size, "'%s' selects no launch: a range is N, A:B with A below B, or A:", text);
    return false;
}
