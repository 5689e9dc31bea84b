/* The command line: finds the command and runs it. Only this file ends the process. */
#include "cmd.h"
#include "completion.h"
#include "help.h"
#include "host/report/interrupt.h"
#include "host/report/outfile.h"
#include "pages.h"
#include "ptx/diag.h"
#include <string.h>

static const struct command *const commands[] = {&cmd_run,       &cmd_exec,     &cmd_record,  &cmd_replay, &cmd_resume,
                                                 &cmd_extract,   &cmd_bench,    &cmd_compare, &cmd_sweep,  &cmd_work,
                                                 &cmd_reproduce, &cmd_validate, &cmd_results, &cmd_plot,   &cmd_report,
                                                 &cmd_inspect,   &cmd_list};
enum { N_COMMANDS = sizeof commands / sizeof commands[0] };

static void print_help(FILE *out) {
    fputs("Heddle runs PTX kernels on a simulated GPU and shows what divergence costs.\n\n"
          "    heddle COMMAND [ARGUMENT...]\n\n",
          out);
    for (int i = 0; i < N_COMMANDS; i++)
        fprintf(out, "  %-10s %s\n", commands[i]->name, commands[i]->summary);
    fputs(help_heddle, out);
}

static const struct command *find(const char *name) {
    for (int i = 0; i < N_COMMANDS; i++)
        if (strcmp(commands[i]->name, name) == 0)
            return commands[i];
    return NULL;
}

/* Returns true if one of the words begins with the other, and both have three letters or more. */
static bool begins(const char *a, const char *b) {
    size_t n = strlen(a) < strlen(b) ? strlen(a) : strlen(b);
    return n >= 3 && strncmp(a, b, n) == 0;
}

/* Returns the command whose name is close to `name` or begins like it ("benchmark", "repro"). Returns NULL if no name
 * is close. */
static const char *near_command(const char *name) {
    const char *names[N_COMMANDS + 1];
    for (int i = 0; i < N_COMMANDS; i++)
        names[i] = commands[i]->name;
    names[N_COMMANDS] = "help";
    const char *near = diag_suggest(name, names, N_COMMANDS + 1);
    for (int i = 0; !near && i < N_COMMANDS; i++)
        near = begins(name, names[i]) ? names[i] : NULL;
    return near;
}

static enum heddle_status unknown(const char *name) {
    const char *near = near_command(name);
    fprintf(stderr, "heddle: there is no %s '%s'", name[0] == '-' ? "option" : "command", name);
    if (near)
        fprintf(stderr, "; did you mean '%s'?\n", near);
    else
        fputs(".\n", stderr);
    fputs("The commands are", stderr);
    for (int i = 0; i < N_COMMANDS; i++)
        fprintf(stderr, " %s,", commands[i]->name);
    fputs(" help.\n", stderr);
    return HEDDLE_USAGE;
}

/* Handles heddle help --bash, --zsh and --names, which `make install` uses. */
static bool install_text(const char *what) {
    if (strcmp(what, "--bash") == 0)
        completion_bash(commands, N_COMMANDS, stdout);
    else if (strcmp(what, "--zsh") == 0)
        completion_zsh(commands, N_COMMANDS, stdout);
    else if (strcmp(what, "--names") == 0)
        for (int i = 0; i < N_COMMANDS; i++)
            puts(commands[i]->name);
    else
        return false;
    return true;
}

/* Handles heddle help PAGE, heddle help pages, and heddle help WORD. */
static enum heddle_status help_page(const char *name) {
    if (strcmp(name, "pages") == 0) {
        if (pages_list(stdout))
            return HEDDLE_OK;
        fputs("heddle: the folder 'docs' is not found; it is in the source of Heddle, and 'make install' copies it\n",
              stderr);
        return HEDDLE_USAGE;
    }
    if (page_print(name, stdout))
        return HEDDLE_OK;
    const char *near = near_command(name) ? NULL : page_near(name);
    if (!near && !near_command(name) && pages_about(name, stdout))
        return HEDDLE_OK;
    if (!near)
        return unknown(name);
    fprintf(stderr, "heddle: there is no command or page '%s'; did you mean the page '%s'?\n", name, near);
    return HEDDLE_USAGE;
}

static enum heddle_status help(const char *name) {
    if (name && install_text(name))
        return HEDDLE_OK;
    const struct command *k = name ? find(name) : NULL;
    if (name && !k && strcmp(name, "help") != 0)
        return help_page(name);
    if (k)
        cli_help(k, stdout);
    else
        print_help(stdout);
    return HEDDLE_OK;
}

static enum heddle_status dispatch(int argc, char **argv) {
    if (argc < 2) {
        print_help(stderr);
        return HEDDLE_USAGE;
    }
    const char *word = argv[1];
    if (strcmp(word, "--version") == 0 || strcmp(word, "-V") == 0) {
        puts("heddle " HEDDLE_VERSION);
        return HEDDLE_OK;
    }
    if (strcmp(word, "help") == 0 || strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0)
        return help(argc > 2 ? argv[2] : NULL);
    const struct command *k = find(word);
    if (!k)
        return unknown(word);
    struct cli c;
    enum heddle_status status = HEDDLE_USAGE;
    if (cli_parse(&c, k, argc, argv)) {
        status = HEDDLE_OK;
        if (c.help)
            cli_help(k, stdout);
        else
            status = k->run(&c);
    }
    cli_free(&c);
    return status;
}

int main(int argc, char **argv) {
    interrupt_listen();
    enum heddle_status status = dispatch(argc, argv);
    int error = outfile_error(stdout);
    if (error && status == HEDDLE_OK) {
        fprintf(stderr, "heddle: the result cannot be written: %s\n", strerror(error));
        status = HEDDLE_USAGE;
    }
    interrupt_finish();
    return (int)status;
}
