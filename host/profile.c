/* The last launch by line of PTX: who issued, how full, what it waited for. */
#include "context.h"
#include <string.h>

/* Line `n` (from 1) of a text, without its end. */
static const char *line_of(const char *text, uint32_t n, int *len) {
    for (; n > 1 && *text; n--) {
        text += strcspn(text, "\n");
        text += *text == '\n';
    }
    *len = (int)strcspn(text, "\n");
    return text;
}

static void print_stall(const struct gpu_profile *p, uint64_t all, FILE *out) {
    int worst = -1;
    uint64_t sum = 0;
    for (int i = 0; i < (int)(sizeof p->stall / sizeof p->stall[0]); i++) {
        sum += p->stall[i];
        if (p->stall[i] && gpu_stall_name(i) && (worst < 0 || p->stall[i] > p->stall[worst]))
            worst = i;
    }
    fprintf(out, "%6.1f  %-16s", all ? 100.0 * (double)sum / (double)all : 0.0, worst < 0 ? "" : gpu_stall_name(worst));
}

/* Instruction `pc`: its line, and the text there. */
static void print_line(const struct heddle *h, uint32_t pc, FILE *out) {
    int len = 0;
    uint32_t line = h->last_program->info[pc].line;
    const char *text = line_of(h->last_text, line, &len);
    while (len && (*text == ' ' || *text == '\t'))
        text++, len--;
    fprintf(out, "  %5u  %.*s\n", line, len, text);
}

/* Loads that were prefetched for, and how many strides ahead. */
static void print_degrees(const struct heddle *h, const struct gpu_profile *p, uint32_t n, FILE *out) {
    static const char *const names[PROFILE_DEGREES] = {PROFILE_DEGREE_NAMES("", "-")};
    bool any = false;
    for (uint32_t pc = 0; pc < n && pc < h->last_program->n; pc++) {
        uint64_t sum = 0;
        for (int i = 0; i < PROFILE_DEGREES; i++)
            sum += p[pc].degree[i];
        if (sum && !any) {
            fprintf(out, "loads that missed, by degree of prefetching\n");
            for (int i = 0; i < PROFILE_DEGREES; i++)
                fprintf(out, " %6s", names[i]);
            fprintf(out, "  %5s\n", "line");
        }
        any = any || sum;
        for (int i = 0; sum && i < PROFILE_DEGREES; i++)
            fprintf(out, " %6llu", (unsigned long long)p[pc].degree[i]);
        if (sum)
            print_line(h, pc, out);
    }
}

enum heddle_status heddle_print_profile(struct heddle *h, FILE *out) {
    if (!context_enter(h) || !given(h, out, "the stream"))
        return HEDDLE_USAGE;
    uint32_t n = 0;
    const struct gpu_profile *p = h->gpu ? gpu_profile(h->gpu, &n) : NULL;
    const struct program *prog = h->last_program;
    if (!p || !prog)
        return fail(h, HEDDLE_USAGE,
                    "no launch was profiled: the option profile, a timing model, and a launch are needed");
    uint64_t stalls = 0;
    for (uint32_t pc = 0; pc < n; pc++)
        for (size_t i = 0; i < sizeof p->stall / sizeof p->stall[0]; i++)
            stalls += p[pc].stall[i];
    fprintf(out, "%s by line of %s\n", prog->name, prog->file);
    fprintf(out, "%12s  %6s  %10s  %6s  %-16s  %5s\n", "issued", "lanes", "L1 misses", "stall%", "mostly", "line");
    for (uint32_t pc = 0; pc < n && pc < prog->n; pc++) {
        double lanes = p[pc].issued ? (double)p[pc].lanes / (double)p[pc].issued : 0;
        fprintf(out, "%12llu  %6.1f  %10llu  ", (unsigned long long)p[pc].issued, lanes,
                (unsigned long long)p[pc].misses);
        print_stall(&p[pc], stalls, out);
        print_line(h, pc, out);
    }
    print_degrees(h, p, n, out);
    return HEDDLE_OK;
}

/* One row of the samples' CSV. */
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
