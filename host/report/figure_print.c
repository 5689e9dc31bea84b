/* Prints a figure as text and as CSV: Heddle's numbers beside the paper's. */
#include "figure.h"
#include "host/table.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

const char *panel_mean_name(const struct panel *p) {
    return p->mean == MEAN_GEOMETRIC ? "geometric mean" : p->mean == MEAN_ARITHMETIC ? "mean" : "most";
}

void panel_put(struct table *t, const struct panel *p, double v) {
    if (p->show == SHOW_PERCENT)
        table_number(t, v, NUM_PERCENT);
    else
        table_number(t, v, p->show == SHOW_COUNT ? NUM_COUNT : NUM_FIXED3);
}

static void print_values(const struct figure_runs *r, const struct panel_values *v, FILE *out) {
    char titles[FIGURE_SERIES + 1][72];
    const char *list[FIGURE_SERIES + 2] = {"program"};
    int shown[FIGURE_SERIES], n = 0;
    for (int s = 0; s < v->n_series; s++)
        if (!v->panel->series[s].hidden) {
            snprintf(titles[n], sizeof titles[n], ">%s", v->panel->series[s].label);
            list[n + 1] = titles[n];
            shown[n++] = s;
        }
    struct table *t = table_new(list);
    for (int i = 0; i < r->n_programs; i++) {
        table_text(t, r->programs[i]->name);
        for (int k = 0; k < n; k++)
            panel_put(t, v->panel, v->value[shown[k] * v->n_programs + i]);
    }
    table_rule(t);
    for (int g = 0; g < v->n_groups; g++) {
        char label[96];
        snprintf(label, sizeof label, "%s of %s", panel_mean_name(v->panel), v->group[g]);
        table_text(t, label);
        for (int k = 0; k < n; k++)
            panel_put(t, v->panel, v->mean[shown[k]][g]);
    }
    table_print(t, out);
    table_free(t);
}

static void print_claims(const struct figure_runs *r, const struct panel_values *v, FILE *out) {
    static const char *const titles[] = {"of", "series", ">here", ">the paper", ">difference", "direction", NULL};
    static const char *const ways[] = {"other", "", "same"};
    if (!v->panel->claims)
        return;
    struct table *t = table_new(titles);
    for (const struct claim *c = v->panel->claims; c->of; c++) {
        double ours = panel_value(v, r, c->of, c->series);
        char text[48], whole[64];
        table_text(t, c->of);
        table_text(t, c->series);
        panel_put(t, v->panel, ours);
        snprintf(whole, sizeof whole, "%s%s", c->at_most ? "at most " : "",
                 panel_show(v->panel, c->value, text, sizeof text));
        table_text(t, whole);
        if (isnan(ours) || c->at_most)
            snprintf(text, sizeof text, "-");
        else
            snprintf(text, sizeof text, "%+.1f %%", 100 * (ours / c->value - 1));
        table_text(t, text);
        table_text(t, ways[1 + claim_direction(v->panel, c, ours)]);
    }
    fputc('\n', out);
    table_print(t, out);
    table_free(t);
}

void figure_title(const struct figure *f, FILE *out) {
    fprintf(out, "%s: %s (%s), on %s%s%s\n", f->name, f->title, f->paper, f->preset, f->set ? " with " : "",
            f->set ? f->set : "");
}

void figure_remarks(const struct figure_runs *r, FILE *out) {
    if (r->figure->note)
        fprintf(out, "\nNote: %s.\n", r->figure->note);
    for (const char *at = r->absent; at && *at; at += strcspn(at, "\n"), at += *at == '\n')
        fprintf(out, "\nMissing: %.*s\n", (int)strcspn(at, "\n"), at);
}

void figure_print(const struct figure_runs *r, const struct panel_values *v, int n, FILE *out) {
    figure_title(r->figure, out);
    for (int p = 0; p < n; p++) {
        fputc('\n', out);
        if (n > 1)
            fprintf(out, "(%c) ", 'a' + p);
        fprintf(out, "%s\n\n", v[p].panel->title);
        print_values(r, &v[p], out);
        print_claims(r, &v[p], out);
    }
    figure_remarks(r, out);
}

static void csv_line(const char *figure, int p, const char *kind, const char *name, const char *series, double value,
                     const struct claim *c, FILE *out) {
    fprintf(out, "%s,%c,%s,%s,", figure, 'a' + p, kind, name);
    csv_cell(out, series);
    fputc(',', out);
    if (!isnan(value))
        fprintf(out, "%.15g", value);
    fputc(',', out);
    if (c)
        fprintf(out, "%.15g", c->value);
    fputc('\n', out);
}

void figure_csv(const struct figure_runs *r, const struct panel_values *v, int n, FILE *out) {
    fputs("figure,panel,kind,of,series,value,paper\n", out);
    for (int p = 0; p < n; p++) {
        const struct panel *panel = v[p].panel;
        for (int s = 0; s < v[p].n_series; s++) {
            const char *label = panel->series[s].label;
            if (panel->series[s].hidden)
                continue;
            for (int i = 0; i < r->n_programs; i++)
                csv_line(r->figure->name, p, "program", r->programs[i]->name, label,
                         v[p].value[s * v[p].n_programs + i], panel_claim(panel, r->programs[i]->name, label), out);
            for (int g = 0; g < v[p].n_groups; g++)
                csv_line(r->figure->name, p, "mean", v[p].group[g], label, v[p].mean[s][g],
                         panel_claim(panel, v[p].group[g], label), out);
        }
    }
}
