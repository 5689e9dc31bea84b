#include "input.h"
#include "host/report/outfile.h"
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/* An input that was copied, or stdin. */
struct cli_input {
    struct cli_input *next;
    const char *place; /* the place in the command line that names the input; not owned */
    char *who;
    dev_t device; /* device and inode: identity of the file or pipe that was read */
    ino_t inode;
    int number;  /* file descriptor that the command line names; -1: none */
    int fd;      /* file descriptor of the copy, if it needs its own; -1: none */
    bool copied; /* true if the input was copied; false if it is stdin from a regular file, which runs read directly */
    char path[32];
};

static const char stdin_path[] = "/dev/stdin";

static const char *refuse(char *err, size_t size, const char *path, const char *why) {
    snprintf(err, size, "%s: %s", strcmp(path, "-") == 0 ? "stdin" : path, why);
    return NULL;
}

/* Returns the file descriptor that a path names ("-", /dev/fd/N); -1: none. */
static int open_number(const char *path) {
    if (strcmp(path, "-") == 0 || strcmp(path, stdin_path) == 0)
        return STDIN_FILENO;
    return descriptor_in_path(path);
}

static bool status_of(const char *path, struct stat *st) {
    int number = open_number(path);
    return (number >= 0 ? fstat(number, st) : stat(path, st)) == 0;
}

bool cli_input_is_pipe(const char *path) {
    struct stat st;
    return strcmp(path, "-") == 0 ||
           (status_of(path, &st) && (S_ISFIFO(st.st_mode) || S_ISSOCK(st.st_mode) || S_ISCHR(st.st_mode)));
}

bool cli_input_copied(const struct cli *c) {
    for (const struct cli_input *i = c->inputs; i; i = i->next)
        if (i->copied)
            return true;
    return false;
}

/* Returns true for a device without an end: all but /dev/null and terminals. */
static bool is_endless(int fd, const struct stat *st) {
    struct stat null;
    bool is_null = stat("/dev/null", &null) == 0 && null.st_rdev == st->st_rdev;
    return S_ISBLK(st->st_mode) || (S_ISCHR(st->st_mode) && !is_null && !isatty(fd));
}

static bool write_all(int fd, const char *data, size_t len) {
    while (len) {
        ssize_t n = write(fd, data, len);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return false;
        data += n;
        len -= (size_t)n;
    }
    return true;
}

/* Copies `from` to its end. Returns the reason of a failure, or NULL. */
static const char *copy_all(int from, int to) {
    char block[1 << 16];
    long pages = sysconf(_SC_PHYS_PAGES), page = sysconf(_SC_PAGESIZE);
    uint64_t most = pages > 0 && page > 0 ? (uint64_t)pages * (uint64_t)page / 2 : UINT64_MAX, total = 0;
    for (;;) {
        ssize_t n = read(from, block, sizeof block);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return n ? strerror(errno) : NULL;
        if ((total += (uint64_t)n) > most)
            return "it gives more than half of the memory of this machine; write it to a file first";
        if (!write_all(to, block, (size_t)n))
            return errno == ENOSPC || errno == ENOMEM ? "the host is out of memory" : strerror(errno);
    }
}

/* Copies an input into memory. If the command line names a file descriptor (/dev/fd/N), descriptor N then refers to the
 * copy, so the name still works. Otherwise (a FIFO), in->path gets the path of the copy. Returns the reason of a
 * failure, or NULL. */
static const char *copy(struct cli_input *in, int from) {
    int to = memfd_create("heddle-input", 0);
    if (to < 0)
        return strerror(errno);
    const char *why = copy_all(from, to);
    if (!why && lseek(to, 0, SEEK_SET) != 0)
        why = strerror(errno);
    if (!why && in->number >= 0 && dup2(to, in->number) < 0)
        why = strerror(errno);
    in->copied = !why;
    if (why || in->number >= 0)
        close(to);
    else
        in->fd = to;
    if (in->number != STDIN_FILENO)
        snprintf(in->path, sizeof in->path, "/dev/fd/%d", in->number >= 0 ? in->number : to);
    return why;
}

/* Returns the input that reads the same pipe; NULL: none. */
static const struct cli_input *find_reader(const struct cli *c, int number, const struct stat *st) {
    for (const struct cli_input *i = c->inputs; i; i = i->next)
        if ((number >= 0 && i->number == number) ||
            (!S_ISREG(st->st_mode) && i->device == st->st_dev && i->inode == st->st_ino))
            return i;
    return NULL;
}

static struct cli_input *add(const struct cli *c, const char *place, const char *who, int number,
                             const struct stat *st) {
    struct cli_input *in = calloc(1, sizeof *in);
    char *name = strdup(who);
    if (!in || !name) {
        free(in);
        free(name);
        return NULL;
    }
    *in = (struct cli_input){.next = c->inputs,
                             .place = place,
                             .who = name,
                             .device = st->st_dev,
                             .inode = st->st_ino,
                             .number = number,
                             .fd = -1};
    snprintf(in->path, sizeof in->path, "%s", stdin_path);
    ((struct cli *)c)->inputs = in;
    return in;
}

/* Returns true if the input needs no copy: for a regular file or a folder; for stdin only if it is a regular file of
 * which nothing has been read. */
static bool is_file(const char *path, const struct stat *st) {
    if (strcmp(path, "-") == 0)
        return S_ISREG(st->st_mode) && lseek(STDIN_FILENO, 0, SEEK_CUR) == 0;
    return S_ISREG(st->st_mode) || S_ISDIR(st->st_mode);
}

static const char *read_once(const struct cli *c, const char *place, const char *path, const char *who,
                             const struct stat *st, char *err, size_t err_size) {
    int number = open_number(path), from = number >= 0 ? number : open(path, O_RDONLY | O_CLOEXEC);
    if (from < 0)
        return refuse(err, err_size, path, strerror(errno));
    struct cli_input *in = add(c, place, who, number, st);
    const char *wrong = !in ? "the host is out of memory" : NULL;
    if (in && !is_file(path, st) && is_endless(from, st))
        wrong = "is a device that has no end; write a part of it to a file first ('head -c BYTES')";
    else if (in && !is_file(path, st))
        wrong = copy(in, from);
    if (number < 0)
        close(from);
    return wrong ? refuse(err, err_size, path, wrong) : in->path;
}

const char *cli_input(const struct cli *c, const char *place, const char *path, const char *who, char *err,
                      size_t err_size) {
    struct stat st;
    char why[160];
    for (const struct cli_input *i = c->inputs; i; i = i->next)
        if (i->place == place)
            return i->path;
    if (!status_of(path, &st))
        return strcmp(path, "-") == 0 ? refuse(err, err_size, path, "is not open") : path;
    const struct cli_input *other = find_reader(c, open_number(path), &st);
    if (other) {
        snprintf(why, sizeof why, "%s reads it, and %s cannot read it again; write it to a file first", other->who,
                 who);
        return refuse(err, err_size, path, why);
    }
    if (strcmp(path, "-") != 0 && is_file(path, &st))
        return path;
    return read_once(c, place, path, who, &st, err, err_size);
}

void cli_input_free(struct cli_input *list) {
    while (list) {
        struct cli_input *next = list->next;
        if (list->fd >= 0)
            close(list->fd);
        free(list->who);
        free(list);
        list = next;
    }
}
