#include "outfile.h"
#include "interrupt.h"
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static bool say(char *err, size_t size, const char *path, const char *why) {
    snprintf(err, size, "%s: %s", path, why);
    return false;
}

static bool refuse(const char *path, int error, char *err, size_t size) {
    return say(err, size, path, strerror(error));
}

/* ---- resolving paths ---- */

int descriptor_in_path(const char *path) {
    static const char *const folders[] = {"/dev/fd/", "/proc/self/fd/"};
    for (int i = 0; i < 2; i++) {
        size_t len = strlen(folders[i]);
        const char *digits = path + len;
        if (strncmp(path, folders[i], len) == 0 && *digits && strlen(digits) < 7 &&
            digits[strspn(digits, "0123456789")] == '\0')
            return atoi(digits);
    }
    return -1;
}

/* Returns the file descriptor that the path names; -1 if there is none. */
static int open_number(const char *path) {
    if (strcmp(path, "-") == 0 || strcmp(path, "/dev/stdout") == 0)
        return STDOUT_FILENO;
    if (strcmp(path, "/dev/stderr") == 0)
        return STDERR_FILENO;
    return descriptor_in_path(path);
}

bool outfile_is_stdout(const char *path) { return path && open_number(path) == STDOUT_FILENO; }

/* Returns true if the path exists and is not a regular file, so that it is written directly. */
static bool is_direct(const char *path) {
    struct stat st;
    return stat(path, &st) == 0 && !S_ISREG(st.st_mode) && !S_ISDIR(st.st_mode);
}

/* Returns "FOLDER/name" with the folder's real path; returns NULL with errno on failure. */
static char *in_real_folder(const char *path) {
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
    char *folder = slash ? strndup(path, slash == path ? 1 : (size_t)(slash - path)) : strdup("."), *out = NULL;
    char *real = folder ? realpath(folder, NULL) : NULL;
    int error = errno;
    free(folder);
    if (!*name) {
        error = EISDIR;
    } else if (real && asprintf(&out, "%s%s%s", real, real[1] ? "/" : "", name) < 0) {
        out = NULL;
        error = ENOMEM;
    }
    free(real);
    errno = error;
    return out;
}

/* Returns the target of the symbolic link at `path`; returns NULL with errno on failure. */
static char *link_target(const char *path) {
    char text[PATH_MAX];
    ssize_t n = readlink(path, text, sizeof text - 1);
    if (n < 0)
        return NULL;
    text[n] = '\0';
    char *out;
    int folder = (int)(strrchr(path, '/') - path) + 1; /* `path` comes from in_real_folder(), so it has a slash */
    if (asprintf(&out, "%.*s%s", text[0] == '/' ? 0 : folder, path, text) < 0) {
        errno = ENOMEM;
        return NULL;
    }
    return out;
}

/* Returns the path of the file to write, with all links followed. The file need not exist. On failure returns NULL
 * with errno. */
static char *resolve(const char *path) {
    enum { MANY = 40 };
    char *at = *path ? in_real_folder(path) : NULL;
    if (!*path)
        errno = ENOENT;
    for (int i = 0; at; i++) {
        struct stat st;
        if (lstat(at, &st) != 0 || !S_ISLNK(st.st_mode))
            return at;
        errno = ELOOP;
        char *to = i < MANY ? link_target(at) : NULL, *next = to ? in_real_folder(to) : NULL;
        free(to);
        free(at);
        at = next;
    }
    return NULL;
}

/* ---- writing ---- */

/* Creates a temporary file in the folder of `target`. If `target` exists, the file gets its mode and, if the system
 * permits it, its owner. Returns the file descriptor and the name; returns -1 with errno on failure. */
static int create_beside(const char *target, char **name) {
    enum { TRIES = 10000 };
    struct stat st;
    bool there = stat(target, &st) == 0;
    int folder = (int)(strrchr(target, '/') - target) + 1;
    for (int i = 0; i < TRIES; i++) {
        if (asprintf(name, "%.*s.heddle-%ld-%d", folder, target, (long)getpid(), i) < 0) {
            errno = ENOMEM;
            break;
        }
        int fd = open(*name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, there ? st.st_mode & 0700 : 0666);
        if (fd < 0 && errno == EEXIST) {
            free(*name);
            continue;
        }
        if (fd >= 0 && there) {
            if (fchown(fd, st.st_uid, st.st_gid) != 0)
                /* this fails if the target belongs to another user; the new file then belongs to the current user */
                errno = 0;
            fchmod(fd, st.st_mode & 07777);
        }
        if (fd < 0) {
            free(*name);
            *name = NULL;
        }
        return fd;
    }
    *name = NULL;
    errno = errno ? errno : ENOMEM;
    return -1;
}

/* Returns the reason why the target must not be replaced although its folder is writable; NULL if it may be
 * replaced. */
static const char *protected(const char *target) {
    struct stat st;
    if (stat(target, &st) != 0)
        return NULL;
    if (S_ISDIR(st.st_mode))
        return strerror(EISDIR);
    if (!(st.st_mode & 0222) || access(target, W_OK) != 0)
        return "is write-protected; give it another name, or make it writable (chmod u+w)";
    return NULL;
}

static bool open_number_possible(const char *path, int fd, char *err, size_t err_size) {
    int flags = fcntl(fd, F_GETFL);
    if (flags >= 0 && (flags & O_ACCMODE) != O_RDONLY)
        return true;
    return say(err, err_size, path, flags < 0 ? "is not open" : "is open for reading only");
}

bool outfile_possible(const char *path, char *err, size_t err_size) {
    int fd = open_number(path);
    if (fd >= 0)
        return open_number_possible(path, fd, err, err_size);
    if (is_direct(path))
        return access(path, W_OK) == 0 || refuse(path, errno, err, err_size);
    char *target = resolve(path), *tmp = NULL;
    if (!target)
        return refuse(path, errno, err, err_size);
    const char *why = protected(target);
    struct stat st;
    bool fine = !why || say(err, err_size, path, why);
    /* refuses, for example, a name that is too long for the file system */
    if (fine && lstat(target, &st) != 0 && errno != ENOENT)
        fine = refuse(path, errno, err, err_size);
    if (fine && (fd = create_beside(target, &tmp)) < 0)
        fine = refuse(path, errno, err, err_size);
    if (fd >= 0) {
        close(fd);
        unlink(tmp);
    }
    free(tmp);
    free(target);
    return fine;
}

static bool open_stream(struct outfile *f, int number, char *err, size_t err_size) {
    f->shared = number == STDOUT_FILENO || number == STDERR_FILENO;
    if (f->shared) {
        f->stream = number == STDOUT_FILENO ? stdout : stderr;
        return true;
    }
    int copy = dup(number);
    f->stream = copy < 0 ? NULL : fdopen(copy, "wb");
    if (!f->stream && copy >= 0)
        close(copy);
    return f->stream || refuse(f->path, errno, err, err_size);
}

static bool open_beside(struct outfile *f, char *err, size_t err_size) {
    f->target = resolve(f->path);
    const char *why = f->target ? protected(f->target) : strerror(errno);
    if (why)
        return say(err, err_size, f->path, why);
    int fd = create_beside(f->target, &f->tmp);
    if (fd < 0)
        return refuse(f->path, errno, err, err_size);
    f->stream = interrupt_remember(f->tmp) ? fdopen(fd, "wb") : NULL;
    if (f->stream)
        return true;
    close(fd);
    return refuse(f->path, ENOMEM, err, err_size);
}

bool outfile_open(struct outfile *f, const char *path, char *err, size_t err_size) {
    *f = (struct outfile){.path = path};
    int number = open_number(path);
    bool fine = true;
    if (number >= 0)
        fine = open_stream(f, number, err, err_size);
    else if (!is_direct(path))
        fine = open_beside(f, err, err_size);
    else if (!(f->stream = fopen(path, "wb")))
        fine = refuse(path, errno, err, err_size);
    if (!fine)
        outfile_discard(f);
    return fine;
}

int outfile_error(FILE *stream) {
    errno = 0;
    if (fflush(stream) == 0 && !ferror(stream))
        return 0;
    if (!errno) { /* an earlier write failed and its errno is lost; one more write reports it again */
        clearerr(stream);
        fputc('\n', stream);
        fflush(stream);
    }
    return errno ? errno : EIO;
}

bool outfile_flush(struct outfile *f, char *err, size_t err_size) {
    int error = outfile_error(f->stream);
    bool fine = !error;
    if (!fine)
        refuse(f->path, error, err, err_size);
    if (!f->shared && fclose(f->stream) != 0 && fine)
        fine = refuse(f->path, errno, err, err_size);
    f->stream = NULL;
    return fine;
}

static void forget_names(struct outfile *f) {
    if (f->tmp)
        interrupt_forget(f->tmp);
    free(f->tmp);
    free(f->target);
    f->tmp = f->target = NULL;
}

bool outfile_commit(struct outfile *f, char *err, size_t err_size) {
    if (f->tmp && rename(f->tmp, f->target) != 0)
        return refuse(f->path, errno, err, err_size);
    forget_names(f);
    return true;
}

void outfile_discard(struct outfile *f) {
    if (f->stream && !f->shared)
        fclose(f->stream);
    f->stream = NULL;
    if (f->tmp)
        unlink(f->tmp);
    forget_names(f);
}

/* ---- files that a run uses ---- */

/* A file, identified by device and inode if it exists, else by its folder's device and inode and its name. */
struct file_use {
    char *path, *who, *own_input;
    bool writes;
    int number; /* file descriptor that the path names; -1 if there is none */
    /* counts: true if two uses of the file are a conflict; false for character devices such as /dev/null */
    bool known, exists, regular, counts;
    dev_t device;
    ino_t inode;
    const char *name; /* name of the file in its folder; set only if the file does not exist */
    char *target;
};

static void identify(struct file_use *u) {
    struct stat st;
    u->number = u->writes ? open_number(u->path) : -1;
    u->exists = u->known = (u->number >= 0 ? fstat(u->number, &st) : stat(u->path, &st)) == 0;
    if (!u->exists && (u->target = resolve(u->path)) != NULL) {
        char *slash = strrchr(u->target, '/');
        u->name = slash + 1;
        *slash = '\0';
        u->known = stat(*u->target ? u->target : "/", &st) == 0;
    }
    if (!u->known)
        return;
    u->device = st.st_dev;
    u->inode = st.st_ino;
    u->regular = u->exists && S_ISREG(st.st_mode);
    u->counts = !u->exists || u->number >= 0 || !S_ISCHR(st.st_mode);
}

static bool same_file(const struct file_use *a, const struct file_use *b) {
    if (!a->known || !b->known || !a->counts || !b->counts || a->exists != b->exists)
        return false;
    return a->device == b->device && a->inode == b->inode && (a->exists || strcmp(a->name, b->name) == 0);
}

static bool add_use(struct file_uses *u, const char *path, const char *who, bool writes, const char *own_input) {
    if (u->n == u->cap) {
        int cap = u->cap ? 2 * u->cap : 16;
        struct file_use *more = realloc(u->use, (size_t)cap * sizeof *more);
        if (!more)
            return false;
        u->use = more;
        u->cap = cap;
    }
    struct file_use *f = &u->use[u->n++];
    *f = (struct file_use){.path = strdup(path), .who = strdup(who), .writes = writes};
    f->own_input = own_input ? strdup(own_input) : NULL;
    if (!f->path || !f->who || (own_input && !f->own_input))
        return false;
    identify(f);
    return true;
}

bool file_uses_read(struct file_uses *u, const char *path, const char *who) {
    return add_use(u, path, who, false, NULL);
}

bool file_uses_write(struct file_uses *u, const char *path, const char *who, const char *own_input) {
    return add_use(u, path, who, true, own_input);
}

static bool both_write(const struct file_use *a, const struct file_use *b, char *err, size_t size) {
    if (strcmp(a->path, b->path) == 0)
        snprintf(err, size, "%s and %s both write %s", a->who, b->who, a->path);
    else
        snprintf(err, size, "%s and %s both write %s, which %s is another name of", a->who, b->who, a->path, b->path);
    return false;
}

/* Checks that stdout and stderr are not redirected to a file that the run writes. */
static bool check_streams(const struct file_use *w, char *err, size_t size) {
    for (int fd = STDOUT_FILENO; fd <= STDERR_FILENO; fd++) {
        struct stat st;
        if (w->number < 0 && w->regular && fstat(fd, &st) == 0 && st.st_dev == w->device && st.st_ino == w->inode) {
            snprintf(err, size, "%s writes %s, and so does the standard %s of this command", w->who, w->path,
                     fd == STDOUT_FILENO ? "output" : "error stream");
            return false;
        }
    }
    return true;
}

static bool check_inputs(const struct file_uses *u, const struct file_use *w, char *err, size_t size) {
    struct file_use own = {.path = w->own_input};
    if (own.path)
        identify(&own);
    bool allowed = own.path && same_file(&own, w);
    free(own.target);
    for (int i = 0; i < u->n && !allowed; i++)
        if (!u->use[i].writes && u->use[i].exists && same_file(&u->use[i], w)) {
            snprintf(err, size, "%s would overwrite %s, which %s reads", w->who, w->path, u->use[i].who);
            return false;
        }
    return true;
}

bool file_uses_check(const struct file_uses *u, char *err, size_t err_size) {
    for (int i = 0; i < u->n; i++) {
        const struct file_use *w = &u->use[i];
        if (!w->writes)
            continue;
        if (!outfile_possible(w->path, err, err_size) || !check_streams(w, err, err_size) ||
            !check_inputs(u, w, err, err_size))
            return false;
        for (int k = 0; k < i; k++)
            if (u->use[k].writes && same_file(&u->use[k], w))
                return both_write(&u->use[k], w, err, err_size);
    }
    return true;
}

void file_uses_free(struct file_uses *u) {
    for (int i = 0; i < u->n; i++) {
        free(u->use[i].path);
        free(u->use[i].who);
        free(u->use[i].own_input);
        free(u->use[i].target);
    }
    free(u->use);
    *u = (struct file_uses){0};
}
