/* All figures on one page of HTML that needs nothing else: tables that sort, plots, and how far they agree. */
#include "figure.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

static void escape(FILE *out, const char *text) {
    for (; *text; text++)
        if (*text == '<' || *text == '>' || *text == '&' || *text == '"')
            fprintf(out, "&#%d;", *text);
        else
            fputc(*text, out);
}

static void base64(FILE *out, const unsigned char *data, size_t n) {
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    for (size_t i = 0; i < n; i += 3) {
        unsigned v =
            (unsigned)data[i] << 16 | (i + 1 < n ? (unsigned)data[i + 1] << 8 : 0) | (i + 2 < n ? data[i + 2] : 0u);
        fputc(digits[v >> 18], out);
        fputc(digits[v >> 12 & 63], out);
        fputc(i + 1 < n ? digits[v >> 6 & 63] : '=', out);
        fputc(i + 2 < n ? digits[v & 63] : '=', out);
    }
}

static void image(FILE *out, const char *path, const char *title) {
    FILE *f = path ? fopen(path, "rb") : NULL;
    unsigned char *data = NULL;
    size_t n = 0, got;
    while (f) {
        unsigned char *more = realloc(data, n + 65536);
        if (!more)
            break;
        data = more;
        got = fread(data + n, 1, 65536, f);
        n += got;
        if (got < 65536)
            break;
    }
    if (n) {
        fputs("<img alt=\"", out);
        escape(out, title);
        fputs("\" src=\"data:image/svg+xml;base64,", out);
        base64(out, data, n);
        fputs("\">\n", out);
    }
    if (f)
        fclose(f);
    free(data);
}

static void cell(FILE *out, const struct panel *p, double v) {
    char text[48];
    if (isnan(v))
        fputs("<td class=n data-v=\"\">-</td>", out);
    else
        fprintf(out, "<td class=n data-v=\"%.9g\">%s</td>", v, panel_show(p, v, text, sizeof text));
}

static void head(FILE *out, const char *text) {
    fputs("<th>", out);
    escape(out, text);
    fputs("</th>", out);
}

static void values(FILE *out, const struct figure_runs *r, const struct panel_values *v) {
    fputs("<table><thead><tr><th>program</th>", out);
    for (int s = 0; s < v->n_series; s++)
        if (!v->panel->series[s].hidden)
            head(out, v->panel->series[s].label);
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
        escape(out, c->series);
        fputs("</td>", out);
        cell(out, v->panel, ours);
        cell(out, v->panel, c->value);
        const char *way = ways[1 + claim_direction(v->panel, c, ours)];
        fprintf(out, "<td class=%s>%s%s</td></tr>\n", *way ? way : "none", way, c->at_most ? " (a bound)" : "");
    }
    fputs("</tbody></table>\n", out);
}

static const char style[] =
    "body{font:15px/1.45 system-ui,sans-serif;margin:2em auto;max-width:76em;padding:0 1em;color:#222}"
    "table{border-collapse:collapse;margin:1em 0;font-size:13px}th,td{padding:.2em .7em;border-bottom:1px solid #ddd;"
    "text-align:left}th{cursor:pointer;background:#f3f5f7}th:hover{background:#e2e8ee}.n{text-align:right;"
    "font-variant-numeric:tabular-nums}tfoot td{font-weight:600}.same{color:#256b25}.other{color:#a32020}"
    "img{max-width:100%;height:auto}h2{margin-top:2.5em;border-top:2px solid #1f5f8b;padding-top:.6em}"
    ".missing{color:#a32020}";
static const char script[] =
    "for(const h of document.querySelectorAll('th'))h.addEventListener('click',()=>{const t=h.closest('table'),"
    "b=t.tBodies[0],k=h.cellIndex,u=h.dataset.up!=='1';for(const o of t.querySelectorAll('th'))delete o.dataset.up;"
    "h.dataset.up=u?'1':'0';const v=r=>{const c=r.cells[k],x=c.dataset.v;return x===undefined?c.textContent:x===''?"
    "-Infinity:+x};[...b.rows].sort((p,q)=>{const x=v(p),y=v(q);return(x<y?-1:x>y?1:0)*(u?1:-1)}).forEach(r=>"
    "b.appendChild(r))});";

/* A number, or a dash. */
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
        escape(out, f->title);
        fputs("</td><td>", out);
        escape(out, f->paper);
        fputs("</td>", out);
        summary_cells(out, &s->rows[i].claims, s->rows[i].seconds);
    }
    fprintf(out, "</tbody><tfoot><tr><td>%d figure%s</td><td>%d runs</td><td></td>", s->n, s->n == 1 ? "" : "s",
            s->runs);
    summary_cells(out, &s->all, s->seconds);
    fputs("</tfoot></table>\n", out);
}

/* What a reader may conclude, from the numbers alone. */
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

static void figure_section(FILE *out, const struct figure_page *page, const struct claims *c) {
    const struct figure *f = page->runs->figure;
    fprintf(out, "<h2 id=\"%s\">%s: ", f->name, f->name);
    escape(out, f->title);
    fputs("</h2>\n<p>", out);
    escape(out, f->paper);
    fprintf(out, ". Machine: %s%s%s.", f->preset, f->set ? " with " : "", f->set ? f->set : "");
    agreement(out, c);
    if (f->note) {
        fputs(" Note: ", out);
        escape(out, f->note);
        fputs(".", out);
    }
    fputs("</p>\n", out);
    for (const char *at = page->runs->absent; at && *at; at += strcspn(at, "\n"), at += *at == '\n') {
        char line[512];
        snprintf(line, sizeof line, "%.*s", (int)strcspn(at, "\n"), at);
        fputs("<p class=missing>Missing: ", out);
        escape(out, line);
        fputs("</p>\n", out);
    }
    image(out, page->svg, f->title);
    for (int p = 0; p < page->n; p++) {
        fputs("<h3>", out);
        escape(out, page->panels[p].panel->title);
        fputs("</h3>\n", out);
        values(out, page->runs, &page->panels[p]);
        claims(out, page->runs, &page->panels[p]);
    }
}

void figure_page(const struct summary *s, const char *size, const char *binary, FILE *out) {
    fprintf(
        out,
        "<!DOCTYPE html>\n<html lang=en><head><meta charset=utf-8><link rel=icon href=\"data:,\"><title>Figures of "
        "the papers</title><style>%s</style></head><body>\n<h1>The papers' figures, from our own runs</h1>\n"
        "<p>heddle %s (%s), inputs of size %s. The numbers of the papers are those of their texts; most of their "
        "bars are not readable as numbers. No parameter is fitted to a figure. A direction is the same when both "
        "values are above 1, below 1, or within half a percent of it. A rank is Kendall's tau-b over pairs of numbers "
        "that the text gives: 1 for the paper's order, -1 for the opposite one. The mean difference is that of "
        "|ours / theirs - 1|. A click on a column's head sorts.</p>\n",
        style, HEDDLE_VERSION, binary, size);
    summary(out, s);
    for (int i = 0; i < s->n; i++)
        figure_section(out, &s->pages[i], &s->rows[i].claims);
    fprintf(out, "<script>%s</script></body></html>\n", script);
}
