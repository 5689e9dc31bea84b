/* heddle reproduce: makes the papers' figures from Heddle's runs, beside the papers' numbers. */
#include "cmd.h"
#include "cmd_plan.h"
#include "help.h"
#include "host/report/figure.h"
#include "host/report/gnuplot.h"
#include "host/report/outfile.h"
#include "host/table.h"
#include "plan_live.h"
#include "ptx/diag.h"
#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const struct option_def options[] = {
    {0, "size", "SIZE", "small (the default) or paper"},
    {0, "programs", "LIST", "of a figure without a paper: programs and sets to run, separated by commas or spaces"},
    {'o', "output", "FILE", "the database of runs, created if missing (default results.db)"},
    {0, "to", "FOLDER", "folder for CSV and plots, created if missing (default reproduction)"},
    {0, "no-plots", NULL, "no SVG and PNG"},
    {'j', "jobs", "N", "runs at a time (default: the number of processors)"},
    PLAN_LIVE_OPTION,
    {0, NULL, NULL, NULL},
};

static int count_figures(void) {
    int n = 0;
    while (figure_at(n))
        n++;
    return n;
}

static enum heddle_status list(void) {
    static const char *const titles[] = {"figure", "what it shows", "of", "programs", NULL};
    struct table *t = table_new(titles);
    for (int i = 0; figure_at(i); i++) {
        const struct figure *f = figure_at(i);
        table_text(t, f->name);
        table_text(t, f->title);
        table_text(t, f->paper);
        table_text(t, f->missing ? "(not there yet)" : f->programs);
    }
    table_print(t, stdout);
    table_free(t);
    return HEDDLE_OK;
}

/* Returns the number at the end of a figure's name, without a letter after it ("9b": 9); 0: the name has no number. */
static int number_of(const char *name) {
    const char *end = name + strlen(name);
    while (end > name && isalpha((unsigned char)end[-1]))
        end--;
    const char *digits = end;
    while (digits > name && isdigit((unsigned char)digits[-1]))
        digits--;
    return atoi(digits);
}

/* Suggests figures for an unknown name: figures with the same beginning (up to a dash or digit), else with the same
 * number. */
static void close_figures(const char *name, char *out, size_t size) {
    size_t stem = strcspn(name, "-0123456789");
    int number = number_of(name);
    for (int way = 0; way < 2 && !*out; way++)
        for (int i = 0; figure_at(i); i++) {
            const char *one = figure_at(i)->name;
            bool close = way ? number && number_of(one) == number : stem && strncmp(one, name, stem) == 0;
            if (close && strlen(out) + strlen(one) + 3 < size) {
                strcat(out, *out ? ", " : "");
                strcat(out, one);
            }
        }
}

static enum heddle_status unknown(const struct cli *c, const char *name) {
    int n = count_figures();
    char close[256] = "";
    const char **names = calloc((size_t)n + 2, sizeof *names);
    for (int i = 0; names && i < n; i++)
        names[i] = figure_at(i)->name;
    if (names) {
        names[n] = "all";
        names[n + 1] = "list";
    }
    const char *near = names ? diag_suggest(name, names, n + 2) : NULL;
    close_figures(name, close, sizeof close);
    if (strcmp(name, "list") == 0)
        cli_error(c, "'list' stands alone, without figures");
    else if (near)
        cli_error(c, "there is no figure '%s'; did you mean '%s'?", name, near);
    else if (*close)
        cli_error(c, "there is no figure '%s'; there %s %s", name, strchr(close, ',') ? "are" : "is", close);
    else
        cli_error(c, "there is no figure '%s'; 'heddle reproduce list' shows them", name);
    free(names);
    return HEDDLE_USAGE;
}

struct reproduction {
    const struct cli *c;
    struct figure_runs *figures;
    char *programs; /* value of --programs, with spaces in place of commas; NULL: not given */
    /* index: number in `figures`; a copy of the figure in which the programs of --programs replace the figure's own */
    struct figure *chosen;
    int n, size;
    struct plan plan;
    const char *folder;
    bool plots;         /* true while figures are drawn: plots are requested, and none has failed */
    bool no_gnuplot;    /* gnuplot is not installed */
    char undrawn[1024]; /* why the last plot failed; empty if it did not */
};

/* Returns the path FOLDER/FIGURE.ENDING, which the caller frees. */
static char *path_of(const struct reproduction *x, const struct figure *f, const char *ending) {
    char *path;
    return asprintf(&path, "%s/%s.%s", x->folder, f->name, ending) < 0 ? NULL : path;
}

static bool write_csv(const struct reproduction *x, const struct figure_runs *r, const struct panel_values *v, int n,
                      char *err, size_t err_size) {
    char *path = path_of(x, r->figure, "csv");
    struct outfile f = {0};
    snprintf(err, err_size, "the host is out of memory");
    bool fine = path && outfile_open(&f, path, err, err_size);
    if (fine)
        figure_csv(r, v, n, f.stream);
    fine = fine && outfile_flush(&f, err, err_size) && outfile_commit(&f, err, err_size);
    outfile_discard(&f);
    free(path);
    return fine;
}

/* Draws a figure. After a failure no further figure is drawn, but tables are still printed. */
static void draw(struct reproduction *x, const struct figure_runs *r, const struct panel_values *v, int n,
                 const char *ending) {
    char *path = path_of(x, r->figure, ending), *script = NULL;
    size_t len;
    FILE *f = open_memstream(&script, &len);
    int done = -1;
    snprintf(x->undrawn, sizeof x->undrawn, "the host is out of memory");
    if (f)
        (r->figure->contest ? figure_map_script : figure_script)(r, v, n, ending, f);
    if (f && fclose(f) == 0 && path)
        done = gnuplot_file(script, path, x->undrawn, sizeof x->undrawn);
    x->no_gnuplot = done == 0;
    x->plots = done > 0;
    if (done >= 0)
        *x->undrawn = '\0';
    free(script);
    free(path);
}

/* Prints a figure, writes its CSV and draws it. `page` keeps its numbers for the HTML page. */
static bool show_figure(struct reproduction *x, struct figure_page *page, const struct result_set *set, char *err,
                        size_t err_size) {
    const struct figure_runs *r = page->runs;
    bool fine = true;
    snprintf(err, err_size, "the host is out of memory");
    for (; fine && page->n < FIGURE_PANELS && r->figure->panels[page->n].title; page->n++)
        fine = panel_fill(&page->panels[page->n], r, page->n, &x->plan, set);
    if (fine && r->figure->contest)
        fine = (page->best = figure_best(r, &page->panels[0], &x->plan, set)) != NULL;
    if (!fine)
        return false;
    if (page->best)
        figure_contest_print(r, page->panels, page->n, page->best, stdout);
    else
        figure_print(r, page->panels, page->n, stdout);
    if (!page->n)
        return true;
    if (!write_csv(x, r, page->panels, page->n, err, err_size))
        return false;
    if (x->plots)
        draw(x, r, page->panels, page->n, "svg");
    if (x->plots)
        draw(x, r, page->panels, page->n, "png");
    printf("\nWritten: %s/%s.csv%s\n", x->folder, r->figure->name, x->plots ? " .svg .png" : "");
    return true;
}

/* Writes the file `name` about all figures. The function `write` writes its content. */
static bool write_whole(const struct reproduction *x, const char *name, const struct summary *s,
                        void (*write)(const struct reproduction *x, const struct summary *s, FILE *out), char *err,
                        size_t err_size) {
    struct outfile f = {0};
    char *path;
    snprintf(err, err_size, "the host is out of memory");
    if (asprintf(&path, "%s/%s", x->folder, name) < 0)
        return false;
    bool fine = outfile_open(&f, path, err, err_size);
    if (fine)
        write(x, s, f.stream);
    fine = fine && outfile_flush(&f, err, err_size) && outfile_commit(&f, err, err_size);
    outfile_discard(&f);
    if (fine)
        printf("Written: %s\n", path);
    free(path);
    return fine;
}

static void page_to(const struct reproduction *x, const struct summary *s, FILE *out) {
    figure_page(s, bench_size_name((enum bench_size)x->size), x->plan.binary, out);
}

static void summary_to(const struct reproduction *x, const struct summary *s, FILE *out) {
    struct table *t = summary_table(s);
    (void)x;
    table_csv(t, out);
    table_free(t);
}

/* Prints a table that shows how well each figure agrees with the paper. */
static void print_summary(const struct summary *s) {
    struct table *t = summary_table(s);
    fputs("\n\n", stdout);
    table_print(t, stdout);
    table_free(t);
}

static bool show_summary(struct reproduction *x, const struct figure_page *pages, const struct result_set *set,
                         char *err, size_t err_size) {
    struct summary s;
    snprintf(err, err_size, "the host is out of memory");
    bool fine = summary_make(&s, pages, x->n, &(struct figure_source){&x->plan, set});
    if (fine && x->n > 1)
        print_summary(&s);
    if (fine)
        putchar('\n');
    fine = fine && write_whole(x, "summary.csv", &s, summary_to, err, err_size) &&
           write_whole(x, "index.html", &s, page_to, err, err_size);
    summary_free(&s);
    return fine;
}

static enum heddle_status show_all(struct reproduction *x, const struct result_set *set) {
    char err[1024];
    struct figure_page *pages = calloc((size_t)x->n + 1, sizeof *pages);
    bool fine = pages != NULL;
    if (!fine)
        snprintf(err, sizeof err, "the host is out of memory");
    for (int i = 0; i < x->n && fine; i++) {
        if (i)
            puts("\n");
        pages[i].runs = &x->figures[i];
        fine = show_figure(x, &pages[i], set, err, sizeof err);
    }
    fine = fine && show_summary(x, pages, set, err, sizeof err);
    for (int i = 0; pages && i < x->n; i++) {
        for (int p = 0; p < FIGURE_PANELS; p++)
            panel_free(&pages[i].panels[p]);
        free(pages[i].best);
    }
    free(pages);
    return fine ? HEDDLE_OK : cli_fail(x->c, "%s", err);
}

static enum heddle_status show(struct reproduction *x, struct results_db *db) {
    char err[1024];
    struct result_set set;
    if (!results_load(db, false, &set, err, sizeof err))
        return cli_fail(x->c, "%s", err);
    enum heddle_status status = show_all(x, &set);
    fflush(stdout);
    if (x->no_gnuplot)
        fputs("heddle reproduce: no plots, since gnuplot is not installed: " GNUPLOT_INSTALL "\n", stderr);
    if (*x->undrawn) {
        enum heddle_status failed = cli_fail(x->c, "%s; no plots from there on, --no-plots does without", x->undrawn);
        status = status == HEDDLE_OK ? failed : status;
    }
    enum heddle_status runs = plan_complain(&x->plan, &set, x->c);
    result_set_free(&set);
    return status != HEDDLE_OK ? status : runs;
}

/* Makes the folder of the figures if needed, and checks before any run that it is writable. */
static bool folder_possible(const struct reproduction *x) {
    char err[1024], *path = NULL;
    struct stat st;
    bool fine = mkdir(x->folder, 0777) == 0 || errno == EEXIST;
    if (!fine)
        cli_error(x->c, "--to: the folder '%s' cannot be made: %s", x->folder, strerror(errno));
    else if (stat(x->folder, &st) != 0 || !S_ISDIR(st.st_mode))
        fine = cli_error(x->c, "--to: %s is no folder", x->folder) == HEDDLE_OK;
    else if (asprintf(&path, "%s/summary.csv", x->folder) < 0)
        fine = cli_fail(x->c, "the host is out of memory") == HEDDLE_OK;
    else if (!outfile_possible(path, err, sizeof err))
        fine = cli_fail(x->c, "%s; --to names another folder", err) == HEDDLE_OK;
    free(path);
    return fine;
}

static enum heddle_status run_figures(struct reproduction *x) {
    uint64_t parallel = (uint64_t)sysconf(_SC_NPROCESSORS_ONLN);
    const char *file = cli_value(x->c, "output"), *to = cli_value(x->c, "to");
    char err[1024];
    if (!cli_number(x->c, "jobs", 1, 256, &parallel))
        return HEDDLE_USAGE;
    if (file && !*file)
        return cli_error(x->c, "--output is empty; it takes the name of a database, created if missing");
    x->folder = to ? to : "reproduction";
    x->plots = !cli_has(x->c, "no-plots");
    if (!folder_possible(x))
        return HEDDLE_USAGE;
    struct results_db *db = results_open(file ? file : "results.db", true, err, sizeof err);
    if (!db)
        return cli_fail(x->c, "%s", err);
    struct plan_outcome done;
    enum heddle_status status = plan_execute(&x->plan, db, (int)parallel, x->c, &done);
    if (status == HEDDLE_OK)
        status = show(x, db);
    results_close(db);
    return status;
}

/* Returns the first word of --programs that is neither a program nor a set; NULL: there is none. */
static const char *unknown_program(const char *programs, char *word, size_t size) {
    for (const char *at = programs; *at; at += strspn(at, " ")) {
        bool found = false;
        size_t len = strcspn(at, " ");
        snprintf(word, size, "%.*s", (int)len, at);
        at += len;
        for (int i = 0; i < n_all_benches; i++)
            found = found || strcmp(benches[i]->name, word) == 0 || bench_in(benches[i], word);
        if (!found)
            return word;
    }
    return NULL;
}

/* Returns true if the word names a figure of a paper, or is "all". */
static bool is_of_paper(const char *word) {
    for (int k = 0; figure_at(k); k++)
        if (strcmp(figure_at(k)->name, word) == 0)
            return !figure_at(k)->own;
    return strcmp(word, "all") == 0;
}

/* Reads --programs. Prints a message and returns false if its value is not a list of programs of Heddle, or if it
 * accompanies a paper's figure, whose programs the paper names. */
static bool choose_programs(struct reproduction *x) {
    char word[64];
    const char *list = cli_value(x->c, "programs"), *unknown_word;
    if (!list)
        return true;
    for (int i = 0; i < x->c->n_words; i++)
        if (is_of_paper(x->c->words[i])) {
            cli_error(x->c, "--programs: a paper names the programs of its figures; it works with 'mechanisms', "
                            "'today' and 'modern-core'");
            return false;
        }
    x->programs = strdup(list);
    for (char *at = x->programs; at && *at; at++)
        *at = *at == ',' ? ' ' : *at;
    if (!x->programs)
        return cli_fail(x->c, "the host is out of memory") == HEDDLE_OK;
    if ((unknown_word = unknown_program(x->programs, word, sizeof word)) || !x->programs[strspn(x->programs, " ")]) {
        cli_error(x->c, "--programs: there is no program or set '%s'; 'heddle list benchmarks' shows them",
                  unknown_word ? unknown_word : "");
        return false;
    }
    return true;
}

/* Adds a figure to the plan, unless the user has named it before. */
static bool add_figure(struct reproduction *x, const struct figure *f, char *err, size_t err_size) {
    for (int k = 0; k < x->n; k++)
        if (strcmp(x->figures[k].figure->name, f->name) == 0)
            return true;
    if (x->programs) {
        x->chosen[x->n] = *f;
        x->chosen[x->n].programs = x->programs;
        f = &x->chosen[x->n];
    }
    return figure_plan(&x->figures[x->n++], f, (enum bench_size)x->size, &x->plan, err, err_size);
}

/* Selects the named figures; "all" stands for every figure of a paper. Prints a message and returns false on an
 * error. */
static bool choose(struct reproduction *x) {
    char err[1024];
    int all = count_figures();
    x->figures = calloc((size_t)(all + x->c->n_words), sizeof *x->figures);
    x->chosen = calloc((size_t)(all + x->c->n_words), sizeof *x->chosen);
    bool fine = x->figures && x->chosen && plan_start(&x->plan, err, sizeof err);
    if (!x->figures || !x->chosen)
        snprintf(err, sizeof err, "the host is out of memory");
    for (int w = 0; fine && w < x->c->n_words; w++) {
        bool every = strcmp(x->c->words[w], "all") == 0, found = false;
        for (int i = 0; fine && i < all; i++) {
            if (every ? figure_at(i)->own : strcmp(figure_at(i)->name, x->c->words[w]) != 0)
                continue;
            found = true;
            fine = add_figure(x, figure_at(i), err, sizeof err);
        }
        if (!found) {
            unknown(x->c, x->c->words[w]);
            return false;
        }
    }
    if (!fine)
        cli_fail(x->c, "%s", err);
    return fine;
}

static enum heddle_status run(const struct cli *c) {
    struct reproduction x = {.c = c};
    enum heddle_status status = HEDDLE_USAGE;
    if (!c->n_words)
        return cli_error(c, "which figure? 'heddle reproduce list' shows them");
    if (c->n_words == 1 && strcmp(c->words[0], "list") == 0)
        return list();
    if (cli_size(c, &x.size) && choose_programs(&x) && choose(&x))
        status = run_figures(&x);
    for (int i = 0; i < x.n; i++)
        figure_runs_free(&x.figures[i]);
    free(x.figures);
    free(x.chosen);
    free(x.programs);
    plan_free(&x.plan);
    return status;
}

const struct command cmd_reproduce = {
    "reproduce",
    "FIGURE...|all|list [OPTION...]",
    "reproduce a paper's figure: our numbers beside the paper's",
    help_reproduce,
    options,
    run,
    false,
};
