/* Writes all figures as one self-contained HTML page: sortable tables, plots, and their agreement with the papers. */
#include "figure.h"
#include "host/html.h"
#include "host/table.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

static void cell(FILE *out, const struct panel *p, double v) {
    char text[48];
    html_number(out, v, panel_show(p, v, text, sizeof text));
}

/* Writes a cell of the table of values. The values of a contest have the colours of its map. */
static void value_cell(FILE *out, const struct figure_runs *r, const struct panel *p, double v) {
    char text[48];
    if (r->figure->contest)
        html_heat(out, v, panel_show(p, v, text, sizeof text), figure_heat(p, v));
    else
        cell(out, p, v);
}

static void values(FILE *out, const struct figure_runs *r, const struct panel_values *v) {
    fprintf(out, "<table%s><thead><tr><th>program</th>", r->figure->contest ? " class=heat" : "");
    for (int s = 0; s < v->n_series; s++)
        if (!v->panel->series[s].hidden)
            html_head(out, v->panel->series[s].label);
    fputs("</tr></thead><tbody>\n", out);
    for (int i = 0; i < v->n_programs; i++) {
        fprintf(out, "<tr><td>%s</td>", r->programs[i]->name);
        for (int s = 0; s < v->n_series; s++)
            if (!v->panel->series[s].hidden)
                value_cell(out, r, v->panel, v->value[s * v->n_programs + i]);
        fputs("</tr>\n", out);
    }
    fputs("</tbody><tfoot>", out);
    for (int g = 0; g < v->n_groups; g++) {
        fprintf(out, "<tr><td>%s of %s</td>", panel_mean_name(v->panel), v->group[g]);
        for (int s = 0; s < v->n_series; s++)
            if (!v->panel->series[s].hidden)
                value_cell(out, r, v->panel, v->mean[s][g]);
        fputs("</tr>\n", out);
    }
    fputs("</tfoot></table>\n", out);
}

static void claims(FILE *out, const struct figure_runs *r, const struct panel_values *v) {
    static const char *const ways[] = {"other", "", "same"};
    if (!v->panel->claims)
        return;
    fputs("<table><thead><tr><th>of</th><th>series</th><th>here</th><th>the paper</th><th>direction</th></tr></thead>"
          "<tbody>\n",
          out);
    for (const struct claim *c = v->panel->claims; c->of; c++) {
        double ours = panel_value(v, r, c->of, c->series);
        fprintf(out, "<tr><td>%s</td><td>", c->of);
        html_text(out, c->series);
        fputs("</td>", out);
        cell(out, v->panel, ours);
        cell(out, v->panel, c->value);
        const char *way = ways[1 + claim_direction(v->panel, c, ours)];
        fprintf(out, "<td class=%s>%s%s</td></tr>\n", *way ? way : "none", way, c->at_most ? " (a bound)" : "");
    }
    fputs("</tbody></table>\n", out);
}

/* Writes a cell with the number `shown`; the table is sorted by `v`. If `v` is NAN, the cell has a dash. */
static void plain(FILE *out, double v, const char *fmt, double shown) {
    if (isnan(v))
        fputs("<td class=n data-v=\"\">-</td>", out);
    else {
        fprintf(out, "<td class=n data-v=\"%.9g\">", v);
        fprintf(out, fmt, shown);
        fputs("</td>", out);
    }
}

static void rank_cell(FILE *out, const struct ranks *r) {
    double tau = rank_tau(r);
    if (isnan(tau) && r->pairs)
        fprintf(out, "<td class=n data-v=\"\">all equal (%d)</td>", r->pairs);
    else if (isnan(tau))
        plain(out, NAN, "", 0);
    else
        fprintf(out, "<td class=n data-v=\"%.9g\">%.2f (%d)</td>", tau, tau, r->pairs);
}

static void summary_cells(FILE *out, const struct claims *c, double seconds) {
    plain(out, c->all, "%.0f", c->all);
    plain(out, c->measured, "%.0f", c->measured);
    if (c->directed)
        fprintf(out, "<td class=n data-v=%d>%d of %d</td>", c->same, c->same, c->directed);
    else
        plain(out, NAN, "", 0);
    rank_cell(out, &c->programs);
    rank_cell(out, &c->settings);
    plain(out, claims_distance(c), "%.1f %%", 100 * claims_distance(c));
    plain(out, seconds, "%.1f", seconds);
    fputs("</tr>\n", out);
}

static void summary(FILE *out, const struct summary *s) {
    fputs("<table id=summary><thead><tr><th>figure</th><th>what it shows</th><th>of</th><th>numbers in the text</th>"
          "<th>measured</th><th>same direction</th><th>rank of programs (pairs)</th><th>rank of settings (pairs)</th>"
          "<th>mean difference</th><th>seconds of simulation</th></tr></thead><tbody>\n",
          out);
    for (int i = 0; i < s->n; i++) {
        const struct figure *f = s->pages[i].runs->figure;
        fprintf(out, "<tr><td><a href=\"#%s\">%s</a></td><td>", f->name, f->name);
        html_text(out, f->title);
        fputs("</td><td>", out);
        html_text(out, f->paper);
        fputs("</td>", out);
        summary_cells(out, &s->rows[i].claims, s->rows[i].seconds);
    }
    fprintf(out, "</tbody><tfoot><tr><td>%d figure%s</td><td>%d runs</td><td></td>", s->n, s->n == 1 ? "" : "s",
            s->runs);
    summary_cells(out, &s->all, s->seconds);
    fputs("</tfoot></table>\n", out);
}

/* Writes sentences that state how well the figure agrees with the paper; they follow from the numbers in `c`. */
static void agreement(FILE *out, const struct claims *c) {
    double tau = rank_tau(&c->programs);
    if (!c->measured)
        return;
    fprintf(out, " The text has %d number%s", c->all, c->all == 1 ? "" : "s");
    if (c->directed)
        fprintf(out, "; of the %d that have a direction %d go the same way here", c->directed, c->same);
    if (!isnan(tau))
        fprintf(out, "; programs stand in %s order (rank correlation %.2f, %d pair%s)",
                tau > 0.999 ? "the same"
                : tau > 0   ? "much the same"
                            : "another",
                tau, c->programs.pairs, c->programs.pairs == 1 ? "" : "s");
    else if (c->programs.pairs)
        fputs("; programs cannot be told apart here", out);
    if (c->compared)
        fprintf(out, "; they differ by %.1f %% on average", 100 * claims_distance(c));
    fputc('.', out);
}

/* Writes one number of the paper's text beside Heddle's, as in "lud under dws50 (1.003, the text has 1.052)". */
static void name_claim(FILE *out, const struct panel *p, const struct claim *c, double ours) {
    char here[48], there[48];
    html_text(out, c->of);
    fputs(" under ", out);
    html_text(out, c->series);
    fprintf(out, " (%s, the text has %s%s)", panel_show(p, ours, here, sizeof here), c->at_most ? "at most " : "",
            panel_show(p, c->value, there, sizeof there));
}

/* Lists the paper's numbers whose direction differs from that of Heddle's numbers, and the number with the largest
 * difference, if it is above 10 %. */
static void disagreement(FILE *out, const struct figure_page *page) {
    const struct panel *far_panel = NULL;
    const struct claim *far = NULL;
    double far_ours = 0, most = 0.1;
    int others = 0;
    for (int p = 0; p < page->n; p++) {
        const struct panel_values *v = &page->panels[p];
        for (const struct claim *c = v->panel->claims; c && c->of; c++) {
            double ours = panel_value(v, page->runs, c->of, c->series), off = fabs(ours / c->value - 1);
            if (claim_direction(v->panel, c, ours) < 0) {
                fputs(others++ ? ", " : " The other way: ", out);
                name_claim(out, v->panel, c, ours);
            }
            if (!c->at_most && off > most) { /* never NAN */
                most = off;
                far = c;
                far_panel = v->panel;
                far_ours = ours;
            }
        }
    }
    fputs(others ? "." : "", out);
    if (far) {
        fputs(" Furthest off: ", out);
        name_claim(out, far_panel, far, far_ours);
        fputc('.', out);
    }
}

/* Writes the best series of each program. The page does not contain the map (figure_map.c), because the panels' tables,
 * which follow, have the map's colours. */
static void best(FILE *out, const struct figure_page *page) {
    struct table *t = figure_best_table(page->runs, &page->panels[0], page->best);
    fputs("<h3>The best for each program</h3>\n", out);
    table_html(t, out);
    table_free(t);
}

static void figure_section(FILE *out, const struct figure_page *page, const struct claims *c) {
    const struct figure *f = page->runs->figure;
    fprintf(out, "<h2 id=\"%s\">%s: ", f->name, f->name);
    html_text(out, f->title);
    fputs("</h2>\n<p>", out);
    html_text(out, f->paper);
    fprintf(out, ". Machine: %s%s%s.", f->preset, f->set ? " with " : "", f->set ? f->set : "");
    agreement(out, c);
    disagreement(out, page);
    if (f->note) {
        fputs(" Note: ", out);
        html_text(out, f->note);
        fputs(".", out);
    }
    fputs("</p>\n", out);
    for (const char *at = page->runs->absent; at && *at; at += strcspn(at, "\n"), at += *at == '\n') {
        char line[512];
        snprintf(line, sizeof line, "%.*s", (int)strcspn(at, "\n"), at);
        fputs("<p class=missing>Missing: ", out);
        html_text(out, line);
        fputs("</p>\n", out);
    }
    if (page->best)
        best(out, page);
    for (int p = 0; p < page->n; p++) {
        fputs("<h3>", out);
        html_text(out, page->panels[p].panel->title);
        fputs("</h3>\n", out);
        if (!page->best)
            figure_chart(out, page->runs, &page->panels[p]);
        values(out, page->runs, &page->panels[p]);
        claims(out, page->runs, &page->panels[p]);
        if (!page->best || p == page->n - 1) /* all panels of a contest have the same series */
            figure_series(out, f, page->panels[p].panel);
    }
}

void figure_page(const struct summary *s, const char *size, const char *binary, FILE *out) {
    html_begin(out, "Figures of the papers");
    fputs("<h1>The papers' figures, from our own runs</h1>\n<p>", out);
    figure_versions(out, binary);
    fprintf(
        out,
        ". Inputs of size %s. The numbers of the papers are those of their texts; most of their "
        "bars are not readable as numbers. No parameter is fitted to a figure. A direction is the same when both "
        "values are above 1, below 1, or within half a percent of it. A rank is Kendall's tau-b over pairs of numbers "
        "that the text gives: 1 for the paper's order, -1 for the opposite one. The mean difference is that of "
        "|ours / theirs - 1|. A click on a column's head sorts.</p>\n",
        size);
    if (strcmp(size, "small") == 0)
        fputs("<p class=missing id=small>The inputs of these runs are small, so that all figures take minutes. The "
              "papers' inputs are larger, and the numbers depend on them: <code>heddle reproduce --size paper</code> "
              "runs "
              "inputs of the papers' sizes.</p>\n",
              out);
    summary(out, s);
    for (int i = 0; i < s->n; i++)
        figure_section(out, &s->pages[i], &s->rows[i].claims);
    figure_presets(out, s);
    html_end(out);
}
