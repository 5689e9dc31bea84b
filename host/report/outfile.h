#ifndef HOST_OUTFILE_H
#define HOST_OUTFILE_H
/* Result files. A regular file is written under a private name in its own folder (.heddle-PROCESS-NUMBER) and renamed
 * when all is there, several of them together or none; then it has the mode and owner of the file it replaces, and
 * links to it still lead to it. "-", /dev/stdout, /dev/stderr and /dev/fd/N are streams that are open already; what
 * exists and is no regular file (/dev/null, a pipe) is written directly. Private names are removed when a signal ends
 * the process (interrupt.h). */
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/types.h>

struct outfile {
    const char *path;   /* not owned */
    char *target, *tmp; /* what `path` leads to, and its name until then; NULL: written directly */
    FILE *stream;
    bool shared; /* the stream is stdout or stderr, and stays open */
};

/* The file descriptor that /dev/fd/N or /proc/self/fd/N names; -1 for other paths. */
int descriptor_in_path(const char *path);
/* Does the path name the process's stdout? */
bool outfile_is_stdout(const char *path);
/* Whether the file could be written: to be asked before a long run. Creates a file beside it for a moment. */
bool outfile_possible(const char *path, char *err, size_t err_size);
bool outfile_open(struct outfile *f, const char *path, char *err, size_t err_size);
/* Everything written has been taken by the system; the file has not its name yet. */
bool outfile_flush(struct outfile *f, char *err, size_t err_size);
bool outfile_commit(struct outfile *f, char *err, size_t err_size);
/* Closes and removes what was not committed. Allowed after commit, and on a zeroed struct. */
void outfile_discard(struct outfile *f);

/* The files of one run, each known by what it is, whatever it is called. */
struct file_uses {
    struct file_use *use;
    int n, cap;
};

/* Notes that the run reads `path`. `who` says for what ("argument 1"). False when memory is out. */
bool file_uses_read(struct file_uses *u, const char *path, const char *who);
/* Notes that it writes it. `own_input`, or NULL: a file that the same argument reads, and may replace. */
bool file_uses_write(struct file_uses *u, const char *path, const char *who, const char *own_input);
/* Whether each file that is written is possible, written once, and not also read; else says why not. */
bool file_uses_check(const struct file_uses *u, char *err, size_t err_size);
void file_uses_free(struct file_uses *u);
#endif
