/* Profiles by line of PTX and by source line: issues, active lanes, and causes of stalls. */
#include "context.h"
#include "ptx/source.h"
#include "timing/report/causes.h"
#include <stdlib.h>
#include <string.h>

static void add(struct gpu_profile *to, const struct gpu_profile *from) {
    to->issued += from->issued;
    to->lanes += from->lanes;
    to->misses += from->misses;
    to->sectors += from->sectors;
    for (int i = 0; i < N_SLOTS; i++)
        to->stall[i] += from->stall[i];
    for (int i = 0; i < PROFILE_DEGREES; i++)
        to->degree[i] += from->degree[i];
}

static struct kernel_profile *profile_of(struct heddle *h, const struct program *p, const char *text) {
    for (int i = 0; i < h->n_profiles; i++)
        if (h->profiles[i].program == p)
            return &h->profiles[i];
    struct kernel_profile *more = realloc(h->profiles, (size_t)(h->n_profiles + 1) * sizeof *more);
    if (!more)
        return NULL;
    h->profiles = more;
    struct kernel_profile *k = &more[h->n_profiles];
    *k = (struct kernel_profile){.program = p, .text = text, .at = calloc(p->n + 1, sizeof *k->at)};
    h->n_profiles += k->at != NULL;
    return k->at ? k : NULL;
}

bool profile_record(struct heddle *h, const struct program *p, const char *text) {
    uint32_t n = 0;
    const struct gpu_profile *last = h->gpu ? gpu_profile(h->gpu, &n) : NULL;
    struct kernel_profile *k = last ? profile_of(h, p, text) : NULL;
    for (uint32_t pc = 0; k && pc < n && pc < p->n; pc++)
        add(&k->at[pc], &last[pc]);
    if (k)
        k->launches++;
    return k || !last;
}

void profiles_free(struct heddle *h) {
    for (int i = 0; i < h->n_profiles; i++)
        free(h->profiles[i].at);
    free(h->profiles);
}

/* Returns the name of source file number `file`, or a placeholder if the PTX does not declare it. */
static const char *source_name(const struct program *p, uint32_t file) {
    for (uint32_t i = 0; i < p->n_sources; i++)
        if (p->sources[i].index == file)
            return p->sources[i].name;
    return "?";
}

static int by_place(const void *a, const void *b) {
    const struct source_profile *x = a, *y = b;
    return x->file != y->file ? (x->file > y->file) - (x->file < y->file) : (x->line > y->line) - (x->line < y->line);
}

int profile_sources(const struct kernel_profile *k, struct source_profile **out) {
    const struct program *p = k->program;
    struct source_profile *s = calloc(p->n + 1, sizeof *s);
    int n = 0, kept = 0;
    *out = s;
    if (!s)
        return -1;
    for (uint32_t pc = 0; pc < p->n; pc++)
        if (p->info[pc].src_line)
            s[n++] = (struct source_profile){source_name(p, p->info[pc].src_file), p->info[pc].src_file,
                                             p->info[pc].src_line, k->at[pc]};
    qsort(s, (size_t)n, sizeof *s, by_place);
    for (int i = 0; i < n; i++)
        if (kept && by_place(&s[kept - 1], &s[i]) == 0)
            add(&s[kept - 1].sum, &s[i].sum);
        else
            s[kept++] = s[i];
    return kept;
}

static uint64_t stalls_of(const struct gpu_profile *p) {
    uint64_t sum = 0;
    for (int i = 0; i < N_SLOTS; i++)
        sum += p->stall[i];
    return sum;
}

static void print_counts(const struct gpu_profile *p, uint64_t all, FILE *out) {
    int worst = -1;
    uint64_t sum = stalls_of(p);
    for (int i = 0; i < N_SLOTS; i++)
        if (p->stall[i] && gpu_stall_name(i) && (worst < 0 || p->stall[i] > p->stall[worst]))
            worst = i;
    fprintf(out, "%12llu  %6.1f  %10llu  ", (unsigned long long)p->issued,
            p->issued ? (double)p->lanes / (double)p->issued : 0, (unsigned long long)p->misses);
    fprintf(out, "%6.1f  %-24s", all ? 100.0 * (double)sum / (double)all : 0.0, worst < 0 ? "" : slot_words(worst));
}

/* Prints the PTX line of instruction `pc`: number and text. */
static void print_line(const struct kernel_profile *k, uint32_t pc, FILE *out) {
    int len = 0;
    uint32_t line = k->program->info[pc].line;
    const char *text = source_line(k->text, line, &len);
    fprintf(out, "  %5u  %.*s\n", line, len, text);
}

/* Prints the loads that missed with a stride. For each load, prints the number of misses for each degree of prefetching
 * (number of strides ahead). */
static void print_degrees(const struct kernel_profile *k, FILE *out) {
    static const char *const names[PROFILE_DEGREES] = {PROFILE_DEGREE_NAMES("", "-")};
    bool any = false;
    for (uint32_t pc = 0; pc < k->program->n; pc++) {
        uint64_t sum = 0;
        for (int i = 0; i < PROFILE_DEGREES; i++)
            sum += k->at[pc].degree[i];
        if (sum && !any) {
            fprintf(out, "loads that missed, by degree of prefetching\n");
            for (int i = 0; i < PROFILE_DEGREES; i++)
                fprintf(out, " %6s", names[i]);
            fprintf(out, "  %5s\n", "line");
        }
        any = any || sum;
        for (int i = 0; sum && i < PROFILE_DEGREES; i++)
            fprintf(out, " %6llu", (unsigned long long)k->at[pc].degree[i]);
        if (sum)
            print_line(k, pc, out);
    }
}

static const char counts_head[] = "      issued   lanes   L1 misses  stall%  mostly                  ";

static void print_sources(const struct kernel_profile *k, const struct source_profile *s, int n, uint64_t stalls,
                          FILE *out) {
    char *text = NULL;
    for (int i = 0; i < n; i++) {
        int len = 0;
        if (!i || s[i].file != s[i - 1].file) {
            fprintf(out, "%s by line of %s\n%s   line\n", k->program->name, s[i].name, counts_head);
            free(text);
            text = source_file_text(s[i].name, k->program->file);
        }
        const char *line = text ? source_line(text, s[i].line, &len) : "";
        print_counts(&s[i].sum, stalls, out);
        fprintf(out, "  %5u%s%.*s\n", s[i].line, len ? "  " : "", len, line);
    }
    free(text);
}

static bool print_kernel(const struct kernel_profile *k, FILE *out) {
    struct source_profile *sources;
    uint64_t stalls = 0;
    int n = profile_sources(k, &sources);
    for (uint32_t pc = 0; pc < k->program->n; pc++)
        stalls += stalls_of(&k->at[pc]);
    fprintf(out, "%s by line of %s", k->program->name, k->program->file);
    if (k->launches > 1)
        fprintf(out, ", %d launches", k->launches);
    fprintf(out, "\n%s   line\n", counts_head);
    for (uint32_t pc = 0; pc < k->program->n; pc++) {
        print_counts(&k->at[pc], stalls, out);
        print_line(k, pc, out);
    }
    print_degrees(k, out);
    print_sources(k, sources, n, stalls, out);
    free(sources);
    return n >= 0;
}

enum heddle_status heddle_print_profile(struct heddle *h, FILE *out) {
    if (!context_enter(h) || !given(h, out, "the stream"))
        return HEDDLE_USAGE;
    if (!h->n_profiles)
        return fail(h, HEDDLE_USAGE,
                    "no launch was profiled: the option profile, a timing model, and a launch are needed");
    for (int i = 0; i < h->n_profiles; i++)
        if (!print_kernel(&h->profiles[i], out))
            return fail_memory(h);
    return HEDDLE_OK;
}

/* Writes one row of the CSV of samples. */
void profile_sample(void *ctx, uint64_t from, uint64_t to, const struct stats *interval) {
    struct heddle *h = ctx;
    int n;
    const struct stat_def *defs = stat_defs(&n);
    if (!h->samples_begun) {
        fprintf(h->samples, "from,to");
        for (int i = 0; i < n; i++)
            fprintf(h->samples, ",%s", defs[i].name);
        fputc('\n', h->samples);
        h->samples_begun = true;
    }
    fprintf(h->samples, "%llu,%llu", (unsigned long long)from, (unsigned long long)to);
    for (int i = 0; i < n; i++)
        fprintf(h->samples, ",%.9g", stats_get(interval, defs[i].name));
    fputc('\n', h->samples);
}
