#include "outfile.h"
#include <errno.h>
#include <libgen.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static bool refuse(const char *path, int error, char *err, size_t size) {
    snprintf(err, size, "%s: %s", path, strerror(error));
    return false;
}

static bool is_direct(const char *path) {
    struct stat st;
    return stat(path, &st) == 0 && !S_ISREG(st.st_mode) && !S_ISDIR(st.st_mode);
}

bool outfile_possible(const char *path, char *err, size_t err_size) {
    struct stat st;
    char folder[PATH_MAX];
    if (strcmp(path, "-") == 0 || is_direct(path))
        return true;
    if (!*path || strlen(path) + 5 > sizeof folder)
        return refuse(path, *path ? ENAMETOOLONG : ENOENT, err, err_size);
    if (stat(path, &st) == 0 && S_ISDIR(st.st_mode))
        return refuse(path, EISDIR, err, err_size);
    strcpy(folder, path);
    return access(dirname(folder), W_OK | X_OK) == 0 || refuse(path, errno, err, err_size);
}

bool outfile_open(struct outfile *f, const char *path, char *err, size_t err_size) {
    *f = (struct outfile){.path = path};
    if (strcmp(path, "-") == 0) {
        f->stream = stdout;
        return true;
    }
    if (is_direct(path)) {
        f->stream = fopen(path, "wb");
    } else if (asprintf(&f->tmp, "%s.tmp", path) < 0) {
        f->tmp = NULL;
        return refuse(path, ENOMEM, err, err_size);
    } else {
        f->stream = fopen(f->tmp, "wb");
    }
    if (f->stream)
        return true;
    refuse(f->tmp ? f->tmp : path, errno, err, err_size);
    free(f->tmp);
    f->tmp = NULL;
    return false;
}

bool outfile_flush(struct outfile *f, char *err, size_t err_size) {
    errno = 0;
    bool fine = fflush(f->stream) == 0 && !ferror(f->stream);
    if (!fine)
        refuse(f->path, errno ? errno : EIO, err, err_size);
    if (f->stream != stdout && fclose(f->stream) != 0 && fine)
        fine = refuse(f->path, errno, err, err_size);
    f->stream = NULL;
    return fine;
}

bool outfile_commit(struct outfile *f, char *err, size_t err_size) {
    if (f->tmp && rename(f->tmp, f->path) != 0)
        return refuse(f->path, errno, err, err_size);
    free(f->tmp);
    f->tmp = NULL;
    return true;
}

void outfile_discard(struct outfile *f) {
    if (f->stream && f->stream != stdout)
        fclose(f->stream);
    f->stream = NULL;
    if (f->tmp)
        unlink(f->tmp);
    free(f->tmp);
    f->tmp = NULL;
}
