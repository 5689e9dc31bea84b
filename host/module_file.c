/* Modules out of files: PTX text, or what a compiler made of it. */
#include "context.h"
#include "elf_load.h"
#include "handles.h"
#include "ptx/tree.h"
#include "timing/config/places.h"
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Tells what a file is when it plainly is no PTX, before the parser complains about its first byte. */
static const char *not_ptx(const char *text, size_t len) {
    if (len == 0)
        return "the file is empty";
    if (memchr(text, '\0', len < 4096 ? len : 4096))
        return "a binary file, not PTX text";
    return NULL;
}

/* Why this is no file to read PTX from, before anything is taken for it; NULL when it may be one. */
static const char *not_text(const struct stat *st) {
    if (S_ISDIR(st->st_mode))
        return "is a directory, not a PTX file";
    if (!S_ISREG(st->st_mode))
        return "is no regular file; write the PTX to one first";
    if (st->st_size > PTX_LONGEST)
        return "is too long to be PTX: the limit is 256 MiB";
    return NULL;
}
_Static_assert(PTX_LONGEST == 256 << 20, "said in a message");

static bool kernel_in(const char *folder, const char *name, char *out, size_t size) {
    int n = snprintf(out, size, "%s/%s", folder, name);
    return n > 0 && (size_t)n < size && access(out, R_OK) == 0;
}

char *heddle_kernel_file(const char *name, char *out, size_t size) {
    const char *set = getenv("HEDDLE_KERNELS");
    char folder[PATH_MAX];
    if (!name || !out || (set && kernel_in(set, name, out, size)))
        return name ? out : NULL;
    for (int n = 0; data_place(n, "kernels", folder, sizeof folder); n++)
        if (kernel_in(folder, name, out, size))
            return out;
    return kernel_in("kernels", name, out, size) ? out : NULL;
}

/* The file's text, up to the size that it had when it was opened; NULL, with a message, when it cannot be had. */
static char *read_text(struct heddle *h, const char *path, size_t *len) {
    struct stat st;
    int fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC); /* a FIFO does not wait for a writer */
    if (fd < 0 || fstat(fd, &st) != 0) {
        fail(h, HEDDLE_USAGE, "%s: %s", path, strerror(errno));
        if (fd >= 0)
            close(fd);
        return NULL;
    }
    const char *why = not_text(&st);
    char *text = why ? NULL : malloc((size_t)st.st_size + 1);
    ssize_t got = 1;
    for (*len = 0; text && got > 0 && *len<(size_t)st.st_size; *len += got> 0 ? (size_t)got : 0)
        got = read(fd, text + *len, (size_t)st.st_size - *len);
    close(fd);
    if (why)
        fail(h, HEDDLE_USAGE, "%s: %s", path, why);
    else if (!text)
        fail_memory(h);
    else if (got < 0)
        fail(h, HEDDLE_USAGE, "%s: cannot be read", path);
    else
        return text;
    free(text);
    return NULL;
}

/* What comes from stdin, to its end; NULL, with a message, when it cannot be had. */
static char *read_stdin(struct heddle *h, size_t *len) {
    char *text = NULL;
    for (size_t cap = 1 << 16; cap <= PTX_LONGEST; cap *= 2) {
        char *more = realloc(text, cap + 1);
        if (!more) {
            fail_memory(h);
            free(text);
            return NULL;
        }
        *len = text ? cap / 2 : 0;
        text = more;
        size_t got = fread(text + *len, 1, cap - *len, stdin);
        *len += got;
        if (*len < cap && !ferror(stdin))
            return text;
        if (ferror(stdin))
            break;
    }
    fail(h, HEDDLE_USAGE, "stdin: %s",
         ferror(stdin) ? "cannot be read" : "is too long to be PTX: the limit is 256 MiB");
    free(text);
    return NULL;
}

/* Compute capability 7.5 as 75. */
static uint32_t target_of(const struct heddle *h) { return (uint32_t)(10 * h->config.gpu.capability + 0.5); }

static struct heddle_module *from_part(struct heddle *h, const char *name, const struct device_code *code, int n) {
    char part[32] = "", *full = NULL;
    if (code->n > 1)
        snprintf(part, sizeof part, "[%d]", n);
    if (asprintf(&full, "%s%s", name, part) < 0) {
        fail_memory(h);
        return NULL;
    }
    struct heddle_module *m = heddle_module_text(h, full, code->parts[n].text, code->parts[n].len);
    free(full);
    return m;
}

/* The n-th module of a compiled file; the only one when n is -1. */
static struct heddle_module *from_binary(struct heddle *h, const char *path, const char *data, size_t len, int n) {
    struct device_code code;
    struct heddle_module *m = NULL;
    if (!elf_device_code(data, len, target_of(h), &code))
        fail(h, HEDDLE_USAGE, "%s: %s", path, code.error ? code.error : "the host is out of memory");
    else if (n < 0 && code.n > 1)
        fail(h, HEDDLE_USAGE, "%s: has %d modules, one a file that was compiled; choose one", path, code.n);
    else if (n < code.n)
        m = from_part(h, path, &code, n < 0 ? 0 : n);
    device_code_free(&code);
    return m;
}

static struct heddle_module *from_file(struct heddle *h, const char *path, int n) {
    size_t len;
    bool from_stdin = strcmp(path, "-") == 0;
    if (from_stdin && n > 0) /* it has been read */
        return NULL;
    char *text = from_stdin ? read_stdin(h, &len) : read_text(h, path, &len);
    path = from_stdin ? "stdin" : path;
    bool binary = text && elf_is_device_file(text, len);
    const char *why = text && !binary ? not_ptx(text, len) : NULL;
    struct heddle_module *m = NULL;
    if (why)
        fail(h, HEDDLE_USAGE, "%s: %s", path, why);
    else if (binary)
        m = from_binary(h, path, text, len, n);
    else if (text && n <= 0)
        m = heddle_module_text(h, path, text, len);
    free(text);
    return m;
}

struct heddle_module *heddle_module_file(struct heddle *h, const char *path) {
    return context_enter(h) && given(h, path, "the file's name") ? from_file(h, path, -1) : NULL;
}

struct heddle_module *heddle_module_part(struct heddle *h, const char *path, int n) {
    if (!context_enter(h) || !given(h, path, "the file's name"))
        return NULL;
    if (n >= 0)
        return from_file(h, path, n);
    fail(h, HEDDLE_USAGE, "modules of a file are counted from 0, and %d was asked for", n);
    return NULL;
}

struct heddle_module *heddle_module_fatbin(struct heddle *h, const char *name, const void *const *containers, int n) {
    if (!context_enter(h) || !given(h, name, "the module's name") || !given(h, containers, "the list of containers"))
        return NULL;
    struct device_code code = {0};
    struct heddle_module *m = NULL;
    bool ok = true;
    for (int i = 0; ok && i < n; i++)
        ok = fatbin_is(containers[i], FATBIN_HEADER)
                 ? fatbin_read(&code, containers[i], fatbin_bytes(containers[i]), target_of(h), 0)
                 : device_code_fail(&code, "container %d is none", i);
    ok = ok && (code.n < 2 || ptx_link(&code, 0)) && (code.n || device_code_none(&code));
    if (ok)
        m = from_part(h, name, &code, 0);
    else
        fail(h, HEDDLE_USAGE, "%s: %s", name, code.error ? code.error : "the host is out of memory");
    device_code_free(&code);
    return m;
}
