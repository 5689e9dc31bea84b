/* All figures on one page of HTML that needs nothing else: tables that sort, plots, and how far they agree. */
#include "figure.h"
#include "host/html.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

void claims_count(const struct figure_runs *r, const struct panel_values *v, int n, struct claims *out) {
    for (int p = 0; p < n; p++)
        for (const struct claim *c = v[p].panel->claims; c && c->of; c++) {
            double ours = panel_value(&v[p], r, c->of, c->series);
            int direction = claim_direction(v[p].panel, c, ours);
            out->all++;
            out->measured += !isnan(ours);
            out->directed += direction != 0;
            out->same += direction == 1;
            if (!isnan(ours) && !c->at_most) {
                out->distance += fabs(ours / c->value - 1);
                out->compared++;
            }
        }
}

static void cell(FILE *out, const struct panel *p, double v) {
    char text[48];
    html_number(out, v, panel_show(p, v, text, sizeof text));
}

static void values(FILE *out, const struct figure_runs *r, const struct panel_values *v) {
    fputs("<table><thead><tr><th>program</th>", out);
    for (int s = 0; s < v->n_series; s++)
        if (!v->panel->series[s].hidden)
            html_head(out, v->panel->series[s].label);
    fputs("</tr></thead><tbody>\n", out);
    for (int i = 0; i < v->n_programs; i++) {
        fprintf(out, "<tr><td>%s</td>", r->programs[i]->name);
        for (int s = 0; s < v->n_series; s++)
            if (!v->panel->series[s].hidden)
                cell(out, v->panel, v->value[s * v->n_programs + i]);
        fputs("</tr>\n", out);
    }
    fputs("</tbody><tfoot>", out);
    for (int g = 0; g < v->n_groups; g++) {
        fprintf(out, "<tr><td>%s of %s</td>", panel_mean_name(v->panel), v->group[g]);
        for (int s = 0; s < v->n_series; s++)
            if (!v->panel->series[s].hidden)
                cell(out, v->panel, v->mean[s][g]);
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

static void summary(FILE *out, const struct figure_page *pages, int n) {
    fputs("<table id=summary><thead><tr><th>figure</th><th>what it shows</th><th>of</th><th>numbers in the text</th>"
          "<th>measured</th><th>same direction</th><th>mean difference</th></tr></thead><tbody>\n",
          out);
    for (int i = 0; i < n; i++) {
        const struct figure *f = pages[i].runs->figure;
        struct claims c = {0};
        claims_count(pages[i].runs, pages[i].panels, pages[i].n, &c);
        fprintf(out, "<tr><td><a href=\"#%s\">%s</a></td><td>", f->name, f->name);
        html_text(out, f->title);
        fputs("</td><td>", out);
        html_text(out, f->paper);
        fprintf(out, "</td><td class=n data-v=%d>%d</td><td class=n data-v=%d>%d</td><td class=n data-v=%d>", c.all,
                c.all, c.measured, c.measured, c.same);
        if (c.directed)
            fprintf(out, "%d of %d", c.same, c.directed);
        if (c.compared)
            fprintf(out, "</td><td class=n data-v=%.9g>%.1f %%</td></tr>\n", c.distance / c.compared,
                    100 * c.distance / c.compared);
        else
            fputs("</td><td class=n data-v=\"\">-</td></tr>\n", out);
    }
    fputs("</tbody></table>\n", out);
}

static void figure_section(FILE *out, const struct figure_page *page) {
    const struct figure *f = page->runs->figure;
    struct claims c = {0};
    claims_count(page->runs, page->panels, page->n, &c);
    fprintf(out, "<h2 id=\"%s\">%s: ", f->name, f->name);
    html_text(out, f->title);
    fputs("</h2>\n<p>", out);
    html_text(out, f->paper);
    fprintf(out, ". Machine: %s%s%s.", f->preset, f->set ? " with " : "", f->set ? f->set : "");
    if (c.measured)
        fprintf(out, " The text has %d numbers; %d of the %d that have a direction go the same way here.", c.all,
                c.same, c.directed);
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
    html_image_file(out, page->svg, f->title);
    for (int p = 0; p < page->n; p++) {
        fputs("<h3>", out);
        html_text(out, page->panels[p].panel->title);
        fputs("</h3>\n", out);
        values(out, page->runs, &page->panels[p]);
        claims(out, page->runs, &page->panels[p]);
    }
}

void figure_page(const struct figure_page *pages, int n, const char *size, const char *binary, FILE *out) {
    html_begin(out, "Figures of the papers");
    fprintf(out,
            "<h1>The papers' figures, from our own runs</h1>\n"
            "<p>heddle %s (%s), inputs of size %s. The numbers of the papers are those of their texts; most of their "
            "bars are not readable as numbers. No parameter is fitted to a figure. A direction is the same when both "
            "values are above 1, below 1, or within half a percent of it. A click on a column's head sorts.</p>\n",
            HEDDLE_VERSION, binary, size);
    summary(out, pages, n);
    for (int i = 0; i < n; i++)
        figure_section(out, &pages[i]);
    html_end(out);
}
