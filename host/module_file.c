/* Loads modules from files: PTX text, or compiled files that contain PTX. */
#include "context.h"
#include "handles.h"
#include "host/load/elf_load.h"
#include "ptx/tree.h"
#include "timing/config/places.h"
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Returns why a text cannot be PTX (it is empty or binary), so that the user sees the reason instead of a syntax error.
 * Returns NULL if the text may be PTX. */
static const char *not_ptx(const char *text, size_t len) {
    if (len == 0)
        return "the file is empty";
    if (memchr(text, '\0', len < 4096 ? len : 4096))
        return "a binary file, not PTX text";
    return NULL;
}

static const char too_long[] = "is too long to be PTX: the limit is 256 MiB";
_Static_assert(PTX_LONGEST == 256 << 20, "said in a message");

static bool is_null(const struct stat *st) {
    struct stat null;
    return stat("/dev/null", &null) == 0 && null.st_rdev == st->st_rdev;
}

/* Returns why this open file cannot contain PTX (it is a folder, a device or too long), or NULL if it may. */
static const char *not_text(int fd, const struct stat *st) {
    if (S_ISDIR(st->st_mode))
        return "is a directory, not a PTX file";
    if (S_ISREG(st->st_mode) && st->st_size > PTX_LONGEST)
        return too_long;
    if (S_ISBLK(st->st_mode) || (S_ISCHR(st->st_mode) && !isatty(fd) && !is_null(st)))
        return "is a device, not a PTX file";
    return NULL;
}

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

/* The bytes read so far from a file. */
struct text {
    char *data;
    size_t len, cap;
};

static bool make_room(struct text *t) {
    size_t cap = !t->data ? t->cap : t->len == t->cap ? 2 * t->cap : 0;
    char *more = cap ? realloc(t->data, cap) : t->data;
    if (!more)
        return false;
    t->data = more;
    t->cap = cap ? cap : t->cap;
    return true;
}

/* Waits until `fd` has data or is at its end. Returns false if heddle_stop() ended the wait. */
static bool wait_for(struct heddle *h, int fd) {
    enum { TICK = 50 }; /* ms */
    struct pollfd p = {.fd = fd, .events = POLLIN};
    while (!atomic_load(&h->stop))
        if (poll(&p, 1, TICK) > 0)
            return true;
    atomic_store(&h->stop, false);
    return false;
}

/* Reads an open file to its end. A pipe ends when its writers close it. A regular file keeps its position, so that
 * stdin can be read again. Returns false with a message on failure. */
static bool read_rest(struct heddle *h, const char *name, int fd, const struct stat *st, struct text *t) {
    bool regular = S_ISREG(st->st_mode);
    off_t from = regular ? lseek(fd, 0, SEEK_CUR) : 0;
    t->cap = regular && st->st_size > from ? (size_t)(st->st_size - from) + 1 : 1 << 16;
    for (ssize_t got = 1; got;) {
        if (t->len > PTX_LONGEST)
            return fail(h, HEDDLE_USAGE, "%s: %s", name, too_long), false;
        if (!make_room(t))
            return fail_memory(h), false;
        if (!regular && !wait_for(h, fd))
            return fail(h, HEDDLE_STOPPED, "%s: stopped before its end was read", name), false;
        got = regular ? pread(fd, t->data + t->len, t->cap - t->len, from + (off_t)t->len)
                      : read(fd, t->data + t->len, t->cap - t->len);
        if (got < 0 && errno != EINTR && errno != EAGAIN)
            return fail(h, HEDDLE_USAGE, "%s: cannot be read: %s", name, strerror(errno)), false;
        t->len += got > 0 ? (size_t)got : 0;
    }
    return true;
}

/* Reads the text of a file, a pipe or stdin ("-"). Returns NULL with a message on failure. */
static char *read_text(struct heddle *h, const char *path, const char *name, size_t *len) {
    struct stat st;
    struct text t = {0};
    bool from_stdin = strcmp(path, "-") == 0;
    int fd = from_stdin ? STDIN_FILENO : open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC); /* wait_for() may be stopped */
    bool open = fd >= 0 && fstat(fd, &st) == 0;
    const char *why = open ? not_text(fd, &st) : strerror(errno);
    if (why)
        fail(h, HEDDLE_USAGE, "%s: %s", name, why);
    bool fine = !why && read_rest(h, name, fd, &st, &t);
    if (fd >= 0 && !from_stdin)
        close(fd);
    *len = t.len;
    if (fine)
        return t.data;
    free(t.data);
    return NULL;
}

/* Returns the compute capability of the machine as an integer, 75 for 7.5. */
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

/* Loads the n-th module of a compiled file. If n is -1, loads its only module, and fails if it has several. */
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

/* Returns true if the file begins like PTX or another text, which is one module. */
static bool is_one_module(const char *path) {
    char head[64];
    int fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    const ssize_t len = fd >= 0 ? pread(fd, head, sizeof head, 0) : -1;
    if (fd >= 0)
        close(fd);
    return len == sizeof head && !elf_is_device_file(head, sizeof head);
}

/* Loads a module from a file that messages call `name`. */
static struct heddle_module *from_file(struct heddle *h, const char *path, const char *name, int n) {
    size_t len;
    if (n > 0 && is_one_module(path))
        return NULL;
    char *text = read_text(h, path, name, &len);
    bool binary = text && elf_is_device_file(text, len);
    const char *why = text && !binary ? not_ptx(text, len) : NULL;
    struct heddle_module *m = NULL;
    if (why)
        fail(h, HEDDLE_USAGE, "%s: %s", name, why);
    else if (binary)
        m = from_binary(h, name, text, len, n);
    else if (text && n <= 0)
        return module_own_text(h, name, text, len);
    free(text);
    return m;
}

static const char *name_of(const char *path) { return strcmp(path, "-") == 0 ? "stdin" : path; }

struct heddle_module *heddle_module_file(struct heddle *h, const char *path) {
    return context_enter(h) && given(h, path, "the file's name") ? from_file(h, path, name_of(path), -1) : NULL;
}

struct heddle_module *module_part_as(struct heddle *h, const char *path, const char *name, int n) {
    return context_enter(h) ? from_file(h, path, name, n) : NULL;
}

/* Returns true if the path is not a regular file, such as a pipe. Loading module 0 reads a pipe to its end, so its
 * other modules cannot be loaded. */
static bool is_pipe(const char *path) {
    struct stat st;
    return (strcmp(path, "-") == 0 ? fstat(STDIN_FILENO, &st) : stat(path, &st)) == 0 && !S_ISREG(st.st_mode);
}

struct heddle_module *heddle_module_part(struct heddle *h, const char *path, int n) {
    if (!context_enter(h) || !given(h, path, "the file's name"))
        return NULL;
    if (n > 0 && is_pipe(path))
        return NULL;
    if (n >= 0)
        return from_file(h, path, name_of(path), n);
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
