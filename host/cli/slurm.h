#ifndef HOST_CLI_SLURM_H
#define HOST_CLI_SLURM_H
/* Writes a sweep as a Slurm job array: a script that submits itself. */
#include "cmd.h"

/* One part of a sweep: part `i`, counted from 0, of `n`. */
struct share {
    int i, n;
};
/* Parses "3/8". Returns false for other text. */
bool share_read(const char *text, struct share *out);
/* Return the folder of the parts' databases, and the path of one part's database. The caller frees them; NULL: out of
 * memory. */
char *share_folder(const char *database);
char *share_database(const char *database, const struct share *s);

/* Writes the script for this command line's sweep to `database`.slurm, with `tasks` tasks. Prints a message and returns
 * false on an error. */
bool slurm_write(const struct cli *c, const char *database, int tasks);
/* Runs the script, which submits the jobs. */
enum heddle_status slurm_submit(const struct cli *c, const char *database);
#endif
