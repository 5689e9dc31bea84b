/* Tests the exact text of trace files: hand-made events, their tracks, and the begin and end of the file. */
#include "timing/report/trace.h"
#include "test/test.h"
#include "timing/report/states.h"
#include <stdio.h>

static struct inst_info info[8];
static const struct program p = {.info = info, .n = 8};
static char *text;
static size_t size;

static void is(const char *want) {
    ck_assert_msg(strcmp(text, want) == 0, "%s\nnot\n%s", text, want);
    free(text);
    text = NULL;
}

static bool written(struct trace *t, uint32_t sm, bool first) {
    FILE *out = open_memstream(&text, &size);
    bool some = trace_write(t, sm, &p, NULL, out, first);
    fclose(out);
    return some;
}

/* The trace covers cycles 100 to 199. CTA 7 is in slot 2, whose track is the third after the tracks of the warps. The
 * names of SM and track are written once. A bar has at least one cycle. */
START_TEST(tracks_are_named_once) {
    char want[1024];
    struct trace *t = trace_new(100, 200);
    trace_note(t, &(struct trace_event){.from = 99, .to = 150, .row = 1, .kind = TRACE_CTA});
    trace_note(t, &(struct trace_event){.from = 100, .to = 150, .row = 2, .lanes = 7, .kind = TRACE_CTA});
    trace_note(t, &(struct trace_event){.from = 199, .to = 199, .row = 2, .lanes = 8, .kind = TRACE_CTA});
    trace_note(t, &(struct trace_event){.from = 200, .to = 250, .row = 3, .kind = TRACE_CTA});
    ck_assert(written(t, 3, true));
    snprintf(want, sizeof want,
             "[\n{\"name\":\"process_name\",\"ph\":\"M\",\"pid\":3,\"args\":{\"name\":\"SM 3\"}},\n"
             "{\"name\":\"thread_name\",\"ph\":\"M\",\"pid\":3,\"tid\":%u,\"args\":{\"name\":\"CTA slot 2\"}},\n"
             "{\"name\":\"CTA 7\",\"cat\":\"cta\",\"ph\":\"X\",\"dur\":50,\"ts\":100,\"pid\":3,\"tid\":%u},\n"
             "{\"name\":\"CTA 8\",\"cat\":\"cta\",\"ph\":\"X\",\"dur\":1,\"ts\":199,\"pid\":3,\"tid\":%u}",
             TRACE_FIRST_CTA + 2, TRACE_FIRST_CTA + 2, TRACE_FIRST_CTA + 2);
    is(want);
    ck_assert(!written(t, 3, true)); /* all has been written */
    is("");
    ck_assert(written(t, 3, false));
    is("");
    trace_note(t, &(struct trace_event){.from = 120, .to = 120, .row = 2, .lanes = 5, .kind = TRACE_BARRIER});
    ck_assert(written(t, 3, false));
    snprintf(want, sizeof want,
             ",\n{\"name\":\"barrier 5 opens\",\"cat\":\"barrier\",\"ph\":\"i\",\"s\":\"t\",\"ts\":120,\"pid\":3,"
             "\"tid\":%u}",
             TRACE_FIRST_CTA + 2);
    is(want);
    trace_free(t);
}
END_TEST

/* Path 2 of warp 1 waits for a load from 110 to 120, and for a queue until 130. A second report of the same state at
 * 115 causes no event. The ready state from 130 to 140 causes no event either. The path's track follows the
 * instruction tracks of the warp. */
START_TEST(waits_are_bars) {
    char want[2048];
    struct trace *t = trace_new(0, 1000);
    const uint32_t id = TRACE_WARP_TRACKS + TRACE_INST_TRACKS + 2;
    info[5].line = 42;
    t->name[1] = "a\"b\\c\n"; /* a unit's name, escaped for JSON; a control character becomes a blank */
    trace_state(t, 1, 2, PATH_LOAD, 5, 0xf, 110);
    trace_state(t, 1, 2, PATH_LOAD, 5, 0xf, 115);
    trace_state(t, 1, 2, PATH_QUEUE, 5, 0xf, 120);
    trace_state(t, 1, 2, 0, 5, 0xf, 130);
    trace_state(t, 1, 2, PATH_LOAD, 5, 0xf, 140);
    ck_assert(written(t, 0, true));
    snprintf(
        want, sizeof want,
        "[\n{\"name\":\"process_name\",\"ph\":\"M\",\"pid\":0,\"args\":{\"name\":\"SM 0\"}},\n"
        "{\"name\":\"thread_name\",\"ph\":\"M\",\"pid\":0,\"tid\":%u,\"args\":{\"name\":\"a\\\"b\\\\c , path 2 waits "
        "for\"}},\n{\"name\":\"load\",\"cat\":\"wait\",\"ph\":\"X\",\"dur\":10,\"ts\":110,\"pid\":0,\"tid\":%u,"
        "\"args\":{\"pc\":5,\"line\":42,\"lanes\":\"0000000f\"}},\n"
        "{\"name\":\"queue\",\"cat\":\"wait\",\"ph\":\"X\",\"dur\":10,\"ts\":120,\"pid\":0,\"tid\":%u,"
        "\"args\":{\"pc\":5,\"line\":42,\"lanes\":\"0000000f\"}}",
        id, id, id);
    is(want);
    /* a wait with other lanes or at another PC is a new wait; each path has separate waits */
    trace_state(t, 1, 2, PATH_LOAD, 5, 0xff, 150);
    trace_state(t, 1, 2, PATH_LOAD, 6, 0xff, 160);
    trace_state(t, 1, 1, PATH_LOAD, 6, 0xff, 170);
    trace_state(t, 2, 2, PATH_LOAD, 6, 0xff, 170);
    ck_assert_uint_eq(t->n, 2);
    ck_assert(t->event[0].from == 140 && t->event[0].to == 150 && t->event[0].lanes == 0xf && t->event[0].pc == 5);
    ck_assert(t->event[1].from == 150 && t->event[1].to == 160 && t->event[1].lanes == 0xff && t->event[1].pc == 5);
    trace_free(t);
}
END_TEST

/* The begin and the end of a request are matched by its tag, and its events are on the track after the CTAs' tracks.
 * Counters need no track. */
START_TEST(memory_and_counters) {
    char want[2048];
    struct trace *t = trace_new(0, UINT64_MAX);
    trace_note(t, &(struct trace_event){.from = 4, .to = 4, .address = 9, .name = "curve", .kind = TRACE_COUNTER});
    trace_note(t, &(struct trace_event){.from = 5, .to = 5, .address = 0x1000, .row = 0x1f, .kind = TRACE_REQUEST});
    trace_note(t, &(struct trace_event){.from = 6, .to = 6, .row = 0x1f, .what = 1, .kind = TRACE_REPLY});
    trace_note(t, &(struct trace_event){.from = 7, .to = 7, .address = 0x80, .kind = TRACE_WRITE});
    ck_assert(written(t, 1, false)); /* another SM has written the begin of the file */
    snprintf(want, sizeof want,
             ",\n{\"name\":\"process_name\",\"ph\":\"M\",\"pid\":1,\"args\":{\"name\":\"SM 1\"}},\n"
             "{\"name\":\"curve\",\"cat\":\"counter\",\"ph\":\"C\",\"ts\":4,\"pid\":1,\"tid\":%u,\"args\":{\"n\":9}},\n"
             "{\"name\":\"thread_name\",\"ph\":\"M\",\"pid\":1,\"tid\":%u,\"args\":{\"name\":\"memory\"}},\n"
             "{\"name\":\"read\",\"cat\":\"memory\",\"ph\":\"b\",\"id2\":{\"local\":\"0.1f\"},\"ts\":5,\"pid\":1,"
             "\"tid\":%u,\"args\":{\"address\":\"0x1000\"}},\n"
             "{\"name\":\"write\",\"cat\":\"memory\",\"ph\":\"e\",\"id2\":{\"local\":\"1.1f\"},\"ts\":6,\"pid\":1,"
             "\"tid\":%u},\n{\"name\":\"write\",\"cat\":\"memory\",\"ph\":\"i\",\"s\":\"t\",\"ts\":7,\"pid\":1,"
             "\"tid\":%u,\"args\":{\"address\":\"0x80\"}}",
             TRACE_MEMORY, TRACE_MEMORY, TRACE_MEMORY, TRACE_MEMORY, TRACE_MEMORY);
    is(want);
    trace_free(t);
}
END_TEST

/* Writes more events than the first buffer holds. No event is lost, and the order is kept. */
START_TEST(buffers_grow) {
    struct trace *t = trace_new(0, 10000);
    for (uint32_t i = 0; i < 5000; i++)
        trace_note(t, &(struct trace_event){.from = i, .to = i, .address = i, .name = "n", .kind = TRACE_COUNTER});
    ck_assert_uint_eq(t->n, 5000);
    ck_assert_uint_eq(t->lost, 0);
    for (uint32_t i = 0; i < 5000; i++)
        ck_assert(t->event[i].from == i && t->event[i].address == i);
    ck_assert(written(t, 0, true));
    free(text);
    text = NULL;
    ck_assert_uint_eq(t->n, 0);
    trace_free(t);
    trace_free(NULL);
}
END_TEST

START_TEST(the_file_ends) {
    static const struct {
        bool empty;
        uint64_t lost;
        const char *want;
    } rows[] = {{true, 0, "[]\n"},
                {false, 0, "\n]\n"},
                {true, 5, "[\n{\"name\":\"lost_events\",\"ph\":\"M\",\"pid\":0,\"args\":{\"count\":5}}\n]\n"},
                {false, 5, ",\n{\"name\":\"lost_events\",\"ph\":\"M\",\"pid\":0,\"args\":{\"count\":5}}\n]\n"}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        FILE *out = open_memstream(&text, &size);
        trace_end(out, rows[i].empty, rows[i].lost);
        fclose(out);
        is(rows[i].want);
    }
}
END_TEST

/* Every state has a name of one or two words, and a phrase. The name is "ready" for the states of ready paths (below
 * N_PIPES) and for unknown states. */
START_TEST(states_have_names) {
    for (int s = 0; s < N_PIPES; s++)
        ck_assert_str_eq(path_state_word((uint8_t)s), "ready");
    ck_assert_str_eq(path_state_word(PATH_LOAD), "load");
    ck_assert_str_eq(path_state_word(PATH_ASLEEP), "no CTA");
    ck_assert_str_eq(path_state_phrase(PATH_BARRIER), "waits at a barrier");
    ck_assert_str_eq(path_state_word(N_PATH_STATES), "ready");
    ck_assert_str_eq(path_state_phrase(N_PATH_STATES), "ready");
    ck_assert_str_eq(path_state_phrase(UINT8_MAX), "ready");
}
END_TEST

SUITE(timing_trace) {
    TEST(tracks_are_named_once);
    TEST(waits_are_bars);
    TEST(memory_and_counters);
    TEST(buffers_grow);
    TEST(the_file_ends);
    TEST(states_have_names);
}
