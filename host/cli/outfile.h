#ifndef HOST_OUTFILE_H
#define HOST_OUTFILE_H
/* Result files: written beside their place as FILE.tmp and renamed when all is there, several of them together or none.
 * "-" is stdout; what exists and is no regular file (/dev/null, a pipe) is written directly. */
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

struct outfile {
    const char *path; /* not owned */
    char *tmp;        /* NULL: written directly */
    FILE *stream;
};

/* Whether a file could be created there: to be asked before a long run. */
bool outfile_possible(const char *path, char *err, size_t err_size);
bool outfile_open(struct outfile *f, const char *path, char *err, size_t err_size);
/* Everything written reached the disk; the file has not its name yet. */
bool outfile_flush(struct outfile *f, char *err, size_t err_size);
bool outfile_commit(struct outfile *f, char *err, size_t err_size);
/* Closes and removes what was not committed. Allowed after commit, and on a zeroed struct. */
void outfile_discard(struct outfile *f);
#endif
