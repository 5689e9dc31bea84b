#include "host/report/outfile.h"
#include "slurm.h"
#include "sweep.h"
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MAX_TASKS = 1000 };

bool share_read(const char *text, struct share *out) {
    char rest;
    return sscanf(text, "%d/%d%c", &out->i, &out->n, &rest) == 2 && out->n >= 1 && out->n <= MAX_TASKS && out->i >= 0 &&
           out->i < out->n;
}

char *share_folder(const char *database) {
    char *path = NULL;
    return asprintf(&path, "%s.parts", database) < 0 ? NULL : path;
}

char *share_database(const char *database, const struct share *s) {
    char *path = NULL;
    return asprintf(&path, "%s.parts/%d-of-%d.db", database, s->i, s->n) < 0 ? NULL : path;
}

/* Writes a word quoted for the shell. */
static void quote(FILE *f, const char *word) {
    fputc('\'', f);
    for (; *word; word++)
        if (*word == '\'')
            fputs("'\\''", f);
        else
            fputc(*word, f);
    fputc('\'', f);
}

/* Writes a word of the sweep's command line. */
static void print_word(void *ctx, const char *word) {
    FILE *f = ctx;
    fputc(' ', f);
    if (strncmp(word, "--", 2) == 0 && !word[strspn(word, "abcdefghijklmnopqrstuvwxyz-")])
        fputs(word, f);
    else
        quote(f, word);
}

/* The text of the script, which has three roles. When the user runs it, it submits itself twice: as the tasks of a job
 * array, and as the merge job after them. A task executes its part of the sweep. The merge job merges the databases of
 * the parts, and submits again the runs that are still missing. The script contains its own path, because Slurm runs a
 * copy. */
static const char roles[] =
    "sweep() { \"$heddle\" sweep --output \"$database\" \"$@\" @SWEEP@; }\n"
    "merge() { set -- \"$database\".parts/*.db; [ ! -e \"$1\" ] || "
    "\"$heddle\" results --merge \"$@\" --output \"$database\"; }\n"
    "missing() { sweep --dry-run | tail -n 1 | sed 's/.*, \\([0-9]*\\) of them missing$/\\1/'; }\n"
    "submit() {\n"
    "    attempt=$1; shift\n"
    "    array=$(sbatch --parsable --job-name=heddle-sweep --requeue --open-mode=append --cpus-per-task=\"$jobs\" "
    "--array=0-$((tasks - 1)) --output=\"$log-%a.txt\" \"$@\" \"$script\" task)\n"
    "    last=$(sbatch --parsable --job-name=heddle-merge --dependency=\"afterany:${array%%;*}\" --open-mode=append "
    "--output=\"$log-merge.txt\" \"$@\" \"$script\" merge \"$attempt\" \"$@\")\n"
    "    echo \"$tasks tasks: job ${array%%;*}; merged by job ${last%%;*}\"\n"
    "}\n"
    "case ${1-} in\n"
    "task)\n"
    "    sweep --part \"$SLURM_ARRAY_TASK_ID/$tasks\" --jobs \"${SLURM_CPUS_PER_TASK:-$jobs}\" ;;\n"
    "merge)\n"
    "    attempt=$2; shift 2\n"
    "    merge\n"
    "    left=$(missing)\n"
    "    echo \"$left runs are missing\"\n"
    "    [ \"$left\" -eq 0 ] || { [ \"$attempt\" -lt 3 ] && submit $((attempt + 1)) \"$@\"; } ;;\n"
    "*)\n"
    "    command -v sbatch >/dev/null || { echo \"$0: sbatch is not found: is this a machine of the cluster?\" >&2; "
    "exit 2; }\n"
    "    mkdir -p \"$database.parts\"\n"
    "    merge\n"
    "    submit 1 \"$@\" ;;\n"
    "esac\n";

static void assign(FILE *f, const char *name, const char *folder, const char *path, const char *end) {
    fprintf(f, "%s=", name);
    char *all = NULL;
    if (asprintf(&all, "%s%s%s%s", *path == '/' ? "" : folder, *path == '/' ? "" : "/", path, end) >= 0)
        quote(f, all);
    free(all);
    fputc('\n', f);
}

static void print_script(const struct cli *c, FILE *f, const char *heddle, const char *folder, const char *database,
                         int tasks) {
    const char *jobs = cli_value(c, "jobs"), *at = strstr(roles, "@SWEEP@");
    fprintf(
        f,
        "#!/bin/sh\n"
        "# A sweep in %d Slurm tasks, written by heddle %s. 'sh FILE [SBATCH OPTION...]' submits all missing runs.\n"
        "# Each task writes its own database; the last job merges them.\n"
        "set -eu\n",
        tasks, HEDDLE_VERSION);
    assign(f, "heddle", folder, heddle, "");
    assign(f, "database", folder, database, "");
    assign(f, "script", folder, database, ".slurm");
    assign(f, "log", folder, database, ".parts/task");
    fprintf(f, "tasks=%d\njobs=%s\ncd ", tasks, jobs ? jobs : "1");
    quote(f, folder);
    fprintf(f, "\n%.*s", (int)(at - roles), roles);
    sweep_words(c, print_word, f);
    fputs(at + strlen("@SWEEP@"), f);
}

static char *script_of(const char *database) {
    char *path = NULL;
    return asprintf(&path, "%s.slurm", database) < 0 ? NULL : path;
}

bool slurm_write(const struct cli *c, const char *database, int tasks) {
    char heddle[PATH_MAX] = "", folder[PATH_MAX], err[512] = "the host is out of memory", *path = script_of(database);
    struct outfile f = {0};
    bool fine = path != NULL;
    if (fine && (readlink("/proc/self/exe", heddle, sizeof heddle - 1) < 0 || !getcwd(folder, sizeof folder))) {
        snprintf(err, sizeof err, "where heddle is, or this folder: %s", strerror(errno));
        fine = false;
    }
    fine = fine && outfile_open(&f, path, err, sizeof err);
    if (fine)
        print_script(c, f.stream, heddle, folder, database, tasks);
    fine = fine && outfile_flush(&f, err, sizeof err) && outfile_commit(&f, err, sizeof err);
    outfile_discard(&f);
    free(path);
    if (!fine)
        cli_fail(c, "%s", err);
    return fine;
}

enum heddle_status slurm_submit(const struct cli *c, const char *database) {
    char *path = script_of(database);
    int how = 0;
    if (!path)
        return cli_fail(c, "the host is out of memory");
    fflush(NULL);
    pid_t pid = fork();
    if (pid == 0) {
        execl("/bin/sh", "sh", path, (char *)NULL);
        _exit(127);
    }
    while (pid > 0 && waitpid(pid, &how, 0) < 0 && errno == EINTR)
        continue;
    bool fine = pid > 0 && WIFEXITED(how) && WEXITSTATUS(how) == 0;
    if (!fine)
        cli_fail(c, "%s was not submitted; 'sh %s' submits it", path, path);
    free(path);
    return fine ? HEDDLE_OK : HEDDLE_USAGE;
}
