#ifndef HOST_CLI_SLURM_H
#define HOST_CLI_SLURM_H
/* A sweep as a job array of Slurm: a script that submits itself. */
#include "cmd.h"

/* One share of a sweep: part `i` of `n`, from 0. */
struct share {
    int i, n;
};
/* "3/8"; false when it is none. */
bool share_read(const char *text, struct share *out);
/* The folder of the databases of shares, and the database of one. Free them; NULL: no memory. */
char *share_folder(const char *database);
char *share_database(const char *database, const struct share *s);

/* Writes the script for the sweep that the command line is, into `database`.slurm: `tasks` tasks. False after a
 * message. */
bool slurm_write(const struct cli *c, const char *database, int tasks);
/* Runs the script, which submits the jobs. */
enum heddle_status slurm_submit(const struct cli *c, const char *database);
#endif
