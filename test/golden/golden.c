/* Compares Heddle's results with results of a real GPU (test/golden/, made by scripts/golden/run.sh). */
#include "golden_forms.h"
#include "test/test.h"
#include <dirent.h>
#include <stdio.h>

enum { LINE = 8192 };

static bool form_of(const char *key, uint32_t *form) {
    char other[GOLDEN_KEY];
    for (uint32_t i = 0; i < golden_count(); i++) {
        golden_key(i, other);
        if (strcmp(key, other) == 0) {
            *form = i;
            return true;
        }
    }
    return false;
}

static void compare(const char *key, const char *hashes, char *raw) {
    static struct golden_input in[GOLDEN_INPUTS];
    static struct golden_result out[GOLDEN_INPUTS];
    uint32_t form;
    if (!form_of(key, &form))
        return; /* the table no longer has this form, so its results are not compared */
    golden_inputs(form, in);
    golden_execute(form, in, out, GOLDEN_INPUTS);
    golden_canonical(form, out, GOLDEN_INPUTS);
    for (uint32_t k = 0; k < GOLDEN_RAW; k++) {
        uint32_t i = golden_raw(k);
        struct golden_result want = {strtoull(raw, &raw, 16), 0};
        if (*raw == ':')
            want.d2 = strtoull(raw + 1, &raw, 16);
        const uint64_t *s = in[i].operand;
        ck_assert_msg(out[i].d == want.d && out[i].d2 == want.d2,
                      "%s: of %#llx %#llx %#llx %#llx it is %#llx:%#llx, the GPU says %#llx:%#llx", key,
                      (unsigned long long)s[0], (unsigned long long)s[1], (unsigned long long)s[2],
                      (unsigned long long)s[3], (unsigned long long)out[i].d, (unsigned long long)out[i].d2,
                      (unsigned long long)want.d, (unsigned long long)want.d2);
    }
    for (uint32_t b = 0; b < GOLDEN_BLOCKS; b++) {
        char *end;
        uint32_t want = (uint32_t)strtoul(hashes, &end, 16);
        hashes = end;
        ck_assert_msg(golden_hash(&out[b * GOLDEN_BLOCK], GOLDEN_BLOCK) == want,
                      "%s: a result of inputs %u to %u differs from the GPU's", key, b * GOLDEN_BLOCK,
                      (b + 1) * GOLDEN_BLOCK - 1);
    }
}

static int compare_file(const char *path) {
    static char line[LINE];
    int n = 0;
    FILE *f = fopen(path, "r");
    ck_assert_msg(f != NULL, "%s", path);
    while (fgets(line, sizeof line, f)) {
        char *hashes = strchr(line, '\t'), *raw = hashes ? strchr(hashes + 1, '\t') : NULL;
        if (line[0] == '#')
            continue;
        ck_assert_msg(raw != NULL, "%s: a line without results: %s", path, line);
        *hashes = *raw = '\0';
        compare(line, hashes + 1, raw + 1);
        n++;
    }
    fclose(f);
    return n;
}

START_TEST(forms_compute_what_the_gpu_computes) {
    int n = 0;
    DIR *dir = opendir("test/golden");
    for (struct dirent *e; dir && (e = readdir(dir));) {
        char path[512];
        size_t len = strlen(e->d_name);
        if (len < 5 || strcmp(e->d_name + len - 4, ".txt") != 0)
            continue;
        snprintf(path, sizeof path, "test/golden/%s", e->d_name);
        n += compare_file(path);
    }
    if (dir)
        closedir(dir);
    if (n == 0)
        test_skip("golden: no vectors of a GPU are in test/golden (scripts/golden/run.sh makes them)");
}
END_TEST

/* Tests this test's own parts: the keys, the input values and the executor. The form neg.s32 gives -5, which is
 * 0xfffffffb. */
START_TEST(keys_inputs_and_results_match) {
    uint32_t form;
    ck_assert(form_of("neg.s32 .s32 .s32", &form));
    struct golden_input in = {{5}};
    struct golden_result out;
    golden_execute(form, &in, &out, 1);
    ck_assert_uint_eq(out.d, 0xfffffffb);
    ck_assert(form_of("add.cc.u32 .u32 .pred .u32 .u32", &form));
    in = (struct golden_input){{0xffffffff, 2}}; /* 2^32 + 1: carries */
    golden_execute(form, &in, &out, 1);
    ck_assert_uint_eq(out.d, 1);
    ck_assert_uint_eq(out.d2, 1);
    static struct golden_input all[GOLDEN_INPUTS];
    golden_inputs(form, all);
    for (int i = 0; i < GOLDEN_INPUTS; i++)
        ck_assert(all[i].operand[0] <= UINT32_MAX && all[i].operand[2] == 0);
    ck_assert_uint_ne(all[GOLDEN_INPUTS - 1].operand[0], all[GOLDEN_INPUTS - 2].operand[0]);
}
END_TEST

/* Keys must be unique: otherwise the results of one form would be compared with the results of another form. */
START_TEST(keys_are_unique) {
    char key[GOLDEN_KEY], *all = calloc(golden_count(), GOLDEN_KEY);
    ck_assert_ptr_nonnull(all);
    for (uint32_t i = 0; i < golden_count(); i++) {
        golden_key(i, key);
        for (uint32_t k = 0; k < i; k++)
            ck_assert_str_ne(all + (size_t)k * GOLDEN_KEY, key);
        memcpy(all + (size_t)i * GOLDEN_KEY, key, GOLDEN_KEY);
    }
    free(all);
}
END_TEST

SUITE(golden) {
    TEST(forms_compute_what_the_gpu_computes);
    TEST(keys_inputs_and_results_match);
    TEST(keys_are_unique);
}
