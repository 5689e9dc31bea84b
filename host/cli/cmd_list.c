/* heddle list: lists benchmarks, models, options, statistics and instructions; with --markdown as the pages of
 * docs/. */
#include "benchmarks/bench.h"
#include "cmd.h"
#include "frontend/frontend.h"
#include "help.h"
#include "host/models.h"
#include "host/table.h"
#include "isa/decode.h"
#include "isa/document.h"
#include "timing/config/config.h"
#include "timing/report/stat.h"
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

static const struct option_def options[] = {
    {0, "markdown", NULL, "as a table for a documentation page"},
    {0, "csv", NULL, "as CSV"},
    {0, "of", "FILE", "instructions: which opcodes of FILE (one a line) run, and why others do not"},
    {0, NULL, NULL, NULL},
};

static struct table *list_benchmarks(void) {
    static const char *const titles[] = {"benchmark", "sets", "what it is", NULL};
    struct table *t = table_new(titles);
    for (int i = 0; i < n_all_benches; i++) {
        table_text(t, benches[i]->name);
        table_text(t, benches[i]->sets);
        table_text(t, benches[i]->help);
    }
    return t;
}

static struct table *list_sets(void) {
    static const char *const titles[] = {"set", ">benchmarks", "what it is", NULL};
    struct table *t = table_new(titles);
    for (int i = 0; i < n_bench_sets; i++) {
        double members = 0;
        for (int b = 0; b < n_all_benches; b++)
            members += bench_in(benches[b], bench_sets[i].name);
        table_text(t, bench_sets[i].name);
        table_number(t, members, NUM_COUNT);
        table_text(t, bench_sets[i].help);
    }
    return t;
}

static struct table *list_models(void) {
    static const char *const titles[] = {"model", "what it is", NULL};
    struct table *t = table_new(titles);
    const struct model *m;
    const struct mechanism *e;
    for (int i = 0; (m = model_at(&model_tables, i)); i++) {
        table_text(t, m->name);
        table_text(t, m->help);
    }
    for (const struct model_word *w = model_tables.words; w->name; w++) {
        char all[96], line[200];
        model_word_text(&model_tables, w, all, sizeof all);
        snprintf(line, sizeof line, "%s: %s", all, w->help);
        table_text(t, w->name);
        table_text(t, line);
    }
    for (int i = 0; (e = extension_at(&model_tables, i)); i++) {
        char name[32];
        snprintf(name, sizeof name, "+%s", e->name);
        table_text(t, name);
        table_text(t, e->help);
    }
    return t;
}

static struct table *list_configs(void) {
    static const char *const titles[] = {"config", "machine", NULL};
    struct table *t = table_new(titles);
    char **names = config_presets();
    if (!names) {
        table_free(t);
        return NULL;
    }
    for (int i = 0; names && names[i]; i++) {
        struct config c;
        char err[512];
        config_default(&c);
        bool fine = config_load(&c, names[i], err, sizeof err);
        table_text(t, names[i]);
        table_text(t, fine ? c.gpu.name : err);
    }
    free(names);
    return t;
}

static void print_range(const struct opt *o, char *out, size_t size) {
    switch (o->kind) {
    case OPT_KIND_U32:
    case OPT_KIND_DOUBLE:
        snprintf(out, size, "%.10g..%.10g", o->min, o->max);
        break;
    case OPT_KIND_BOOL:
        snprintf(out, size, "true/false");
        break;
    case OPT_KIND_ENUM:
        snprintf(out, size, "%s", o->choices);
        break;
    default:
        snprintf(out, size, "text");
    }
}

static struct table *list_options(void) {
    static const char *const titles[] = {"option", ">default", "range", "unit", "what it is", NULL};
    struct table *t = table_new(titles);
    struct config c;
    config_default(&c);
    for (const struct opt *o = config_options(); o->key; o++) {
        char value[128], range[256];
        config_value(&c, o, value, sizeof value);
        print_range(o, range, sizeof range);
        table_text(t, o->key);
        table_text(t, value);
        table_text(t, range);
        table_text(t, o->unit ? o->unit : "");
        table_text(t, o->help);
    }
    return t;
}

static struct table *list_statistics(void) {
    static const char *const titles[] = {"statistic", "unit (empty: count)", "combined by (empty: sum)", "what it is",
                                         NULL};
    static const char *const kinds[] = {[STAT_SUM] = "", [STAT_MAX] = "maximum", [STAT_RATIO] = "ratio"};
    struct table *t = table_new(titles);
    int n;
    const struct stat_def *defs = stat_defs(&n);
    for (int i = 0; i < n; i++) {
        table_text(t, defs[i].name);
        table_text(t, strcmp(defs[i].unit, "count") == 0 ? "" : defs[i].unit);
        table_text(t, kinds[defs[i].kind]);
        table_text(t, defs[i].help);
    }
    return t;
}

static struct table *list_passes(void) {
    static const char *const titles[] = {"pass", "what it does", NULL};
    struct table *t = table_new(titles);
    const char *name;
    for (int i = 0; (name = frontend_pass_name(mechanism_passes(), i)); i++) {
        table_text(t, name);
        table_text(t, frontend_pass_help(mechanism_passes(), i));
    }
    return t;
}

static const struct {
    const char *name;
    struct table *(*make)(void);
} lists[] = {
    {"benchmarks", list_benchmarks}, {"sets", list_sets},       {"models", list_models},
    {"configs", list_configs},       {"options", list_options}, {"statistics", list_statistics},
    {"passes", list_passes},
};
enum { N_LISTS = sizeof lists / sizeof lists[0] };

static enum heddle_status print_list(const struct cli *c, const char *name, struct table *(*make)(void)) {
    struct table *t = make();
    if (!table_whole(t)) {
        table_free(t);
        return cli_fail(c, "the host is out of memory");
    }
    if (cli_has(c, "markdown")) {
        printf("# %c%s\n\n", toupper((unsigned char)*name), name + 1);
        table_markdown(t, stdout);
    } else if (cli_has(c, "csv"))
        table_csv(t, stdout);
    else
        table_print(t, stdout);
    table_free(t);
    return HEDDLE_OK;
}

/* Counts the opcodes in a file (one per line) that Heddle can execute, and prints a line for each other opcode. */
static enum heddle_status count_opcodes(const struct cli *c, const char *path) {
    FILE *f = fopen(path, "r");
    char line[256];
    int n = 0, have = 0;
    if (!f)
        return cli_fail(c, "cannot read '%s': %s", path, strerror(errno));
    while (fgets(line, sizeof line, f)) {
        struct decoded d;
        struct decode_error why;
        uint32_t len = (uint32_t)strcspn(line, " \t\r\n");
        if (!len)
            continue;
        line[len] = '\0';
        n++;
        if (isa_decode(line, len, &d, &why))
            have++;
        else
            printf("%s: %s\n", line, why.message);
    }
    bool broken = ferror(f);
    fclose(f);
    if (broken)
        return cli_fail(c, "cannot read '%s'", path);
    printf("%d of %d opcodes can be executed\n", have, n);
    return HEDDLE_OK;
}

static enum heddle_status run(const struct cli *c) {
    static const char choices[] = "benchmarks, sets, models, configs, options, statistics, passes or instructions";
    if (c->n_words != 1)
        return cli_error(c, "one of %s", choices);
    const char *of = cli_value(c, "of");
    if (of && strcmp(c->words[0], "instructions") != 0)
        return cli_error(c, "--of belongs to 'heddle list instructions'");
    if (of)
        return count_opcodes(c, of);
    if (strcmp(c->words[0], "instructions") == 0) {
        isa_document(stdout, mechanism_instructions());
        return HEDDLE_OK;
    }
    for (int i = 0; i < N_LISTS; i++)
        if (strcmp(lists[i].name, c->words[0]) == 0)
            return print_list(c, lists[i].name, lists[i].make);
    return cli_error(c, "there is no list of '%s'; there is one of %s", c->words[0], choices);
}

const struct command cmd_list = {
    "list",
    "benchmarks|sets|models|configs|options|statistics|passes|instructions",
    "list benchmarks, models, presets, options, statistics, instructions",
    help_list,
    options,
    run,
    false,
};
