/* Tests that each mechanism is registered completely. Reports folders of mechanisms/ that are not in the list of
 * mechanisms, descriptors that lack a part, and options or statistics that have a mechanism's prefix but are not
 * declared by this mechanism. */
#include "mechanisms/all.h"
#include "host/models.h"
#include "isa/compound.h"
#include "isa/decode.h"
#include "test/frontend/frontend_help.h"
#include "test/test.h"
#include "timing/config/config.h"
#include "timing/mem/bypass.h"
#include "timing/mem/replacement.h"
#include "timing/report/stat.h"
#include "timing/sm/cta_ops.h"
#include "timing/sm/sched/sched_ops.h"
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

/* The file of all declarations must include the declarations of each folder. */
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

/* Only a base mechanism has models. Only an extension may have a prefetcher, or a function `refuse` that rejects
 * combinations with other models. Every help text is a single line. */
START_TEST(each_descriptor_is_whole) {
    for (const struct mechanism *const *at = model_tables.mechanisms; *at; at++) {
        const struct mechanism *m = *at;
        bool base = m->kind == MECHANISM_BASE;
        ck_assert_msg(m->name && find(m->name) == m, "a name stands there twice: %s", m->name);
        ck_assert_msg(m->help && *m->help && !strchr(m->help, '\n'), "%s has no line of help", m->name);
        ck_assert_msg(base == (m->models != NULL), "%s: only a base has models, and it must have some", m->name);
        ck_assert_msg(!base || (!m->refuse && !m->at_l1 && !m->at_slices), "%s is both a base and an extension",
                      m->name);
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

/* A group of mutually exclusive extensions has at least two members, and each member is an extension. */
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

/* Each compound instruction has a name of its own, which is no opcode. It has all operations of struct compound_ops
 * that callers use. */
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

/* Copies the n-th word of `choices` to `out`. Returns false if there is no such word. */
static bool choice(const char *choices, int n, char *out, size_t size) {
    for (; n && *choices; n--) {
        choices += strcspn(choices, " ");
        choices += strspn(choices, " ");
    }
    snprintf(out, size, "%.*s", (int)strcspn(choices, " "), choices);
    return *out;
}

static bool is_choice(const char *choices, const char *name) {
    char word[64];
    for (int n = 0; choice(choices, n, word, sizeof word); n++)
        if (strcmp(word, name) == 0)
            return true;
    return false;
}

static const char *choices_of(const char *key) {
    const struct opt *o = config_options();
    while (o->key && strcmp(o->key, key) != 0)
        o++;
    ck_assert_msg(o->key && o->kind == OPT_KIND_ENUM, "there is no option %s", key);
    return o->choices;
}

/* Checks that the choices of an option and its policies have the same names. A mechanism declares each choice by a line
 * SCHEDULER(name) or REPLACEMENT(name), and each line needs a policy with this name. */
static void check_names(const char *key, const char *row, const char *const *names) {
    char word[64];
    const char *choices = choices_of(key);
    int n = 0;
    for (; names[n]; n++) {
        ck_assert_msg(is_choice(choices, names[n]),
                      "%s lacks the choice %s: add %s(%s) to the section DECLARED_POLICIES of the mechanism", key,
                      names[n], row, names[n]);
        for (int k = 0; k < n; k++)
            ck_assert_msg(strcmp(names[n], names[k]) != 0, "%s: two policies are called %s", key, names[n]);
    }
    for (int i = 0; choice(choices, i, word, sizeof word); i++) {
        bool there = false;
        for (int k = 0; k < n; k++)
            there = there || strcmp(names[k], word) == 0;
        ck_assert_msg(there, "%s: no descriptor brings %s, which a row %s(%s) declares", key, word, row, word);
    }
}

enum { MAX_NAMES = 64 };

START_TEST(each_scheduler_is_whole) {
    const char *names[MAX_NAMES] = {NULL};
    int n = 0;
    for (const struct sched_ops *const *s = mechanism_schedulers(); *s; s++) {
        ck_assert_msg((*s)->name && (*s)->help && *(*s)->help && (*s)->pick, "scheduler %d lacks name, help or pick",
                      n);
        ck_assert_ptr_eq(mechanism_scheduler((*s)->name), *s);
        names[n++] = (*s)->name;
    }
    ck_assert_str_eq(names[0], "lrr"); /* the default */
    check_names("sched.policy", "SCHEDULER", names);
}
END_TEST

START_TEST(each_replacement_is_whole) {
    const char *names[MAX_NAMES] = {NULL};
    int n = 0;
    for (const struct replacement_ops *const *r = mechanism_replacements(); *r; r++) {
        ck_assert_msg((*r)->name && (*r)->help && *(*r)->help && (*r)->victim,
                      "replacement policy %d lacks name, help or victim", n);
        ck_assert_ptr_eq(mechanism_replacement((*r)->name), *r);
        names[n++] = (*r)->name;
    }
    ck_assert_str_eq(names[0], "lru"); /* the default */
    check_names("l1.replacement", "REPLACEMENT", names);
    check_names("l2.replacement", "REPLACEMENT", names);
}
END_TEST

START_TEST(each_bypass_policy_is_whole) {
    const char *names[MAX_NAMES] = {NULL};
    int n = 0;
    for (const struct bypass_ops *const *b = mechanism_bypasses(); *b; b++) {
        ck_assert_msg((*b)->name && (*b)->help && *(*b)->help, "bypass policy %d lacks name or help", n);
        ck_assert_msg(n == 0 || (*b)->goes_past, "%s lets no access go past", (*b)->name);
        ck_assert_ptr_eq(mechanism_bypass((*b)->name), *b);
        names[n++] = (*b)->name;
    }
    ck_assert_str_eq(names[0], "none"); /* the default */
    check_names("l1.bypass", "BYPASS", names);
    check_names("l2.bypass", "BYPASS", names);
}
END_TEST

START_TEST(each_cta_policy_is_whole) {
    const char *names[MAX_NAMES] = {NULL};
    int n = 0;
    for (const struct cta_ops *const *c = mechanism_cta_policies(); *c; c++) {
        ck_assert_msg((*c)->name && (*c)->help && *(*c)->help && (*c)->pick, "CTA policy %d lacks name, help or pick",
                      n);
        ck_assert_ptr_eq(mechanism_cta_policy((*c)->name), *c);
        names[n++] = (*c)->name;
    }
    ck_assert_str_eq(names[0], "in_order"); /* the default */
    check_names("gpu.cta_policy", "CTA_POLICY", names);
}
END_TEST

static bool begins_one(const char *text, const char *const *with) {
    for (; with && *with; with++)
        if (strncmp(text, *with, strlen(*with)) == 0)
            return true;
    return false;
}

/* Returns the mechanism whose name is the key's prefix. For example, the key "dac.tuples" belongs to dac. */
static const struct mechanism *named_by(const char *key) {
    char name[64];
    snprintf(name, sizeof name, "%.*s", (int)strcspn(key, "."), key);
    return find(name);
}

START_TEST(each_option_has_its_mechanism) {
    for (const struct opt *o = config_options(); o->key; o++) {
        const struct mechanism *m = named_by(o->key);
        ck_assert_msg(!m || mechanism_has_option(m, o->key), "%s does not call option %s its own", m->name, o->key);
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

/* An option that a mechanism shares must be declared by another mechanism. */
START_TEST(each_shared_option_has_another_mechanism) {
    for (const struct mechanism *const *m = model_tables.mechanisms; *m; m++)
        for (const struct config_part *part = (*m)->shares; part && part->size; part++) {
            int n = 0;
            for (const struct opt *o = config_options(); o->key; o++) {
                if (o->offset < part->at || o->offset >= part->at + part->size)
                    continue;
                n++;
                ck_assert_msg(mechanism_has_option(*m, o->key), "%s lacks %s", (*m)->name, o->key);
                ck_assert_msg(named_by(o->key) && named_by(o->key) != *m, "%s shares its own %s", (*m)->name, o->key);
            }
            ck_assert_msg(n > 0, "%s shares no option", (*m)->name);
        }
    ck_assert(mechanism_has_option(find("si"), "its.scoreboard=exact"));
    ck_assert(mechanism_has_option(find("fold"), "chain.latency6"));
    ck_assert(mechanism_has_option(find("reduce"), "chain.ieee"));
    ck_assert(!mechanism_has_option(find("reduce"), "chain.length=3"));
    ck_assert(!mechanism_has_option(find("si"), "its."));
    ck_assert(!mechanism_has_option(find("dpe"), "its.scoreboard"));
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
    TEST(each_scheduler_is_whole);
    TEST(each_replacement_is_whole);
    TEST(each_bypass_policy_is_whole);
    TEST(each_cta_policy_is_whole);
    TEST(each_option_has_its_mechanism);
    TEST(each_shared_option_has_another_mechanism);
    TEST(each_statistic_has_its_mechanism);
}
