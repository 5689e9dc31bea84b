#ifndef HOST_CLI_SLURM_H
#define HOST_CLI_SLURM_H
/* Writes a sweep as a Slurm job array: a script that submits itself. */
#include "cmd.h"

/* One share of a sweep: part `i` of `n`, from 0. */
struct share {
    int i, n;
};
/* Parses "3/8". False: not a share. */
bool share_read(const char *text, struct share *out);
/* Return the folder of the shares' databases, and the database of one share. The caller frees them; NULL: out of
 * memory. */
char *share_folder(const char *database);
char *share_database(const char *database, const struct share *s);

/* Writes the script for this command line's sweep to `database`.slurm, with `tasks` tasks. False after a message. */
bool slurm_write(const struct cli *c, const char *database, int tasks);
/* Runs the script, which submits the jobs. */
enum heddle_status slurm_submit(const struct cli *c, const char *database);
#endif
