/* The state of a running simulation: curves with a bounded number of points, the latest launches, and the SMs. */
#include "host/progress.h"
#include "live_parts.h"
#include "timing/report/causes.h"
#include <cjson/cJSON.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

bool live_state_init(struct live_state *s, const char *command) {
    *s = (struct live_state){.command = strdup(command), .started = seconds_now(), .each = 1};
    return s->command && pthread_mutex_init(&s->lock, NULL) == 0;
}

void live_state_free(struct live_state *s) {
    pthread_mutex_destroy(&s->lock);
    free(s->command);
    free(s->sms);
}

static struct live_point point_of(const struct heddle_view *v, int sm) {
    struct live_point p = {.cycles = (double)(v->to - v->from),
                           .instructions = heddle_view_stat(v, sm, "gpu.thread_instructions")};
    for (int i = 0; i < N_SLOTS; i++) {
        char name[48];
        snprintf(name, sizeof name, "issue.%s", issue_slot_names[i]);
        p.slots[i] = heddle_view_stat(v, sm, name);
    }
    return p;
}

static void add(struct live_point *to, const struct live_point *p) {
    to->cycles += p->cycles;
    to->instructions += p->instructions;
    for (int i = 0; i < N_SLOTS; i++)
        to->slots[i] += p->slots[i];
}

/* Merges pairs of points, so that the number of points stays bounded in long runs. */
static void halve(struct live_state *s) {
    for (int i = 0; i < LIVE_POINTS / 2; i++) {
        s->points[i] = s->points[2 * i];
        add(&s->points[i], &s->points[2 * i + 1]);
    }
    s->n_points = LIVE_POINTS / 2;
    s->each *= 2;
}

static void add_point(struct live_state *s, const struct live_point *p) {
    if (s->n_points && s->views < s->each) {
        add(&s->points[s->n_points - 1], p);
        s->views++;
        return;
    }
    if (s->n_points == LIVE_POINTS)
        halve(s);
    s->points[s->n_points++] = *p;
    s->views = 1;
}

static struct live_launch *launch_of(struct live_state *s, const struct heddle_view *v, double now) {
    struct live_launch *l = &s->launches[(s->n_launches + LIVE_LAUNCHES - 1) % LIVE_LAUNCHES];
    if (s->n_launches && !l->ended)
        return l;
    l = &s->launches[s->n_launches++ % LIVE_LAUNCHES];
    *l = (struct live_launch){.number = v->launch, .grid = v->grid, .block = v->block, .ctas = v->ctas, .began = now};
    snprintf(l->program, sizeof l->program, "%s", s->program);
    heddle_demangle(v->kernel, l->kernel, sizeof l->kernel);
    return l;
}

static void take_sms(struct live_state *s, const struct heddle_view *v) {
    if (s->n_sms != v->sms) {
        free(s->sms);
        s->sms = calloc(v->sms, sizeof *s->sms);
        s->n_sms = s->sms ? v->sms : 0;
    }
    for (uint32_t i = 0; i < s->n_sms; i++) {
        s->sms[i].last = point_of(v, (int)i);
        s->sms[i].last.cycles = (double)(v->to - v->from);
        heddle_view_sm(v, i, &s->sms[i].ctas, &s->sms[i].warps);
    }
}

void live_state_view(struct live_state *s, const struct heddle_view *v) {
    double now = seconds_now() - s->started;
    pthread_mutex_lock(&s->lock);
    struct live_launch *l = launch_of(s, v, now);
    l->ctas_done = v->ctas_done;
    if (v->sms && v->to > v->from) {
        struct live_point p = point_of(v, -1);
        l->cycles += p.cycles;
        l->instructions += p.instructions;
        s->timed = true;
        add_point(s, &p);
        take_sms(s, v);
    }
    if (v->ended)
        l->ended = now;
    pthread_mutex_unlock(&s->lock);
}

/* Rounds to four digits, which is enough for a picture. */
static cJSON *rounded(double v) {
    char text[32];
    snprintf(text, sizeof text, "%.4g", isfinite(v) ? v : 0);
    return cJSON_CreateRaw(text);
}

static cJSON *dim(struct heddle_dim d) { return cJSON_CreateIntArray((int[]){(int)d.x, (int)d.y, (int)d.z}, 3); }

static double share(const struct live_point *p, int slot) {
    double all = 0;
    for (int i = 0; i < N_SLOTS; i++)
        all += p->slots[i];
    return all > 0 ? p->slots[slot] / all : 0;
}

static double ipc(double instructions, double cycles) { return cycles > 0 ? instructions / cycles : 0; }

static cJSON *json_launches(const struct live_state *s, double now) {
    cJSON *list = cJSON_CreateArray();
    int shown = s->n_launches < LIVE_LAUNCHES ? s->n_launches : LIVE_LAUNCHES;
    for (int i = s->n_launches - shown; i < s->n_launches; i++) {
        const struct live_launch *l = &s->launches[i % LIVE_LAUNCHES];
        cJSON *o = cJSON_CreateObject();
        cJSON_AddItemToArray(list, o);
        cJSON_AddStringToObject(o, "program", l->program);
        cJSON_AddNumberToObject(o, "number", l->number);
        cJSON_AddStringToObject(o, "kernel", l->kernel);
        cJSON_AddItemToObject(o, "grid", dim(l->grid));
        cJSON_AddItemToObject(o, "block", dim(l->block));
        cJSON_AddNumberToObject(o, "ctas_done", (double)l->ctas_done);
        cJSON_AddNumberToObject(o, "ctas", (double)l->ctas);
        cJSON_AddNumberToObject(o, "cycles", l->cycles);
        cJSON_AddItemToObject(o, "ipc", rounded(ipc(l->instructions, l->cycles)));
        cJSON_AddItemToObject(o, "seconds", rounded((l->ended > 0 ? l->ended : now) - l->began));
        cJSON_AddBoolToObject(o, "ended", l->ended > 0);
    }
    return list;
}

static cJSON *json_curves(const struct live_state *s) {
    cJSON *o = cJSON_CreateObject(), *cycle = cJSON_AddArrayToObject(o, "cycle");
    cJSON *rate = cJSON_AddArrayToObject(o, "ipc"), *shares = cJSON_AddArrayToObject(o, "shares");
    double at = 0;
    for (int i = 0; i < s->n_points; i++) {
        at += s->points[i].cycles;
        cJSON_AddItemToArray(cycle, cJSON_CreateNumber(at));
        cJSON_AddItemToArray(rate, rounded(ipc(s->points[i].instructions, s->points[i].cycles)));
    }
    for (int k = 0; k < N_SLOTS; k++) {
        cJSON *one = cJSON_CreateArray();
        cJSON_AddItemToArray(shares, one);
        for (int i = 0; i < s->n_points; i++)
            cJSON_AddItemToArray(one, rounded(share(&s->points[i], k)));
    }
    return o;
}

static cJSON *json_sms(const struct live_state *s) {
    cJSON *list = cJSON_CreateArray();
    for (uint32_t i = 0; i < s->n_sms; i++) {
        const struct live_sm *sm = &s->sms[i];
        cJSON *o = cJSON_CreateObject(), *shares = cJSON_AddArrayToObject(o, "shares");
        cJSON_AddItemToArray(list, o);
        cJSON_AddNumberToObject(o, "ctas", sm->ctas);
        cJSON_AddNumberToObject(o, "warps", sm->warps);
        cJSON_AddItemToObject(o, "ipc", rounded(ipc(sm->last.instructions, sm->last.cycles)));
        for (int k = 0; k < N_SLOTS; k++)
            cJSON_AddItemToArray(shares, rounded(share(&sm->last, k)));
    }
    return list;
}

char *live_state_json(struct live_state *s) {
    pthread_mutex_lock(&s->lock);
    double now = seconds_now() - s->started;
    cJSON *o = cJSON_CreateObject();
    cJSON_AddStringToObject(o, "heddle", HEDDLE_VERSION);
    cJSON_AddStringToObject(o, "command", s->command);
    cJSON_AddStringToObject(o, "model", s->model);
    cJSON_AddStringToObject(o, "config", s->config);
    cJSON_AddBoolToObject(o, "timed", s->timed);
    cJSON_AddItemToObject(o, "seconds", rounded(now));
    cJSON_AddNumberToObject(o, "begun", s->n_launches);
    const char *words[N_SLOTS];
    int colors[N_SLOTS];
    for (int i = 0; i < N_SLOTS; i++) {
        words[i] = slot_words(i);
        colors[i] = slot_color(i);
    }
    cJSON_AddItemToObject(o, "causes", cJSON_CreateStringArray(issue_slot_names, N_SLOTS));
    cJSON_AddItemToObject(o, "words", cJSON_CreateStringArray(words, N_SLOTS));
    cJSON_AddItemToObject(o, "colors", cJSON_CreateIntArray(colors, N_SLOTS));
    cJSON_AddItemToObject(o, "launches", json_launches(s, now));
    cJSON_AddItemToObject(o, "curves", json_curves(s));
    cJSON_AddItemToObject(o, "sms", json_sms(s));
    pthread_mutex_unlock(&s->lock);
    char *text = cJSON_PrintUnformatted(o);
    cJSON_Delete(o);
    return text;
}
