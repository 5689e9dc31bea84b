#ifndef HOST_OUTFILE_H
#define HOST_OUTFILE_H
/* Result files. A regular file is written under a temporary name in its folder (.heddle-PROCESS-NUMBER) and renamed
 * when it is complete; several files are renamed together or not at all. The new file has the mode of the file that it
 * replaces and, if the system permits it, its owner; links to it stay valid. "-", /dev/stdout, /dev/stderr and
 * /dev/fd/N are streams that are already open. An existing file that is not regular (/dev/null, a pipe) is written
 * directly. Temporary files are removed when a signal ends the process (interrupt.h). */
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/types.h>

struct outfile {
    const char *path;   /* not owned */
    char *target, *tmp; /* the resolved path, and the temporary name, which is NULL if the file is written directly */
    FILE *stream;
    bool shared; /* true if the stream is stdout or stderr, which stays open */
};

/* Returns the file descriptor that /dev/fd/N or /proc/self/fd/N names; -1: another path. */
int descriptor_in_path(const char *path);
/* Returns true if the path names the process's stdout. */
bool outfile_is_stdout(const char *path);
/* Checks before a long run that the file can be written, by creating a temporary file beside it. */
bool outfile_possible(const char *path, char *err, size_t err_size);
bool outfile_open(struct outfile *f, const char *path, char *err, size_t err_size);
/* Flushes a stream. Returns 0, or the errno of the first write that failed; EIO if it is unknown. After an error, the
 * content of the stream is lost. */
int outfile_error(FILE *stream);
/* Flushes all data to the system. The file still has its temporary name. */
bool outfile_flush(struct outfile *f, char *err, size_t err_size);
bool outfile_commit(struct outfile *f, char *err, size_t err_size);
/* Closes and removes a file that was not committed. After outfile_commit(), and on a zeroed struct, it does nothing. */
void outfile_discard(struct outfile *f);

/* The files that one run reads and writes. A file is recognised under different names. */
struct file_uses {
    struct file_use *use;
    int n, cap;
};

/* Notes that the run reads `path` for `who` ("argument 1"). Returns false if out of memory. */
bool file_uses_read(struct file_uses *u, const char *path, const char *who);
/* Notes that the run writes `path`. `own_input` is NULL, or the input file of the same argument, which the output may
 * replace. */
bool file_uses_write(struct file_uses *u, const char *path, const char *who, const char *own_input);
/* Checks that each output file is writable, written once, and not also read. On failure returns false with the
 * reason in `err`. */
bool file_uses_check(const struct file_uses *u, char *err, size_t err_size);
void file_uses_free(struct file_uses *u);
#endif
