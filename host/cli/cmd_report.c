/* heddle report: writes an HTML page about the runs of a database. */
#include "cmd.h"
#include "help.h"
#include "host/report/outfile.h"
#include "host/report/report.h"
#include "where.h"
#include <stdlib.h>

static const struct option_def options[] = {
    {'o', "output", "FILE", "the page (default report.html); - is stdout"},
    {0, "where", "CONDITION", "only matching runs, as for heddle results; may be repeated"},
    {0, "title", "TEXT", "title of the page (default the database's name)"},
    {0, NULL, NULL, NULL},
};

static bool write_page(struct report *r, const char *path) {
    struct outfile f = {0};
    bool fine = outfile_open(&f, path, r->err, sizeof r->err);
    r->out = f.stream;
    fine = fine && report_write(r) && outfile_flush(&f, r->err, sizeof r->err) &&
           outfile_commit(&f, r->err, sizeof r->err);
    outfile_discard(&f);
    return fine;
}

static enum heddle_status report(const struct cli *c, struct report *r) {
    const char *path = cli_value(c, "output") ? cli_value(c, "output") : "report.html";
    struct file_uses uses = {0};
    enum heddle_status status = HEDDLE_USAGE;
    bool possible = file_uses_read(&uses, c->words[0], "the database") &&
                    file_uses_write(&uses, path, "--output", NULL) && file_uses_check(&uses, r->err, sizeof r->err);
    file_uses_free(&uses);
    if (!possible) {
        cli_error(c, "%s", r->err);
    } else if (!cli_rows(c, r->db, r->set, &r->rows, &r->n, r->err, sizeof r->err)) {
        cli_error(c, "%s", r->err);
    } else if (!r->n) {
        cli_fail(c, "nothing to report: %s", r->set->n ? "no run fits --where" : "there are no runs yet");
    } else {
        rows_sort(r->set, r->rows, r->n);
        /* message in case that a part of write_page() fails without a message of its own */
        snprintf(r->err, sizeof r->err, "the host is out of memory");
        status = write_page(r, path) ? HEDDLE_OK : cli_fail(c, "%s", r->err);
        if (status == HEDDLE_OK && !outfile_is_stdout(path))
            printf("Written: %s\n", path);
    }
    free(r->rows);
    return status;
}

static enum heddle_status run(const struct cli *c) {
    struct result_set set;
    struct report r = {.set = &set};
    enum heddle_status status = HEDDLE_USAGE;
    if (c->n_words != 1)
        return cli_error(c, "which file? For example 'heddle report results.db'");
    r.title = cli_value(c, "title") ? cli_value(c, "title") : c->words[0];
    if (!(r.db = results_open(c->words[0], false, r.err, sizeof r.err)))
        return cli_fail(c, "%s", r.err);
    if (results_load(r.db, false, &set, r.err, sizeof r.err))
        status = report(c, &r);
    else
        cli_fail(c, "%s", r.err);
    result_set_free(&set);
    results_close(r.db);
    return status;
}

const struct command cmd_report = {
    "report", "FILE [OPTION...]", "write an HTML page about a database of runs", help_report, options, run, false,
};
