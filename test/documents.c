/* Runs every command in README.md, CONTRIBUTING.md and docs/ as typed, in a folder like the clone.
 *
 * A command is an indented or fenced line that begins with `heddle `, `build/heddle ` or `$ heddle `, with its
 * continuation lines after a backslash, or a span in backticks that begins in the same way. Lines that begin with `head
 * -c ` also run: they make files for later commands. The expected exit status is 0, or the status in a comment at the
 * end: `# exit status 3`. `--size paper` runs as `--size small`, and figures run with few programs.
 *
 * Indented lines after a command and an empty line are its output: each must be a line of the real output, except
 * `...`, which stands for omitted lines.
 *
 * Commands with a placeholder are not run. A placeholder is a word, or a part of one between = : and , in capitals only
 * (FILE, KEY=VALUE), `...`, or a bracket. A span with `run` or `inspect` but without a PTX file is not run either,
 * because it only mentions the command. */
#include "here.h"
#include "test.h"
#include <ctype.h>
#include <glob.h>
#include <limits.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MAX_COMMANDS = 64, COMMAND_BYTES = 1024, LEAST_COMMANDS = 25, LEAST_OF_README = 8, COMMAND_SECONDS = 60 };

struct commands {
    int n;
    char text[MAX_COMMANDS][COMMAND_BYTES];
    /* output that the document shows for the command, as a pointer into `source`; NULL: none */
    char *shown[MAX_COMMANDS];
    char *source;
};
static struct commands all;
static glob_t documents;

static char *read_document(const char *path) {
    FILE *f = fopen(path, "rb");
    ck_assert_msg(f != NULL, "%s is missing", path);
    char *text = calloc(1, 1 << 20);
    ck_assert_ptr_nonnull(text);
    ck_assert_uint_lt(fread(text, 1, (1 << 20) - 1, f), (1 << 20) - 1);
    fclose(f);
    return text;
}

/* Returns the command without its prompt, or NULL if the text is not a heddle command. */
static const char *our_command(const char *s) {
    s += strncmp(s, "$ ", 2) == 0 ? 2 : 0;
    return strncmp(s, "heddle ", 7) == 0 || strncmp(s, "build/heddle ", 13) == 0 ? s : NULL;
}

static bool has_placeholder(const char *s) {
    if (strstr(s, "...") || strchr(s, '[') || strchr(s, '<'))
        return true;
    while (*s) {
        size_t n = strcspn(s, " =:,"), capitals = 0;
        while (capitals < n && isupper((unsigned char)s[capitals]))
            capitals++;
        if (n && capitals == n)
            return true;
        s += n + (s[n] != '\0');
    }
    return false;
}

static void add(const char *command, size_t len, bool is_span) {
    char text[COMMAND_BYTES];
    ck_assert_uint_lt(len, sizeof text);
    memcpy(text, command, len);
    text[len] = '\0';
    if (strncmp(text, "head -c ", 8) == 0 && !is_span) {
        /* runs as it is */
    } else if (!our_command(text) || has_placeholder(text)) {
        return;
    } else if (is_span && (strstr(text, "heddle run") || strstr(text, "heddle inspect")) && !strstr(text, ".ptx")) {
        return;
    }
    ck_assert_int_lt(all.n, MAX_COMMANDS);
    const char *from = our_command(text) ? our_command(text) : text;
    all.shown[all.n] = NULL;
    snprintf(all.text[all.n++], COMMAND_BYTES, "%s", from);
}

/* Finds the spans in backticks. A span may continue on the next line, but not in the next paragraph. */
static void find_spans(char *prose) {
    for (char *at = prose; (at = strchr(at, '`'));) {
        char *end = strchr(++at, '`');
        if (!end)
            return;
        *end = '\0';
        if (!strstr(at, "\n\n")) {
            for (char *c = at; *c; c++)
                *c = *c == '\n' ? ' ' : *c;
            add(at, strlen(at), true);
            at = end + 1;
        }
    }
}

/* Fills `all` with the commands of a document. */
static void find_commands(const char *path) {
    char *text = read_document(path), *prose = calloc(1, strlen(text) + 2), *next;
    ck_assert_ptr_nonnull(prose);
    bool fenced = false;
    size_t n_prose = 0;
    all.n = 0;
    for (char *line = text; *line; line = next) {
        char *end = strchrnul(line, '\n');
        size_t indent = strspn(line, " ");
        if (strncmp(line, "```", 3) == 0) {
            fenced = !fenced;
        } else if (fenced || indent >= 4) {
            char *command = line + indent;
            while (end > line && end[-1] == '\\' && *end) {
                end[-1] = *end = ' ';
                end = strchrnul(end, '\n');
            }
            int before = all.n;
            add(command, (size_t)(end - command), false);
            if (all.n > before && strncmp(end, "\n\n    ", 6) == 0)
                all.shown[before] = end + 2;
        } else {
            memcpy(prose + n_prose, line, (size_t)(end - line));
            n_prose += (size_t)(end - line);
            prose[n_prose++] = '\n';
        }
        next = end + (*end != '\0');
    }
    find_spans(prose);
    free(prose);
    free(all.source);
    all.source = text;
}

static char root[PATH_MAX], binary[PATH_MAX], folder[64];

static void link_to(const char *name) {
    char target[PATH_MAX + 64];
    snprintf(target, sizeof target, "%s/%s", root, name);
    ck_assert_int_eq(symlink(target, name), 0);
}

static void setup(void) {
    static const char *const rooms[] = {"benchmarks", "kernels", "test", "configs", "docs", "README.md"};
    const char *set = getenv("HEDDLE_BIN");
    ck_assert_int_eq(glob("README.md", 0, NULL, &documents), 0);
    ck_assert_int_eq(glob("CONTRIBUTING.md", GLOB_APPEND, NULL, &documents), 0);
    ck_assert_int_eq(glob("docs/*.md", GLOB_APPEND, NULL, &documents), 0);
    ck_assert_ptr_nonnull(getcwd(root, sizeof root));
    ck_assert_msg(realpath(set ? set : "build/heddle", binary) != NULL, "no binary: build it, or set HEDDLE_BIN");
    strcpy(folder, "/tmp/heddle_documents_XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(folder));
    ck_assert_int_eq(chdir(folder), 0);
    for (size_t i = 0; i < sizeof rooms / sizeof rooms[0]; i++)
        link_to(rooms[i]);
    ck_assert_int_eq(system("mkdir build"), 0);
    ck_assert_int_eq(symlink(binary, "build/heddle"), 0);
    ck_assert_int_eq(chdir(root), 0);
}

static void teardown(void) {
    char command[128];
    globfree(&documents);
    snprintf(command, sizeof command, "rm -rf %s", folder);
    ck_assert_int_eq(system(command), 0);
}

/* Checks that the PTX files and configurations of a command exist. Otherwise a command with the expected exit status 2
 * would pass although a file is missing. */
static void files_exist(const char *document, const char *command) {
    for (const char *s = command; *(s += strspn(s, " "));) {
        char word[COMMAND_BYTES];
        size_t n = strcspn(s, " ");
        snprintf(word, sizeof word, "%.*s", (int)n, s);
        if (n > 4 && (strcmp(word + n - 4, ".ptx") == 0 || strcmp(word + n - 4, ".cfg") == 0))
            ck_assert_msg(access(word, R_OK) == 0, "%s: there is no %s: %s", document, word, command);
        s += n;
    }
}

static int expected_status(const char *command) {
    static const char says[] = "# exit status ";
    const char *at = strstr(command, says);
    return at ? atoi(at + sizeof says - 1) : 0;
}

/* Checks that each line that the document shows after a command is a line of its output, except commands and lines that
 * end in " ...". */
static void prints(const char *document, const char *command, const char *shown) {
    char *out = read_document("out.txt");
    for (const char *line = shown, *end; strncmp(line, "    ", 4) == 0; line = end + (*end != '\0')) {
        char want[COMMAND_BYTES] = "\n";
        end = strchrnul(line, '\n');
        ck_assert_int_lt(end - line, COMMAND_BYTES - 8);
        snprintf(want + 1, sizeof want - 1, "%.*s\n", (int)(end - line - 4), line + 4);
        if (!strstr(want, " ...\n") && !our_command(want + 1))
            ck_assert_msg(strstr(out, want) != NULL, "%s: %s\ndoes not print:%s", document, command, want);
    }
    free(out);
}

/* Returns false for a command that this build or machine cannot run: builds with sanitizers have no CUDA runtime, and
 * plots need gnuplot, which may be missing. */
static bool can_run(const char *command) {
    if ((strstr(command, "heddle exec ") || strstr(command, "heddle record ")) && !runtime_beside(binary))
        return false;
    return !strstr(command, "heddle plot ") || has_gnuplot();
}

/* Replaces a part of a command. */
static void replace_part(char *command, const char *part, const char *by) {
    char *at = strstr(command, part), rest[COMMAND_BYTES];
    if (!at)
        return;
    snprintf(rest, sizeof rest, "%s", at + strlen(part));
    ck_assert_int_lt(snprintf(at, COMMAND_BYTES - (size_t)(at - command), "%s%s", by, rest),
                     COMMAND_BYTES - (int)(at - command));
}

/* Makes the command `reproduce all` run two figures, and `reproduce modern-core` one program, because running all of
 * them takes a minute. With HEDDLE_EVERY, all run. host_cli_reproduce runs other figures, and checks that every figure
 * has its programs, models and options. */
static void fewer_figures(char *command) {
    if (test_every())
        return;
    replace_part(command, "reproduce all", "reproduce subwarp-table3 pepsc-6");
    replace_part(command, "reproduce modern-core", "reproduce modern-core --programs vecadd");
}

static void run_command(const char *document, const char *typed, const char *shown) {
    char line[2 * COMMAND_BYTES], err[4096] = "", command[COMMAND_BYTES];
    snprintf(command, sizeof command, "%s", typed);
    fewer_figures(command);
    char *paper = strstr(command, "--size paper");
    if (paper)
        memcpy(paper + 7, "small", 5);
    files_exist(document, command);
    snprintf(line, sizeof line, "PATH=build:$PATH; ulimit -t %d; { echo; %s\n} >out.txt 2>err.txt </dev/null",
             COMMAND_SECONDS, command);
    int how = system(line);
    FILE *f = fopen("err.txt", "rb");
    if (f) {
        err[fread(err, 1, sizeof err - 1, f)] = '\0';
        fclose(f);
    }
    ck_assert_msg(WIFEXITED(how) && WEXITSTATUS(how) == expected_status(command), "%s: exit status %d of: %s\n%s",
                  document, WIFEXITED(how) ? WEXITSTATUS(how) : -1, command, err);
    if (shown && !LEAST_TABLES) { /* with the smallest tables, cycle counts differ from the documents */
        ck_assert_int_eq(system("cat err.txt >>out.txt"), 0);
        prints(document, command, shown);
    }
}

START_TEST(commands_run_as_shown) {
    if ((size_t)_i >= documents.gl_pathc)
        return;
    const char *document = documents.gl_pathv[_i];
    find_commands(document);
    ck_assert_int_eq(chdir(folder), 0);
    bool missing = false; /* true if the remaining commands need results of a command that was omitted */
    for (int i = 0; i < all.n; i++) {
        const char *text = all.text[i];
        const bool needs_results = strstr(text, "heddle results ") || strstr(text, "heddle replay ");
        if (can_run(text) && !(missing && needs_results))
            run_command(document, text, all.shown[i]);
        missing |= !runtime_beside(binary) &&
                   (strstr(text, "heddle record ") || (strstr(text, "heddle exec ") && strstr(text, "--results")));
    }
    ck_assert_int_eq(chdir(root), 0);
}
END_TEST

/* Writes the words of the table row with this name, up to and including the number of active lanes. The later words
 * depend on the host's speed. */
static void row_of(const char *text, const char *name, char *out, size_t size) {
    enum { WORDS = 7 };
    const char *at = text;
    size_t n = strlen(name), len = 0;
    while (at && (strncmp(at + strspn(at, " "), name, n) != 0 || at[strspn(at, " ") + n] != ' '))
        at = strchr(at, '\n') ? strchr(at, '\n') + 1 : NULL;
    ck_assert_msg(at != NULL, "there is no row of %s", name);
    for (int i = 0; i < WORDS; i++) {
        at += strspn(at, " ");
        size_t word = strcspn(at, " \n");
        ck_assert_uint_lt(len + word + 2, size);
        len += (size_t)snprintf(out + len, size - len, "%.*s ", (int)word, at);
        at += word;
    }
}

/* README.md shows the table that `make demo` prints last. */
START_TEST(the_demo_ends_with_its_table) {
    static const char demo[] = "bench lud bfs --size small";
    char command[COMMAND_BYTES], want[256], got[256], *make = read_document("Makefile"),
                                                      *readme = read_document("README.md");
    ck_assert_msg(strstr(make, demo) != NULL, "the demo is another command");
    ck_assert_int_eq(chdir(folder), 0);
    snprintf(command, sizeof command, "build/heddle %s >out.txt", demo);
    ck_assert_int_eq(system(command), 0);
    char *out = read_document("out.txt");
    ck_assert_int_eq(chdir(root), 0);
    const char *table = strstr(readme, "The demo ends with this table");
    ck_assert_ptr_nonnull(table);
    for (int i = 0; i < 3 && !LEAST_TABLES; i++) {
        static const char *const rows[] = {"lud", "bfs", "benchmark"};
        row_of(table, rows[i], want, sizeof want);
        row_of(out, rows[i], got, sizeof got);
        ck_assert_str_eq(got, want);
    }
    free(out);
    free(readme);
    free(make);
}
END_TEST

/* Tests that the search for commands finds a plausible number of them. */
START_TEST(commands_are_found) {
    int sum = 0;
    ck_assert_uint_le(documents.gl_pathc, 48); /* the limit of commands_run_as_shown */
    for (size_t i = 0; i < documents.gl_pathc; i++) {
        find_commands(documents.gl_pathv[i]);
        sum += all.n;
        if (i == 0)
            ck_assert_int_ge(all.n, LEAST_OF_README);
        if (getenv("DOCUMENTS_SAY"))
            for (int k = 0; k < all.n; k++)
                printf("%s: %s\n", documents.gl_pathv[i], all.text[k]);
    }
    ck_assert_msg(sum >= LEAST_COMMANDS, "%d commands", sum);
}
END_TEST

/* The kernel and the program that the tutorial shows are equal to the files in the clone. */
START_TEST(the_tutorial_shows_its_files) {
    static const char *const files[] = {"docs/tutorial/branch.ptx", "docs/tutorial/branch.heddle"};
    char *page = read_document("docs/tutorial.md");
    for (int i = 0; i < 2; i++) {
        char *text = read_document(files[i]), *shown = calloc(5, strlen(text) + 1), *to = shown;
        ck_assert_ptr_nonnull(shown);
        for (const char *line = text; *line; line += strcspn(line, "\n") + 1)
            to += sprintf(to, "%s%.*s\n", *line == '\n' ? "" : "    ", (int)strcspn(line, "\n"), line);
        ck_assert_msg(strstr(page, shown) != NULL, "docs/tutorial.md has another %s", files[i]);
        free(shown);
        free(text);
    }
    free(page);
}
END_TEST

SUITE(documents) {
    tcase_add_checked_fixture(tc, setup, teardown);
    TEST(commands_are_found);
    TEST(the_demo_ends_with_its_table);
    TEST(the_tutorial_shows_its_files);
    TEST_LOOP(commands_run_as_shown, 0, 48);
}
