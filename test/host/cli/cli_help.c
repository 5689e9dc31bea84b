#include "cli_help.h"
#include <stdarg.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

char cli_binary[PATH_MAX], cli_root[PATH_MAX];
static char dir[64];
char *out, *err;
const char *cli_preload;

char *slurp(const char *path) {
    FILE *f = fopen(path, "rb");
    ck_assert_msg(f != NULL, "%s is missing", path);
    char *text = calloc(1, 1 << 23);
    ck_assert_ptr_nonnull(text);
    size_t n = fread(text, 1, (1 << 23) - 1, f);
    text[n] = '\0';
    fclose(f);
    return text;
}

void write_file(const char *name, const void *data, size_t len) {
    FILE *f = fopen(name, "wb");
    ck_assert_ptr_nonnull(f);
    ck_assert_uint_eq(fwrite(data, 1, len, f), len);
    ck_assert_int_eq(fclose(f), 0);
}

void cli_setup(void) {
    const char *set = getenv("HEDDLE_BIN");
    ck_assert_ptr_nonnull(getcwd(cli_root, sizeof cli_root - 16));
    ck_assert_msg(realpath(set ? set : "build/heddle", cli_binary) != NULL,
                  "no binary: build it first, or set HEDDLE_BIN");
    char kernels[PATH_MAX + 16];
    snprintf(kernels, sizeof kernels, "%s/kernels", cli_root);
    setenv("HEDDLE_KERNELS", kernels, 1);
    strcpy(dir, "/tmp/heddle_cli_XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(dir));
    ck_assert_int_eq(chdir(dir), 0);
}

void cli_teardown(void) {
    char command[128];
    free(out);
    free(err);
    out = err = NULL;
    ck_assert_int_eq(chdir("/"), 0);
    snprintf(command, sizeof command, "rm -rf %s", dir);
    ck_assert_int_eq(system(command), 0);
}

int heddle(const char *fmt, ...) {
    char args[1024], command[2 * PATH_MAX + 1200];
    va_list list;
    va_start(list, fmt);
    vsnprintf(args, sizeof args, fmt, list);
    va_end(list);
    snprintf(command, sizeof command, "ulimit -t 100; env %s%s '%s' %s >stdout.txt 2>stderr.txt </dev/null",
             cli_preload ? "LD_PRELOAD=" : "", cli_preload ? cli_preload : "", cli_binary, args);
    int how = system(command);
    ck_assert_msg(WIFEXITED(how), "%s ended by a signal", args);
    free(out);
    free(err);
    out = slurp("stdout.txt");
    err = slurp("stderr.txt");
    return WEXITSTATUS(how);
}

bool exists(const char *name) { return access(name, F_OK) == 0; }

bool has_runtime(void) { return runtime_beside(cli_binary); }

void write_kernel(const char *params, const char *body) {
    char text[4096];
    int n = snprintf(text, sizeof text,
                     ".version 6.0\n.target sm_50\n.address_size 64\n.visible .entry k(%s)\n{\n"
                     ".reg .b32 %%r<9>; .reg .b64 %%rd<9>; .reg .pred %%p<3>; .reg .f32 %%f<4>;\n%s\nret;\n}\n",
                     params, body);
    ck_assert(n > 0 && (size_t)n < sizeof text);
    write_file("k.ptx", text, (size_t)n);
}

double number(const cJSON *o, const char *name) {
    const cJSON *v = cJSON_GetObjectItemCaseSensitive(o, name);
    ck_assert_msg(cJSON_IsNumber(v), "%s is no number", name);
    return v->valuedouble;
}
