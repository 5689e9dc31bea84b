#ifndef HOST_INPUT_H
#define HOST_INPUT_H
/* Input files that can be read only once: stdin, pipes, FIFOs, `<(command)`. Each is copied to its end into memory when
 * the command line is read. Runs, and the processes of parallel runs, then open the copy as often as they need. */
#include "cmd.h"

/* The path under which runs open an input file. A regular file, or a path that leads nowhere, gives `path` itself. A
 * pipe, FIFO, terminal or "-" (stdin) is copied first, which lasts until its writers close it. A signal ends the
 * process meanwhile.
 *   `place`: where the command line names the file, by which a second call finds the copy of the first;
 *   `who`: the reader in messages ("argument 2").
 * The result lives as long as `c`. NULL with the reason in `err`: a device without an end, a pipe that something else
 * has read already, or one that is longer than half of the memory of this machine. */
const char *cli_input(const struct cli *c, const char *place, const char *path, const char *who, char *err,
                      size_t err_size);
/* Returns true if the word names a file that cli_input() would copy. */
bool cli_input_is_pipe(const char *path);
/* Returns true if cli_input() has copied a file. A process that is started later cannot see the copy. */
bool cli_input_copied(const struct cli *c);
void cli_input_free(struct cli_input *list);
#endif
