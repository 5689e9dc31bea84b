/* Writes the parts of the figures' page about machines: each series' machine, the presets, and versions of programs. */
#include "figure.h"
#include "gnuplot.h"
#include "host/html.h"
#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>

enum { PRESETS = 32 };

/* Writes the cell of a series whose value is the best value of several other series. A '|' separates their labels. */
static void best_cell(FILE *out, const char *labels) {
    fputs("<td>the best, for each program, of ", out);
    for (const char *at = labels; *at; at += strcspn(at, "|"), at += *at == '|') {
        char label[64];
        snprintf(label, sizeof label, "%s%.*s", at == labels ? "" : ", ", (int)strcspn(at, "|"), at);
        html_text(out, label);
    }
    fputs("</td>", out);
}

void figure_series(FILE *out, const struct figure *f, const struct panel *p) {
    fputs("<details><summary>The machines</summary><table><thead><tr><th>series</th><th>model</th><th>machine</th>"
          "<th>options</th><th>compared with</th></tr></thead><tbody>\n",
          out);
    for (const struct series *s = p->series; s->label; s++) {
        fputs("<tr>", out);
        html_cell(out, s->label);
        if (s->best_of)
            best_cell(out, s->best_of);
        else if (s->estimate)
            html_cell(out, "an estimate from the other series");
        else
            html_cell(out, s->model);
        html_cell(out, !s->model ? "" : s->preset ? s->preset : f->preset);
        fputs("<td>", out);
        if (s->model && f->set)
            html_text(out, f->set);
        if (s->set) {
            fputs(f->set ? " " : "", out);
            html_text(out, s->set);
        }
        fputs("</td>", out);
        html_cell(out, p->kind != PANEL_VALUE && s->base ? s->base : "");
        fputs("</tr>\n", out);
    }
    fputs("</tbody></table></details>\n", out);
}

/* Returns every option of a preset as a JSON object; NULL if out of memory. */
static cJSON *options_of(const char *preset) {
    char why[512];
    struct run_machine m = {0};
    cJSON *options = NULL;
    if (run_machine_find(&m, &(struct heddle_options){.model = "spe", .config = preset}, why, sizeof why))
        options = cJSON_Parse(m.base);
    run_machine_free(&m);
    return options;
}

static void add_preset(const char **presets, int *n, const char *name) {
    for (int i = 0; i < *n; i++)
        if (strcmp(presets[i], name) == 0)
            return;
    if (*n < PRESETS)
        presets[(*n)++] = name;
}

/* Lists the presets that the figures use, each once. */
static int presets_of(const struct summary *s, const char **presets) {
    int n = 0;
    for (int i = 0; i < s->n; i++) {
        const struct figure *f = s->pages[i].runs->figure;
        for (int p = 0; p < s->pages[i].n; p++)
            for (const struct series *one = f->panels[p].series; one->label; one++)
                if (one->model)
                    add_preset(presets, &n, one->preset ? one->preset : f->preset);
    }
    return n;
}

void figure_presets(FILE *out, const struct summary *s) {
    const char *presets[PRESETS];
    cJSON *options[PRESETS];
    int n = presets_of(s, presets);
    for (int i = 0; i < n; i++)
        options[i] = options_of(presets[i]);
    fputs(
        "<h2 id=\"machines\">The presets, every option</h2>\n<details><summary>'heddle list options' explains them; "
        "a series has the options of its preset, except for the options that its row names</summary><table><thead><tr>"
        "<th>option</th>",
        out);
    for (int i = 0; i < n; i++)
        html_head(out, presets[i]);
    fputs("</tr></thead><tbody>\n", out);
    for (const cJSON *o = n && options[0] ? options[0]->child : NULL; o; o = o->next) {
        if (strcmp(o->string, "reconv") == 0) /* this option is set by the model, not by the preset */
            continue;
        fputs("<tr>", out);
        html_cell(out, o->string);
        for (int i = 0; i < n; i++) {
            const cJSON *value = cJSON_GetObjectItemCaseSensitive(options[i], o->string);
            html_cell(out, value && value->valuestring ? value->valuestring : "");
        }
        fputs("</tr>\n", out);
    }
    fputs("</tbody></table></details>\n", out);
    for (int i = 0; i < n; i++)
        cJSON_Delete(options[i]);
}

void figure_versions(FILE *out, const char *binary) {
    char plots[64] = "none", why[256];
    FILE *answer = tmpfile();
    if (answer && gnuplot_draw("set print '-'\nprint GPVAL_VERSION\n", answer, why, sizeof why) > 0) {
        rewind(answer);
        if (!fgets(plots, sizeof plots, answer))
            *plots = '\0';
        plots[strcspn(plots, "\n")] = '\0';
    }
    if (answer)
        fclose(answer);
    fprintf(out, "heddle %s (%s), SQLite %s, gnuplot ", HEDDLE_VERSION, binary, sqlite3_libversion());
    html_text(out, plots);
}
