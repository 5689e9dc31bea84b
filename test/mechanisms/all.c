/* Every mechanism is registered whole: a folder of mechanisms/ that the list lacks, a descriptor that lacks a part, and
 * options or statistics under a mechanism's name that it does not call its own, are named here. */
#include "mechanisms/all.h"
#include "host/models.h"
#include "isa/compound.h"
#include "isa/decode.h"
#include "test/frontend/frontend_help.h"
#include "test/test.h"
#include "timing/config/config.h"
#include "timing/report/stat.h"
#include <dirent.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

static const struct mechanism *find(const char *name) {
    for (const struct mechanism *const *m = model_tables.mechanisms; *m; m++)
        if (strcmp((*m)->name, name) == 0)
            return *m;
    return NULL;
}

START_TEST(each_folder_is_in_the_list) {
    DIR *d = opendir("mechanisms");
    int folders = 0, listed = 0;
    ck_assert_ptr_nonnull(d);
    for (struct dirent *e; (e = readdir(d));) {
        char path[300];
        struct stat st;
        snprintf(path, sizeof path, "mechanisms/%s", e->d_name);
        if (e->d_name[0] == '.' || stat(path, &st) != 0 || !S_ISDIR(st.st_mode))
            continue;
        folders++;
        ck_assert_msg(find(e->d_name) != NULL, "%s has no line in mechanisms/all.def", path);
    }
    closedir(d);
    for (const struct mechanism *const *m = model_tables.mechanisms; *m; m++)
        listed++;
    ck_assert_int_eq(folders, listed);
}
END_TEST

/* What a folder declares is included by the one file of all declarations. */
START_TEST(each_declaration_is_in_the_list) {
    char *all = read_whole("mechanisms/declared.def");
    ck_assert_ptr_nonnull(all);
    for (const struct mechanism *const *m = model_tables.mechanisms; *m; m++) {
        char path[300], line[300];
        snprintf(path, sizeof path, "mechanisms/%s/%s.def", (*m)->name, (*m)->name);
        snprintf(line, sizeof line, "#include \"%s/%s.def\"\n", (*m)->name, (*m)->name);
        bool declares = access(path, R_OK) == 0;
        ck_assert_msg(declares == (strstr(all, line) != NULL), "%s has no line in mechanisms/declared.def", path);
    }
    free(all);
}
END_TEST

/* A base has models and nothing of an extension; an extension adds something; help is one line. */
START_TEST(each_descriptor_is_whole) {
    for (const struct mechanism *const *at = model_tables.mechanisms; *at; at++) {
        const struct mechanism *m = *at;
        bool base = m->kind == MECHANISM_BASE;
        ck_assert_msg(m->name && find(m->name) == m, "a name stands there twice: %s", m->name);
        ck_assert_msg(m->help && *m->help && !strchr(m->help, '\n'), "%s has no line of help", m->name);
        ck_assert_msg(base == (m->models != NULL), "%s: a base has models, nothing else has", m->name);
        ck_assert_msg(!base || (!m->refuse && !m->unit && !m->at_slices), "%s is a base and an extension", m->name);
        for (const struct model *b = m->models; b && b->name; b++)
            ck_assert_msg(b->ops && b->help, "%s: the model %s lacks calls or help", m->name, b->name);
    }
}
END_TEST

static int members(const char *group) {
    int n = 0;
    for (const struct mechanism *const *m = model_tables.mechanisms; *m; m++)
        for (const char *const *g = (*m)->groups; g && *g; g++)
            n += strcmp(*g, group) == 0;
    return n;
}

/* A group excludes something: it has two members at least, all of them extensions. */
START_TEST(each_group_has_members) {
    int n = 0;
    for (const struct mechanism *const *m = model_tables.mechanisms; *m; m++)
        for (const char *const *g = (*m)->groups; g && *g; g++, n++) {
            ck_assert_msg((*m)->kind == MECHANISM_EXTENSION, "%s is no extension", (*m)->name);
            ck_assert_msg(members(*g) >= 2, "%s is alone in the group '%s'", (*m)->name, *g);
        }
    ck_assert_int_gt(n, 0);
}
END_TEST

/* Each compound instruction has a name of its own, which no opcode has, and all operations that are asked of it. */
START_TEST(each_instruction_is_whole) {
    const struct compound_ops *const *all = mechanism_instructions();
    int n = 0, of_descriptors = 0;
    for (const struct mechanism *const *m = model_tables.mechanisms; *m; m++)
        for (const struct compound_ops *const *c = (*m)->instructions; c && *c; c++)
            of_descriptors++;
    for (; all[n]; n++) {
        const struct compound_ops *c = all[n];
        ck_assert_msg(c->name && c->name[0] == '#' && c->help && *c->help, "instruction %d has no name or help", n);
        ck_assert_msg(c->execute && c->print && c->wrong, "%s lacks an operation", c->name);
        ck_assert_msg((c->source_lane != NULL) == (c->steps != 0), "%s has steps without lanes", c->name);
        for (int k = 0; k < n; k++)
            ck_assert_str_ne(c->name, all[k]->name);
        for (int op = 0; op < N_OPS; op++)
            ck_assert_str_ne(c->name, isa_ops[op].mnemonic);
    }
    ck_assert_int_eq(n, of_descriptors);
    ck_assert_int_ge(n, 2);
}
END_TEST

static bool begins_one(const char *text, const char *const *with) {
    for (; with && *with; with++)
        if (strncmp(text, *with, strlen(*with)) == 0)
            return true;
    return false;
}

/* The mechanism under whose name `key` stands: "dac.tuples" under dac. */
static const struct mechanism *named_by(const char *key) {
    char name[64];
    snprintf(name, sizeof name, "%.*s", (int)strcspn(key, "."), key);
    return find(name);
}

START_TEST(each_option_has_its_mechanism) {
    for (const struct opt *o = config_options(); o->key; o++) {
        const struct mechanism *m = named_by(o->key);
        ck_assert_msg(!m || begins_one(o->key, m->options), "%s does not call option %s its own", m->name, o->key);
    }
    for (const struct mechanism *const *m = model_tables.mechanisms; *m; m++)
        for (const char *const *prefix = (*m)->options; prefix && *prefix; prefix++) {
            bool used = false;
            for (const struct opt *o = config_options(); o->key; o++)
                used = used || strncmp(o->key, *prefix, strlen(*prefix)) == 0;
            ck_assert_msg(used, "%s: no option begins with %s", (*m)->name, *prefix);
        }
}
END_TEST

START_TEST(each_statistic_has_its_mechanism) {
    int n;
    const struct stat_def *defs = stat_defs(&n);
    for (int i = 0; i < n; i++) {
        const struct mechanism *m = named_by(defs[i].name);
        ck_assert_msg(!m || begins_one(defs[i].name, m->statistics), "%s does not call statistic %s its own", m->name,
                      defs[i].name);
    }
    for (const struct mechanism *const *m = model_tables.mechanisms; *m; m++)
        for (const char *const *prefix = (*m)->statistics; prefix && *prefix; prefix++) {
            bool used = false;
            for (int i = 0; i < n; i++)
                used = used || strncmp(defs[i].name, *prefix, strlen(*prefix)) == 0;
            ck_assert_msg(used, "%s: no statistic begins with %s", (*m)->name, *prefix);
        }
}
END_TEST

SUITE(mechanisms_all) {
    TEST(each_folder_is_in_the_list);
    TEST(each_declaration_is_in_the_list);
    TEST(each_descriptor_is_whole);
    TEST(each_group_has_members);
    TEST(each_instruction_is_whole);
    TEST(each_option_has_its_mechanism);
    TEST(each_statistic_has_its_mechanism);
}
