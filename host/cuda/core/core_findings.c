/* HEDDLE_CHECK: prints the mistakes that the checker finds in the kernels of a program (docs/checking.md). Each
 * place is printed once, however many launches reach it. A summary follows when the program ends. */
#include "core_module.h"
#include "core_report.h"
#include <stdlib.h>
#include <string.h>

/* The mistakes of one kernel. */
struct tally {
    struct tally *next;
    char *kernel;
    unsigned long long mistakes, launches;
};
/* The places already printed. */
struct printed {
    struct printed *next;
    char key[];
};
static struct {
    struct tally *kernels;
    struct printed *printed;
    unsigned long long launches, hidden;
} findings;

static bool is_printed(const char *key) {
    for (const struct printed *t = findings.printed; t; t = t->next)
        if (strcmp(t->key, key) == 0)
            return true;
    size_t bytes = strlen(key) + 1;
    struct printed *t = malloc(sizeof *t + bytes);
    if (t) {
        memcpy(t->key, key, bytes);
        t->next = findings.printed;
        findings.printed = t;
    }
    return false;
}

/* Returns the length in bytes of the first block of a report. A block is a line with all following lines that begin
 * with a blank. */
static size_t block_bytes(const char *text) {
    const char *at = text;
    do {
        at += strcspn(at, "\n");
        at += *at == '\n';
    } while (*at == ' ');
    return (size_t)(at - text);
}

/* Writes a key for the finding in `block`. Findings with the same kernel, kind, place and place of the other access
 * have the same key, whatever addresses and threads they name. */
static void key_of(const char *kernel, const char *block, size_t bytes, char *out, size_t size) {
    const char *line = memchr(block, '\n', bytes), *address = strstr(block, " at 0x"),
               *other = strstr(block, " it at ");
    size_t kind = strcspn(block, "\n");
    if (address && (size_t)(address - block) < kind)
        kind = (size_t)(address - block);
    if (!other || (size_t)(other - block) >= bytes)
        other = "";
    size_t place = line && (size_t)(line - block) + 1 < bytes ? strcspn(line + 1, "\n") : 0;
    snprintf(out, size, "%s|%.*s|%.*s|%.*s", kernel, (int)kind, block, (int)place, line ? line + 1 : "",
             (int)strcspn(other, "\n"), other);
}

static struct tally *tally_of(const char *kernel) {
    struct tally **t = &findings.kernels;
    while (*t && strcmp((*t)->kernel, kernel) != 0)
        t = &(*t)->next;
    if (!*t && (*t = calloc(1, sizeof **t)) && !((*t)->kernel = strdup(kernel))) {
        free(*t);
        *t = NULL;
    }
    return *t;
}

/* Adds the mistakes of one launch to the kernel's tally. `line` is the last line of a report: "check: 64 mistakes at 1
 * place in kernel 'k'". */
static void count(const char *kernel, const char *line) {
    struct tally *t = tally_of(kernel);
    unsigned long long n = 0;
    if (!t || sscanf(line, "check: %llu mistake", &n) != 1)
        return;
    t->mistakes += n;
    t->launches++;
}

void cuda_print_new_findings(const char *kernel, const char *report) {
    char key[1024];
    findings.launches++;
    for (size_t bytes; *report; report += bytes) {
        bytes = block_bytes(report);
        if (strncmp(report, "check: ", 7) == 0) {
            count(kernel, report);
            continue;
        }
        key_of(kernel, report, bytes, key, sizeof key);
        if (is_printed(key)) {
            findings.hidden++;
            continue;
        }
        fflush(stdout);
        fprintf(stderr, "heddle: %.*s", (int)bytes, report);
    }
}

void cuda_print_findings(bool quiet) {
    unsigned long long launches = findings.launches;
    if (!findings.kernels && launches && !quiet)
        fprintf(stderr, "heddle: check: nothing was found in %llu launch%s\n", launches, launches == 1 ? "" : "es");
    for (const struct tally *t = findings.kernels; t; t = t->next) {
        char name[256];
        heddle_demangle(t->kernel, name, sizeof name);
        fprintf(stderr, "heddle: check: %llu mistake%s in %llu launch%s of kernel %s\n", t->mistakes,
                t->mistakes == 1 ? "" : "s", t->launches, t->launches == 1 ? "" : "es", name);
    }
    if (findings.hidden)
        fprintf(stderr, "heddle: check: places are told once; %llu reports of later launches name the same places\n",
                findings.hidden);
}
