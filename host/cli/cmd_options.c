/* Parses command lines, and prints the help text from the same tables. */
#include "axes.h"
#include "benchmarks/bench.h"
#include "cmd.h"
#include "input.h"
#include "ptx/diag.h"
#include <ctype.h>
#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MESSAGE = 4096 }; /* most bytes of a message */

/* Prints a message, and copies it to `text`. */
static void say(const struct cli *c, char text[MESSAGE], const char *fmt, va_list args) {
    fflush(stdout);
    vsnprintf(text, MESSAGE, fmt, args);
    /* file names in the message may contain control characters, which must not reach the terminal */
    for (char *at = text; *at; at++)
        if (iscntrl((unsigned char)*at) && *at != '\n' && *at != '\t')
            *at = '?';
    fprintf(stderr, "heddle %s: %s\n", c->command->name, text);
}

/* Returns true if the message should refer to the help of the command. It should not if the message already names a
 * command or suggests a word, or ends with an error of the operating system. */
static bool help_helps(const char *text) {
    static const int of_system[] = {ENOENT, EACCES, EISDIR, ENOTDIR, ENOSPC, EROFS, EPERM, EIO, EMFILE, ENAMETOOLONG};
    size_t len = strlen(text);
    if (strstr(text, "'heddle ") || strstr(text, "did you mean"))
        return false;
    for (size_t i = 0; i < sizeof of_system / sizeof of_system[0]; i++) {
        const char *why = strerror(of_system[i]);
        size_t n = strlen(why);
        if (len >= n && strcmp(text + len - n, why) == 0)
            return false;
    }
    return true;
}

enum heddle_status cli_error(const struct cli *c, const char *fmt, ...) {
    char text[MESSAGE];
    va_list args;
    va_start(args, fmt);
    say(c, text, fmt, args);
    va_end(args);
    if (help_helps(text))
        fprintf(stderr, "See 'heddle help %s'.\n", c->command->name);
    return HEDDLE_USAGE;
}

enum heddle_status cli_fail(const struct cli *c, const char *fmt, ...) {
    char text[MESSAGE];
    va_list args;
    va_start(args, fmt);
    say(c, text, fmt, args);
    va_end(args);
    return HEDDLE_USAGE;
}

static const struct option_def *by_letter(const struct command *k, char letter) {
    for (const struct option_def *o = k->options; o->name; o++)
        if (o->letter == letter)
            return o;
    return NULL;
}

static const struct option_def *by_name(const struct command *k, const char *name, size_t len) {
    for (const struct option_def *o = k->options; o->name; o++)
        if (strlen(o->name) == len && memcmp(o->name, name, len) == 0)
            return o;
    return NULL;
}

static bool unknown_long(const struct cli *c, const char *word, size_t len) {
    enum { MAX = 32 };
    const char *names[MAX];
    char given[64];
    int n = 0;
    for (const struct option_def *o = c->command->options; o->name && n < MAX; o++)
        names[n++] = o->name;
    snprintf(given, sizeof given, "%.*s", (int)len, word);
    const char *near = diag_suggest(given, names, n);
    if (near)
        cli_error(c, "there is no option '--%s'; did you mean '--%s'?", given, near);
    else
        cli_error(c, "there is no option '--%s'", given);
    return false;
}

/* Returns true for options that may be repeated. Repeating any other option is an error, since it would silently
 * replace the first value. */
static bool may_repeat(const struct option_def *o) {
    static const char *const many[] = {"arg", "set", "set-value", "texture", "sampler", "where"};
    for (size_t i = 0; i < sizeof many / sizeof many[0]; i++)
        if (strcmp(o->name, many[i]) == 0)
            return true;
    return false;
}

/* Parses the option argv[*at] with its value, which may be the next word. */
static bool take_option(struct cli *c, int *at) {
    char *word = c->argv[*at];
    const struct option_def *o;
    const char *value = NULL;
    if (word[1] == '-') {
        size_t len = strcspn(word + 2, "=");
        o = by_name(c->command, word + 2, len);
        if (!o)
            return unknown_long(c, word + 2, len);
        value = word[2 + len] ? word + 2 + len + 1 : NULL;
        if (value && !o->value) {
            cli_error(c, "--%s takes no value", o->name);
            return false;
        }
    } else {
        o = by_letter(c->command, word[1]);
        if (!o || (!o->value && word[2])) {
            cli_error(c, "there is no option '%s'", word);
            return false;
        }
        value = o->value && word[2] ? word + 2 : NULL;
    }
    if (o->value && !value && *o->value == '[') {
        value = "";
    } else if (o->value && !value) {
        if (*at + 1 >= c->argc) {
            cli_error(c, "--%s needs a value: %s", o->name, o->value);
            return false;
        }
        value = c->argv[++*at];
        if (strncmp(value, "--", 2) == 0 && by_name(c->command, value + 2, strlen(value + 2))) {
            cli_error(c, "--%s needs a value: %s; '%s' is an option", o->name, o->value, value);
            return false;
        }
    }
    if (!may_repeat(o) && cli_has(c, o->name)) {
        cli_error(c, "--%s is given twice", o->name);
        return false;
    }
    c->options[c->n_options++] = (struct cli_option){o, value};
    return true;
}

bool cli_parse(struct cli *c, const struct command *command, int argc, char **argv) {
    *c = (struct cli){.command = command, .argc = argc, .argv = argv};
    c->options = calloc((size_t)argc, sizeof *c->options);
    c->words = calloc((size_t)argc, sizeof *c->words);
    if (!c->options || !c->words) {
        cli_fail(c, "the host is out of memory");
        return false;
    }
    bool ended = false;
    for (int i = 2; i < argc; i++) {
        const char *word = argv[i];
        if (ended || word[0] != '-' || !word[1]) {
            c->words[c->n_words++] = word;
            ended |= command->runs_program;
        } else if (strcmp(word, "--") == 0) {
            ended = true;
        } else if (strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0) {
            c->help = true;
        } else if (!take_option(c, &i)) {
            return false;
        }
    }
    return true;
}

void cli_free(struct cli *c) {
    cli_input_free(c->inputs);
    free(c->options);
    free(c->words);
}

const char *cli_value(const struct cli *c, const char *name) {
    for (int i = c->n_options - 1; i >= 0; i--)
        if (strcmp(c->options[i].def->name, name) == 0)
            return c->options[i].value ? c->options[i].value : "";
    return NULL;
}

bool cli_has(const struct cli *c, const char *name) { return cli_value(c, name) != NULL; }

bool cli_number(const struct cli *c, const char *option, uint64_t min, uint64_t max, uint64_t *out) {
    const char *text = cli_value(c, option);
    if (!text)
        return true;
    char *end = NULL;
    errno = 0;
    unsigned long long v = *text >= '0' && *text <= '9' ? strtoull(text, &end, 0) : 0;
    if (!end || *end || errno || v < min || v > max) {
        cli_error(c, "--%s takes a number from %llu to %llu, not '%s'", option, (unsigned long long)min,
                  (unsigned long long)max, text);
        return false;
    }
    *out = v;
    return true;
}

bool cli_unknown_value(const struct cli *c, const char *given, const char *const *names, int n) {
    char name[64];
    snprintf(name, sizeof name, "%.*s", (int)strcspn(given, "="), given);
    const char *near = diag_suggest(name, names, n);
    if (!n)
        cli_error(c, "-v %s: no program (X.heddle) with values is among the names", given);
    else if (near)
        cli_error(c, "-v %s: there is no value '%s'; did you mean '%s'?", given, name, near);
    else
        cli_error(c, "-v %s: there is no value '%s'; 'values' in the program has them, '%s' among them", given, name,
                  names[0]);
    return false;
}

bool cli_size(const struct cli *c, int *out) {
    const char *text = cli_value(c, "size");
    for (*out = BENCH_SMALL; *out <= BENCH_CARD; ++*out)
        if (!text || strcmp(text, bench_size_name((enum bench_size) * out)) == 0)
            return true;
    cli_error(c, "--size is small, paper or card, not '%s'", text);
    return false;
}

/* Reads --jit, a short form of -s gpu.jit=. */
static bool take_jit(const struct cli *c, const char **set) {
    const char *jit = cli_value(c, "jit");
    if (jit && strcmp(jit, "on") != 0 && strcmp(jit, "off") != 0) {
        cli_error(c, "--jit is on or off, not '%s'", jit);
        return false;
    }
    if (jit)
        *set = strcmp(jit, "on") == 0 ? "gpu.jit=on" : "gpu.jit=off";
    return true;
}

/* Reads --config: a preset, a file, or a pipe. */
static bool take_config(const struct cli *c, const char **out) {
    const char *given = cli_value(c, "config");
    char err[512];
    bool is_file = given && (strchr(given, '/') || strcmp(given, "-") == 0);
    *out = is_file ? cli_input(c, given, given, "--config", err, sizeof err) : given;
    if (given && !*out)
        cli_error(c, "--config %s", err);
    return !given || *out;
}

bool sim_options(const struct cli *c, struct sim *out) {
    *out = (struct sim){.set = calloc((size_t)c->n_options + 1, sizeof *out->set)};
    if (!out->set) {
        cli_fail(c, "the host is out of memory");
        return false;
    }
    int n = 0;
    for (int i = 0; i < c->n_options; i++) {
        char err[512];
        if (strcmp(c->options[i].def->name, "set") != 0)
            continue;
        if (!assignment_is_one(c->options[i].value, err, sizeof err)) {
            cli_error(c, "-s %s", err);
            return false;
        }
        out->set[n++] = c->options[i].value;
    }
    out->o.model = cli_value(c, "model");
    out->o.set = out->set;
    out->o.progress = true;
    return take_config(c, &out->o.config) && take_jit(c, &out->set[n]) &&
           cli_number(c, "cycle-limit", 1, UINT64_MAX, &out->o.cycle_limit);
}

bool cli_bounds(const struct cli *c, struct sim *sim) {
    const char *bounds = cli_value(c, "check-bounds");
    if (bounds && strcmp(bounds, "exact") != 0 && strcmp(bounds, "page") != 0) {
        cli_error(c, "--check-bounds is exact or page, not '%s'", bounds);
        return false;
    }
    sim->o.page_bounds = bounds && strcmp(bounds, "page") == 0;
    return true;
}

void sim_free(struct sim *s) { free(s->set); }

void cli_help(const struct command *k, FILE *out) {
    fprintf(out, "%s\n\n    heddle %s %s\n\n", k->summary, k->name, k->usage);
    for (const struct option_def *o = k->options; o->name; o++) {
        char left[64], letter[8] = "    ";
        if (!o->help)
            continue;
        if (o->letter)
            snprintf(letter, sizeof letter, "-%c, ", o->letter);
        snprintf(left, sizeof left, "%s--%s%s%s", letter, o->name, o->value && *o->value != '[' ? " " : "",
                 o->value ? o->value : "");
        fprintf(out, "  %-30s %s\n", left, o->help);
    }
    fprintf(out, "\n%s", k->text);
}
