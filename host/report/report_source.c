/* Writes every line of a kernel in the order of the PTX, with its line of CUDA if .loc names one. The runs of a program
 * stand side by side. The script colours the lines by their issue slots: either by all slots, or by the slots of one
 * cause. After a click on a line, it shows the causes of this line. */
#include "host/html.h"
#include "report.h"
#include "timing/report/causes.h"
#include <stdlib.h>
#include <string.h>

/* RUNS: most runs side by side. KERNELS: most kernels of a program. LINES: most lines of a kernel. */
enum { RUNS = 6, KERNELS = 3, LINES = 2000 };

struct source_line {
    unsigned number;
    const char *text;
    int source; /* index of the line of CUDA in the profile of the first run; -1: there is none */
    struct {
        double issued, lanes, slots[N_SLOTS];
    } run[RUNS];
};

/* The runs of one program, whose profiles are loaded. */
struct view {
    struct report *r;
    int n;
    const struct result_row *row[RUNS];
    cJSON *profile[RUNS];
    char *name[RUNS];
    const cJSON *kernel[RUNS]; /* by run: profile of the present kernel; NULL: the run has not launched it */
    struct source_line *line;
    int n_lines;
};

static const cJSON *list(const cJSON *o, const char *name) { return cJSON_GetObjectItemCaseSensitive(o, name); }

static const cJSON *find_kernel(const cJSON *profile, const cJSON *like) {
    const cJSON *k;
    cJSON_ArrayForEach(k, profile) {
        if (strcmp(report_text(k, "kernel"), report_text(like, "kernel")) == 0 &&
            strcmp(report_text(k, "file"), report_text(like, "file")) == 0)
            return k;
    }
    return NULL;
}

/* Returns the entry of a PTX line, which is added behind the other entries if it is new. Returns NULL if there are too
 * many entries. */
static struct source_line *line_of(struct view *v, unsigned number_, int *hint) {
    for (int i = 0; i < v->n_lines; i++) {
        int at = (*hint + i) % v->n_lines; /* the instructions of a line are usually adjacent */
        if (v->line[at].number == number_) {
            *hint = at;
            return &v->line[at];
        }
    }
    if (v->n_lines == LINES)
        return NULL;
    *hint = v->n_lines;
    struct source_line *l = &v->line[v->n_lines++];
    *l = (struct source_line){.number = number_, .source = -1};
    return l;
}

/* Adds the counts of one run. */
static void add_run(struct view *v, int run) {
    const cJSON *entry, *stall;
    int hint = 0;
    cJSON_ArrayForEach(entry, list(v->kernel[run], "lines")) {
        double own = report_number(entry, "line");
        struct source_line *l = own >= 1 && own <= 1e9 ? line_of(v, (unsigned)own, &hint) : NULL;
        if (!l)
            continue;
        l->text = l->text ? l->text : report_text(entry, "text");
        double source = list(entry, "source") ? report_number(entry, "source") : -1;
        if (run == 0 && l->source < 0 && source >= 0 && source < 1e6)
            l->source = (int)source;
        l->run[run].issued += report_number(entry, "issued");
        l->run[run].lanes += report_number(entry, "lanes");
        l->run[run].slots[SLOT_ISSUED] += report_number(entry, "issued");
        cJSON_ArrayForEach(stall, list(entry, "stalls")) {
            int slot = slot_find(stall->string);
            if (slot > SLOT_ISSUED)
                l->run[run].slots[slot] += stall->valuedouble;
        }
    }
}

static int by_number(const void *a, const void *b) {
    const struct source_line *x = a, *y = b;
    return (x->number > y->number) - (x->number < y->number);
}

static double slots_of(const struct source_line *l, int run) {
    double sum = 0;
    for (int s = 0; s < N_SLOTS; s++)
        sum += l->run[run].slots[s];
    return sum;
}

/* Writes the two cells of a run: its share of the kernel's issue slots, with the slots by cause for the script, and the
 * mean number of lanes that execute. */
static void run_cells(const struct view *v, const struct source_line *l, int run, double all) {
    FILE *out = v->r->out;
    double own = slots_of(l, run), issued = l->run[run].issued;
    fprintf(out, "<td class=\"n s\" data-v=\"%.9g\" data-c=\"", own);
    for (int s = 0; s < SLOT_NO_WARP; s++)
        fprintf(out, "%s%.9g", s ? "," : "", l->run[run].slots[s]);
    fprintf(out, "\">%.1f %%</td>", all > 0 ? 100 * own / all : 0);
    char shown[32];
    snprintf(shown, sizeof shown, "%.1f", issued > 0 ? l->run[run].lanes / issued : 0);
    html_number(out, issued > 0 ? l->run[run].lanes / issued : 0, shown);
}

static void line_row(const struct view *v, const struct source_line *l, const double all[RUNS], bool cuda) {
    FILE *out = v->r->out;
    fprintf(out, "<tr><td class=n data-v=%u>%u</td><td><code>", l->number, l->number);
    html_text(out, l->text);
    fputs("</code></td>", out);
    const cJSON *s = l->source >= 0 ? cJSON_GetArrayItem(list(v->kernel[0], "sources"), l->source) : NULL;
    if (cuda) {
        fprintf(out, "<td data-v=%.0f><code>", report_number(s, "line"));
        if (s)
            fprintf(out, "%.0f: ", report_number(s, "line"));
        html_text(out, report_text(s, "text"));
        fputs("</code></td>", out);
    }
    for (int i = 0; i < v->n; i++)
        if (v->kernel[i])
            run_cells(v, l, i, all[i]);
    fputs("</tr>\n", out);
}

/* Writes the head of a table. Its attributes tell the script the words and the colours of the causes. */
static void head(const struct view *v, bool cuda) {
    FILE *out = v->r->out;
    fputs("<div class=causes aria-live=polite></div><table class=source data-words=\"", out);
    for (int s = 0; s < SLOT_NO_WARP; s++)
        fprintf(out, "%s%s", s ? "|" : "", slot_words(s));
    fputs("\" data-colors=\"", out);
    for (int s = 0; s < SLOT_NO_WARP; s++)
        fprintf(out, "%s%d", s ? "|" : "", slot_color(s));
    fprintf(out, "\"><thead><tr><th>line</th><th>PTX</th>%s", cuda ? "<th>CUDA</th>" : "");
    for (int i = 0; i < v->n; i++)
        if (v->kernel[i]) {
            html_head(out, v->name[i]);
            fputs("<th>lanes</th>", out);
        }
    fputs("</tr></thead><tbody>\n", out);
}

static void write_kernel(struct view *v) {
    double all[RUNS] = {0};
    bool cuda = false;
    v->n_lines = 0;
    for (int i = 0; i < v->n; i++)
        if (v->kernel[i])
            add_run(v, i);
    qsort(v->line, (size_t)v->n_lines, sizeof *v->line, by_number);
    for (int l = 0; l < v->n_lines; l++) {
        cuda = cuda || v->line[l].source >= 0;
        for (int i = 0; i < v->n; i++)
            all[i] += slots_of(&v->line[l], i);
    }
    fputs("<details><summary>", v->r->out);
    html_text(v->r->out, v->row[0]->program);
    fputs(": ", v->r->out);
    html_text(v->r->out, report_text(v->kernel[0], "kernel"));
    fputs(", ", v->r->out);
    html_text(v->r->out, report_text(v->kernel[0], "file"));
    fputs("</summary>\n", v->r->out);
    head(v, cuda);
    for (int l = 0; l < v->n_lines; l++)
        line_row(v, &v->line[l], all, cuda);
    fputs("</tbody></table></details>\n", v->r->out);
}

/* Writes the first kernels of the first run, each beside the same kernel of the other runs. */
static void write_view(struct view *v) {
    const cJSON *k;
    int n = 0;
    cJSON_ArrayForEach(k, v->profile[0]) {
        if (n++ == KERNELS)
            break;
        v->kernel[0] = k;
        for (int i = 1; i < v->n; i++)
            v->kernel[i] = find_kernel(v->profile[i], k);
        write_kernel(v);
    }
}

/* Loads the profiles of the program of run `first` and of later runs of this program. Sets *more to the number of runs
 * that are left out. */
static bool load(struct view *v, int first, int *more) {
    struct report *r = v->r;
    bool fine = true;
    *more = 0;
    for (int i = first; fine && i < r->n; i++) {
        cJSON *profile = NULL;
        if (strcmp(r->rows[i]->program, r->rows[first]->program) != 0)
            continue;
        fine = results_profile(r->db, r->rows[i]->run, &profile, r->err, sizeof r->err);
        if (!fine || !profile || v->n == RUNS) {
            *more += profile != NULL;
            cJSON_Delete(profile);
            continue;
        }
        v->row[v->n] = r->rows[i];
        v->profile[v->n] = profile;
        v->name[v->n] = report_name(r, r->rows[i]);
        if (!v->name[v->n++]) {
            snprintf(r->err, sizeof r->err, "the host is out of memory");
            fine = false;
        }
    }
    return fine;
}

/* Shortens the names of the runs to the words in which they differ. Returns false if out of memory. */
static bool shorten(struct view *v) {
    char *shared, **names = chart_names(v->name, v->n, &shared);
    free(shared);
    for (int i = 0; names && i < v->n; i++) {
        free(v->name[i]);
        v->name[i] = names[i];
    }
    free(names); /* the view owns the names themselves */
    if (!names)
        snprintf(v->r->err, sizeof v->r->err, "the host is out of memory");
    return names != NULL;
}

static void script(FILE *out) {
    static const char code[] =
        "<script>addEventListener('DOMContentLoaded',()=>{const pick=document.getElementById('heatby'),cells=$$('ta"
        "ble.source td.s'),sum=(c,k)=>{let a=0;c.forEach((v,i)=>a+=k<0||i===k?v:0);return a},of=d=>d.dataset.c.spli"
        "t(',').map(Number),paint=()=>{const k=+pick.value;for(const t of $$('table.source')){const c=$$('td.s',t),"
        "v=c.map(d=>sum(of(d),k)),most=Math.max(...v,1e-9);c.forEach((d,i)=>d.style.background=`color-mix(in srgb,v"
        "ar(--c${k<0?0:t.dataset.colors.split('|')[k]}) ${Math.round(55*v[i]/most)}%,transparent)`)}};pick.onchange"
        "=paint;paint();for(const t of $$('table.source')){const words=t.dataset.words.split('|'),colors=t.dataset."
        "colors.split('|'),box=t.closest('details').querySelector('.causes'),heads=$$('th',t);for(const r of $$('tb"
        "ody tr',t))press(r,()=>{box.replaceChildren();$$('tr.hit',t).forEach(x=>x.classList.remove('hit'));r.class"
        "List.add('hit');const p=document.createElement('p');p.textContent='Line '+r.cells[0].textContent+': '+r.ce"
        "lls[1].textContent;box.append(p);for(const d of $$('td.s',r)){const c=of(d),all=sum(c,-1),p=document.creat"
        "eElement('p');p.textContent=heads[d.cellIndex].textContent+': '+(all?words.map((w,k)=>[c[k],w,colors[k]])."
        "filter(x=>x[0]).sort((a,b)=>b[0]-a[0]).map(x=>(100*x[0]/all).toFixed(1)+' % '+x[1]).join(', '):'no issue s"
        "lots');const bar=document.createElement('div');bar.className='bar';words.forEach((w,k)=>{if(!c[k])return;c"
        "onst i=document.createElement('i');i.style=`flex:${c[k]};background:var(--c${colors[k]})`;i.title=w;bar.ap"
        "pend(i)});box.append(p,bar)}})}})</script>\n";
    fputs(code, out);
}

/* Writes the explanation, and the menu that selects the cause by which lines are coloured. */
static void intro(FILE *out) {
    fputs(
        "<p>Every line of the kernels with a profile, in the order of the PTX. A cell is the line's share of the issue "
        "slots in which a warp was live: slots in which the line issued, or in which a warp waited to issue it. Beside "
        "it "
        "is the mean number of lanes that execute. Click a line for its causes.</p>\n<p><label>Colour by <select "
        "id=heatby><option value=-1>all issue slots</option>",
        out);
    for (int s = 0; s < SLOT_NO_WARP; s++)
        fprintf(out, "<option value=%d>%s</option>", s, slot_words(s));
    fputs("</select></label></p>\n", out);
}

/* Writes the program of run `first`. Sets *any if a run of the program has a profile. */
static bool program(struct report *r, int first, bool *any) {
    struct view v = {.r = r, .line = calloc(LINES, sizeof *v.line)};
    int more = 0;
    bool fine = v.line != NULL;
    if (!fine)
        snprintf(r->err, sizeof r->err, "the host is out of memory");
    fine = fine && load(&v, first, &more) && (!v.n || shorten(&v));
    if (fine && v.n) {
        if (!*any)
            intro(r->out);
        *any = true;
        write_view(&v);
    }
    if (fine && more)
        fprintf(r->out, "<p>%d more run%s of this program %s left out; --where chooses runs.</p>\n", more,
                more == 1 ? "" : "s", more == 1 ? "is" : "are");
    for (int i = 0; i < v.n; i++) {
        cJSON_Delete(v.profile[i]);
        free(v.name[i]);
    }
    free(v.line);
    return fine;
}

bool report_source(struct report *r) {
    bool any = false, fine = true;
    fputs("<h2 id=source>Every line of a kernel</h2>\n", r->out);
    for (int i = 0; fine && i < r->n; i++) {
        bool seen = false;
        for (int k = 0; k < i && !seen; k++)
            seen = strcmp(r->rows[k]->program, r->rows[i]->program) == 0;
        fine = seen || program(r, i, &any);
    }
    if (any)
        script(r->out);
    else
        fputs("<p>None of the runs has a profile.</p>\n", r->out);
    return fine;
}
