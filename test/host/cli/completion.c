/* Tests the shell completions. They must contain every command and option of --help, and the shells must accept
 * them. */
#include "cli_help.h"

static char names[24][16];
static int n_names;

static void find_names(void) {
    STATUS(HEDDLE_OK, "help --names");
    n_names = 0;
    for (char *at = strtok(out, "\n"); at && n_names < 24; at = strtok(NULL, "\n"))
        snprintf(names[n_names++], sizeof names[0], "%s", at);
    ck_assert_int_ge(n_names, 11);
}

/* Finds the options (for example "--model") that --help lists for a command. */
static int find_options(const char *command, char found[48][32]) {
    int n = 0;
    STATUS(HEDDLE_OK, "help %s", command);
    for (const char *at = out; (at = strstr(at, "--")) && n < 48; at += 2) {
        const char *line = at;
        while (line > out && line[-1] != '\n')
            line--;
        bool listed = strncmp(line, "  ", 2) == 0 && strspn(line, " ") <= 6 && at - line <= 6;
        size_t len = strcspn(at, " [\n");
        if (listed && len < 32)
            snprintf(found[n++], 32, "%.*s", (int)len, at);
    }
    return n;
}

START_TEST(every_command_and_option_is_in_them) {
    char found[48][32];
    find_names();
    STATUS(HEDDLE_OK, "help --bash");
    char *bash = strdup(out);
    STATUS(HEDDLE_OK, "help --zsh");
    char *zsh = strdup(out);
    int all = 0;
    for (int i = 0; i < n_names; i++) {
        char part[32];
        int n = find_options(names[i], found);
        snprintf(part, sizeof part, "        %.15s) if ", names[i]);
        const char *b = strstr(bash, part), *z = strstr(zsh, part);
        ck_assert_msg(b && z, "%s", names[i]);
        char *b_line = strndup(b, strcspn(b, "\n")), *z_line = strndup(z, strcspn(z, "\n"));
        for (int k = 0; k < n; k++) {
            SAYS(b_line, found[k]);
            SAYS(z_line, found[k]);
        }
        all += n;
        free(b_line);
        free(z_line);
    }
    ck_assert_int_ge(all, 80);
    free(bash);
    free(zsh);
}
END_TEST

/* Checks the completions that bash offers for a command line whose last word is unfinished. */
static void bash_offers(const char *typed, const char *want, const char *not_this) {
    char command[4 * PATH_MAX];
    snprintf(command, sizeof command,
             "mkdir -p bin; ln -sf '%s' bin/heddle; PATH=$PWD/bin:$PATH bash -c 'source ./heddle.bash; COMP_WORDS=(%s);"
             " COMP_CWORD=$((${#COMP_WORDS[@]} - 1)); _heddle; printf \"%%s\\n\" \"${COMPREPLY[@]}\"' >offers.txt 2>&1",
             cli_binary, typed);
    ck_assert_int_eq(system(command), 0);
    char *said = slurp("offers.txt");
    char line[64];
    snprintf(line, sizeof line, "%s\n", want);
    ck_assert_msg(strncmp(said, line, strlen(line)) == 0 ||
                      (snprintf(line, sizeof line, "\n%s\n", want), strstr(said, line)),
                  "%s: no %s in:\n%.1000s", typed, want, said);
    ck_assert_msg(!not_this || !strstr(said, not_this), "%s: %s in:\n%.1000s", typed, not_this, said);
    free(said);
}

START_TEST(bash_offers_what_fits) {
    if (system("bash -c 'compgen -W a -- a' >/dev/null 2>&1") != 0) {
        test_skip("this bash has no completion");
        return;
    }
    STATUS(HEDDLE_OK, "help --bash");
    write_file("heddle.bash", out, strlen(out));
    write_file("stack.db", "", 0);
    bash_offers("heddle re", "reproduce", "run");
    bash_offers("heddle run --mo", "--model", "--json");
    bash_offers("heddle bench -m dp", "dpe", "stack");
    bash_offers("heddle compare lud -m spe,dp", "spe,dpe", NULL);
    bash_offers("heddle sweep lud -s l1.si", "l1.size=", NULL);
    bash_offers("heddle plot st", "stack.db", NULL);
    bash_offers("heddle plot stack.db --kind st", "stack", "stack.db");
    bash_offers("heddle list opt", "options", NULL);
    bash_offers("heddle help pl", "plot", NULL);
    bash_offers("heddle help tut", "tutorial", NULL);
    bash_offers("heddle bench lud -s sched.policy =", "gto", "stack"); /* bash splits "sched.policy=" into two words */
    bash_offers("heddle bench lud -s sched.policy = gt", "gto", "lrr");
    bash_offers("heddle sweep lud -s sched.policy = lrr,gt", "lrr,gto", NULL);
    bash_offers("heddle bench lud -s sched.policy=gt", "sched.policy=gto", NULL);
    bash_offers("heddle bench lud -s l1.sectored =", "true", NULL);
    bash_offers("heddle bench lud --model = dp", "dpe", "stack");
    write_kernel("", "");
    bash_offers("heddle run k.ptx -k \"\"", "k", "stack");
    bash_offers("heddle run k.ptx -a i", "inout:", NULL);
    bash_offers("heddle run k.ptx -a in : sta", "stack.db", NULL); /* bash splits "in:sta" into three words */
    bash_offers("heddle run k.ptx -a in :", "stack.db", NULL);
    bash_offers("heddle bench lud -m spe+da", "spe+dac", "dpe");
    bash_offers("heddle compare lud -m spe,dpe+da", "spe,dpe+dac", NULL);
    bash_offers("heddle inspect k.ptx --pass \"\"", "lower", "stack");
    bash_offers("heddle results stack.db --rows program,l1.si", "program,l1.size", NULL);
    bash_offers("heddle plot stack.db --x l1.miss_r", "l1.miss_rate", NULL);
    bash_offers("heddle reproduce subwarp-3", "subwarp-3", NULL);
}
END_TEST

START_TEST(zsh_takes_its_completion) {
    if (system("zsh --version >/dev/null 2>&1") != 0) {
        test_skip("there is no zsh");
        return;
    }
    STATUS(HEDDLE_OK, "help --zsh");
    write_file("_heddle", out, strlen(out));
    ck_assert_int_eq(system("zsh -n _heddle"), 0);
}
END_TEST

SUITE(host_cli_completion) {
    tcase_add_checked_fixture(tc, cli_setup, cli_teardown);
    TEST(every_command_and_option_is_in_them);
    TEST(bash_offers_what_fits);
    TEST(zsh_takes_its_completion);
}
