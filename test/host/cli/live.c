/* Tests `heddle --live`: a small HTTP client in this test requests the page and the state of a running simulation. */
#include "live_rig.h"
#include <math.h>

static cJSON *last_launch(const cJSON *o) {
    const cJSON *list = cJSON_GetObjectItem(o, "launches");
    return cJSON_GetArrayItem(list, cJSON_GetArraySize(list) - 1);
}

/* Requests the state until its curves have at least `points` points, and returns this state. Fails after ten
 * seconds. */
static cJSON *state_with(int points) {
    for (int i = 0; i < 200; i++) {
        cJSON *o = state();
        if (cJSON_GetArraySize(cJSON_GetObjectItem(cJSON_GetObjectItem(o, "curves"), "ipc")) >= points)
            return o;
        cJSON_Delete(o);
        pause_ms(50);
    }
    ck_abort_msg("the curves do not grow");
    return NULL;
}

static double sum(const cJSON *list) {
    const cJSON *v;
    double all = 0;
    cJSON_ArrayForEach(v, list) all += v->valuedouble;
    return all;
}

/* 64 CTAs of 64 threads (two warps each) on 15 SMs. All CTAs are resident, at most 8 of them on each SM. */
START_TEST(a_run_shows_its_progress) {
    if (without_library())
        return;
    write_endless();
    start("run k.ptx -g 64 -b 64 -a zero:64 --live 0");
    ck_assert_int_eq(strncmp(address, "http://127.0.0.1:", 17), 0);
    char *page = get("/");
    SAYS(page, "200 OK");
    SAYS(page, "text/html");
    SAYS(page, "k.ptx -g 64 -b 64");
    free(page);
    cJSON *first = state_with(1), *later = state_with(4);
    double cycles = number(last_launch(first), "cycles"), more = number(last_launch(later), "cycles");
    ck_assert_double_gt(cycles, 0);
    ck_assert_double_gt(more, cycles);
    ck_assert_double_gt(number(later, "seconds"), number(first, "seconds"));
    ck_assert_str_eq(cJSON_GetObjectItem(later, "model")->valuestring, "spe");
    ck_assert_str_eq(cJSON_GetObjectItem(last_launch(later), "kernel")->valuestring, "k");
    ck_assert_double_eq(number(last_launch(later), "ctas"), 64);
    ck_assert_double_eq(number(last_launch(later), "ctas_done"), 0);
    const cJSON *sm, *sms = cJSON_GetObjectItem(later, "sms");
    double ctas = 0, warps = 0, ipc = 0;
    ck_assert_int_eq(cJSON_GetArraySize(sms), 15);
    cJSON_ArrayForEach(sm, sms) {
        ctas += number(sm, "ctas");
        warps += number(sm, "warps");
        ipc += number(sm, "ipc");
        ck_assert_double_eq_tol(sum(cJSON_GetObjectItem(sm, "shares")), 1, 0.01);
    }
    ck_assert_double_eq(ctas, 64);
    ck_assert_double_eq(warps, 128);
    const cJSON *curves = cJSON_GetObjectItem(later, "curves"), *rate = cJSON_GetObjectItem(curves, "ipc");
    double whole = cJSON_GetArrayItem(rate, cJSON_GetArraySize(rate) - 1)->valuedouble;
    ck_assert_double_eq_tol(ipc, whole, 0.02 * whole); /* the IPCs of the SMs add up to the GPU's IPC */
    const cJSON *cycle = cJSON_GetObjectItem(curves, "cycle");
    ck_assert_double_eq(cJSON_GetArrayItem(cycle, cJSON_GetArraySize(cycle) - 1)->valuedouble, more);
    cJSON_Delete(first);
    cJSON_Delete(later);
    int how = stop(SIGINT);
    ck_assert(WIFSIGNALED(how) && WTERMSIG(how) == SIGINT);
    char *said = slurp("stdout.txt");
    SAYS(said, "INCOMPLETE (stopped)");
    free(said);
    ck_assert_int_lt(reach(), 0); /* the server has stopped */
}
END_TEST

START_TEST(other_requests_are_refused) {
    if (without_library())
        return;
    static const struct {
        const char *request, *answer;
    } rows[] = {
        {"GET /etc/passwd HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n", "404 "},
        {"GET /../state.json HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n", "404 "},
        {"POST / HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 0\r\nConnection: close\r\n\r\n", "405 "},
        {"GET / HTTP/1.1\r\nHost: elsewhere.example\r\nConnection: close\r\n\r\n", "403 "},
        {"GET / HTTP/1.1\r\nConnection: close\r\n\r\n", "400 "},
        {"GET / HTTP/1.0\r\n\r\n", "200 "},
        {"GET / HTTP/1.1\r\nHost: localhost.example\r\nConnection: close\r\n\r\n", "403 "},
        {"GET / HTTP/1.1\r\nHost: 127.0.0.1.example:80\r\nConnection: close\r\n\r\n", "403 "},
        {"GET / HTTP/1.1\r\nHost: LOCALHOST:1\r\nConnection: close\r\n\r\n", "200 "},
        {"GET / HTTP/1.1\r\nHost: 127.0.0.1:8080\r\nConnection: close\r\n\r\n", "200 "},
        {"HEAD / HTTP/1.1\r\nHost: [::1]:8080\r\nConnection: close\r\n\r\n", "200 "},
        {"\r\n\r\n nonsense \r\n\r\n", ""}, /* the server may answer anything, but must answer the next request */
        {"GET /state.json HTTP/1.0\r\n\r\n", "200 "},
    };
    write_endless();
    start("run k.ptx -g 1 -b 32 -a zero:64 --live 0");
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char *text = send_request(rows[i].request);
        SAYS(text, rows[i].answer);
        free(text);
    }
    stop(SIGINT);
}
END_TEST

/* Clients that disconnect during a request, or never finish one, do not end the run. */
START_TEST(clients_may_disconnect) {
    if (without_library())
        return;
    int fds[40];
    write_endless();
    start("run k.ptx -g 1 -b 32 -a zero:64 --live 0");
    for (int i = 0; i < 40; i++) {
        int fd = reach();
        ck_assert_int_ge(fd, 0);
        send(fd, "GET /state.json HTTP/1.1\r\nHost: localhost\r\n\r\n", i % 3 ? 45 : 9, MSG_NOSIGNAL);
        fds[i] = fd;
        if (i % 2) {
            setsockopt(fd, SOL_SOCKET, SO_LINGER, &(struct linger){1, 0}, sizeof(struct linger)); /* a reset */
            close(fd);
        }
    }
    for (int i = 0; i < 40; i += 2)
        close(fds[i]);
    cJSON_Delete(state_with(1));
    int how = stop(SIGINT);
    ck_assert(WIFSIGNALED(how) && WTERMSIG(how) == SIGINT);
}
END_TEST

START_TEST(a_unix_socket_works_like_a_port) {
    if (without_library())
        return;
    write_endless();
    start("run k.ptx -g 1 -b 32 -a zero:64 --live ./s");
    ck_assert_str_eq(address, "./s");
    cJSON_Delete(state_with(2));
    STATUS(HEDDLE_USAGE, "run k.ptx -g 1 -b 32 -a zero:64 --live ./s");
    SAYS(err, "--live: ./s: is in use");
    stop(SIGINT);
    ck_assert(!exists("s"));
    start("run k.ptx -g 1 -b 32 -a zero:64 --live ./s");
    stop(SIGKILL);
    ck_assert(exists("s"));
    start("run k.ptx -g 1 -b 32 -a zero:64 --live ./s"); /* replaces a socket file that a killed process left */
    cJSON_Delete(state_with(1));
    stop(SIGTERM);
    ck_assert(!exists("s"));
    write_file("t", "mine", 4);
    STATUS(HEDDLE_USAGE, "run k.ptx -g 1 -b 32 -a zero:64 --live ./t");
    SAYS(err, "./t: is there, and no socket");
    ck_assert(exists("t"));
}
END_TEST

START_TEST(mistakes_are_reported_before_the_run) {
    if (without_library())
        return;
    static const struct {
        const char *where, *why;
    } rows[] = {
        {"", "a port from 0 to 65535"},
        {"65536", "a port from 0 to 65535"},
        {"-1", "a port from 0 to 65535"},
        {"80x", "not '80x'"},
        {"localhost:", "a port from 0 to 65535"},
        {":8080", "a port from 0 to 65535"},
        {"::1:8080", "a port from 0 to 65535"},
        {"256.1.1.1:0", "256.1.1.1:0: "},
        {"192.0.2.1:0", "192.0.2.1:0: Cannot assign"},
        {"no/folder/s", "no/folder/s: No such file"},
        {"./a_path_that_is_longer_than_what_a_socket_may_have_and_then_some_more_of_it_and_still_more_until_it_is_too_"
         "long",
         "too long"},
    };
    write_endless();
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        STATUS(HEDDLE_USAGE, "run k.ptx -g 1 -b 32 -a out:o:64 '--live=%s'", rows[i].where);
        SAYS(err, rows[i].why);
        ck_assert_str_eq(out, "");
    }
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    struct sockaddr_in a = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t len = sizeof a;
    ck_assert_int_eq(bind(fd, (struct sockaddr *)&a, len), 0);
    ck_assert_int_eq(listen(fd, 1), 0);
    ck_assert_int_eq(getsockname(fd, (struct sockaddr *)&a, &len), 0);
    STATUS(HEDDLE_USAGE, "bench vecadd --live %d", ntohs(a.sin_port));
    SAYS(err, "the port is in use");
    close(fd);
}
END_TEST

/* The statistics and the samples of a run with --live are equal to those of a run without it. */
START_TEST(statistics_do_not_change) {
    if (without_library())
        return;
    static const char *const models[] = {"spe", "its -c turing", "spe+dac", "dpe -j 3"};
    for (int m = 0; m < 4; m++) {
        cJSON *o[2];
        char *samples[2];
        for (int i = 0; i < 2; i++) {
            STATUS(HEDDLE_OK,
                   "run '%s/benchmarks/lud.heddle' -v n=64 -m %s --json r.json --sample 2000 "
                   "--samples s.csv %s",
                   cli_root, models[m], i ? "--live 0" : "");
            char *text = slurp("r.json");
            o[i] = cJSON_Parse(text);
            free(text);
            samples[i] = slurp("s.csv");
        }
        const cJSON *v, *other = cJSON_GetObjectItem(o[1], "stats");
        int n = 0;
        cJSON_ArrayForEach(v, cJSON_GetObjectItem(o[0], "stats")) {
            if (strncmp(v->string, "host.", 5) == 0)
                continue;
            double w = number(other, v->string);
            ck_assert_msg(fabs(v->valuedouble - w) <= 1e-12 * fabs(w), "%s %s: %.17g, %.17g", models[m], v->string,
                          v->valuedouble, w);
            n++;
        }
        ck_assert_int_gt(n, 100);
        ck_assert_int_gt(occurrences(samples[0], "\n"), 50); /* the end of a launch adds a sample */
        ck_assert_str_eq(samples[0], samples[1]);
        for (int i = 0; i < 2; i++) {
            cJSON_Delete(o[i]);
            free(samples[i]);
        }
    }
}
END_TEST

/* In the functional model the page shows launches, but no cycles and no SMs. For `heddle bench`, the page also shows
 * the program of a launch. */
START_TEST(every_command_shows_launches) {
    if (without_library())
        return;
    write_endless();
    start("run k.ptx -g 4 -b 32 -a zero:64 --live 0 -m functional");
    pause_ms(300);
    cJSON *o = state();
    ck_assert(cJSON_IsFalse(cJSON_GetObjectItem(o, "timed")));
    ck_assert_double_eq(number(last_launch(o), "ctas"), 4);
    ck_assert_int_eq(cJSON_GetArraySize(cJSON_GetObjectItem(o, "sms")), 0);
    cJSON_Delete(o);
    stop(SIGINT);
    start("bench vecadd gaussian --live 0 --size paper");
    o = state();
    for (int i = 0; i < 3000 && number(o, "begun") < 3; i++) {
        cJSON_Delete(o);
        pause_ms(20);
        o = state();
    }
    ck_assert_double_ge(number(o, "begun"), 3);
    /* heddle runs vecadd, which has one launch, and then gaussian, which has several launches */
    const cJSON *first = cJSON_GetArrayItem(cJSON_GetObjectItem(o, "launches"), 0);
    ck_assert_str_eq(cJSON_GetObjectItem(first, "program")->valuestring, "vecadd");
    ck_assert(cJSON_IsTrue(cJSON_GetObjectItem(first, "ended")));
    ck_assert_double_eq(number(first, "ctas_done"), number(first, "ctas"));
    ck_assert_str_eq(cJSON_GetObjectItem(last_launch(o), "program")->valuestring, "gaussian");
    cJSON_Delete(o);
    stop(SIGINT);
}
END_TEST

/* An unmodified CUDA program serves its own live page until the program ends. */
START_TEST(a_cuda_program_shows_its_progress) {
    if (without_library())
        return;
    if (!has_runtime()) {
        test_skip("this build has no libcudart.so");
        return;
    }
    if (system("PATH=$PATH:/usr/local/cuda/bin; command -v nvcc >/dev/null 2>&1") != 0) {
        test_skip("there is no nvcc");
        return;
    }
    static const char source[] =
        "__global__ void count(int *p, int n) { int v = threadIdx.x; for (int i = 0; i < n; i++) v = v * 3 + i; *p = "
        "v; }\n"
        "int main() { int *p; cudaMalloc(&p, 4); count<<<8, 64>>>(p, 2000000000); return cudaDeviceSynchronize(); }\n";
    write_file("busy.cu", source, sizeof source - 1);
    ck_assert_int_eq(system("PATH=$PATH:/usr/local/cuda/bin; nvcc -arch=sm_75 -cudart shared -o busy busy.cu"), 0);
    start("exec --live 0 ./busy");
    cJSON *o = state_with(2);
    ck_assert_str_eq(cJSON_GetObjectItem(last_launch(o), "kernel")->valuestring, "count(int*, int)");
    ck_assert_double_eq(number(last_launch(o), "ctas"), 8);
    ck_assert_double_gt(number(last_launch(o), "cycles"), 0);
    ck_assert(cJSON_IsFalse(cJSON_GetObjectItem(last_launch(o), "ended")));
    cJSON_Delete(o);
    stop(SIGTERM);
    ck_assert_int_lt(reach(), 0);
}
END_TEST

/* The page shows the run: 64 CTAs on 15 SMs, a curve of the IPC, and an area for each use of the issue slots. On a
 * telephone, the page scrolls only downwards. The keyboard sorts the launches. */
START_TEST(the_page_works_in_a_browser) {
    static const char trial[] =
        "<script>onload=()=>setTimeout(()=>{const all=(q,e=document)=>[...e.querySelectorAll(q)],"
        "need=(x,w)=>x||bad.push(w);need(/spe on fermi/.test($('state').textContent),$('state').textContent);"
        "need(/k: 0 of 64 CTAs/.test($('state').textContent),'CTAs');need(all('#sms>div').length===15,'SMs');"
        "need(all('#ipc polyline').length===1&&!/NaN/.test($('ipc').innerHTML),'the curve');"
        "need(all('#slots polygon').length===all('#key span').length,'areas');"
        "need(document.documentElement.scrollWidth<=innerWidth,'the page is wide');"
        /* labels are at least 9 pixels high, have at most two digits besides zeros, and do not touch, for all numbers
         * of cycles; there is a number between 0 and the name of the axis */
        "const fits=s=>{const "
        "labels=all('text',$(s)),row=labels.filter(t=>t.getAttribute('y')==='214')"
        ".map(t=>t.getBoundingClientRect());need(row.length>2&&row.every((r,i)=>!i||row[i-1].right<r.left),'labels "
        "touch');for(const t of labels)need(t.getBoundingClientRect().height>=9&&(t.textContent==='cycles'||"
        "t.textContent.replace(/[^0-9]/g,'').replace(/^0+|0+$/g,'').length<=2),t.textContent)};"
        "fits('ipc');fits('slots');$('ipc').style.width='320px';dispatchEvent(new Event('resize'));"
        "need($('ipc').getAttribute('viewBox').startsWith('0 0 320 '),'a telephone is turned');for(let "
        "x=1000;x<1e9;x*=1.07){axes($('ipc'),x,1,'');fits('ipc')}"
        "const h=all('th')[0];h.focus();h.dispatchEvent(new KeyboardEvent('keydown',{key:'Enter',bubbles:true}));"
        "need(h.getAttribute('aria-sort')==='ascending','sort');document.title=bad.join('|')||'fine'},50)"
        "</script></body>";
    const char *name = live_browser();
    if (!name)
        return;
    write_endless();
    start("run k.ptx -g 64 -b 64 -a zero:64 --live 0");
    cJSON_Delete(state_with(3));
    browse_page(name, trial);
    stop(SIGINT);
}
END_TEST

/* The server answers a browser: the script may fetch the state, and prints no errors on the console. */
START_TEST(a_browser_fetches_the_state) {
    char command[1024];
    const char *name = live_browser();
    if (!name)
        return;
    write_endless();
    start("run k.ptx -g 64 -b 64 -a zero:64 --live 0");
    snprintf(command, sizeof command,
             "HOME=$PWD timeout 60 %s --headless --no-sandbox --disable-gpu --enable-logging=stderr "
             "--virtual-time-budget=4000 --dump-dom '%s' >dom.txt 2>console.txt",
             name, address);
    ck_assert_int_eq(system(command), 0);
    char *dom = slurp("dom.txt"), *console = slurp("console.txt");
    stop(SIGINT);
    SAYS(dom, "SM 14");
    ck_assert_msg(strstr(console, "CONSOLE") == NULL, "%.1000s", console);
    free(dom);
    free(console);
}
END_TEST

/* Tests host/cli/live_arg.c: the command line on the page, the printed address, and the removal of the socket at the
 * end. */
START_TEST(the_command_line_is_shown) {
    if (without_library())
        return;
    write_endless();
    ck_assert_int_eq(rename("k.ptx", "a \"b\".ptx"), 0);
    start("run 'a \"b\".ptx' -g 1 -b 32 -a zero:64 --live ./s -s l1.size=8K");
    cJSON *o = state();
    ck_assert_str_eq(cJSON_GetObjectItem(o, "command")->valuestring,
                     "heddle run a \"b\".ptx -g 1 -b 32 -a zero:64 --live ./s -s l1.size=8K");
    cJSON_Delete(o);
    char *page = get("/");
    ck_assert_ptr_null(strstr(page, "\"b\".ptx -g")); /* HTML escapes the quotes */
    free(page);
    stop(SIGTERM);
    ck_assert(!exists("s"));
    STATUS(HEDDLE_OK, "run 'a \"b\".ptx' -g 1 -b 32 -a zero:64 --cycle-limit 10 || true");
    ck_assert_ptr_null(strstr(err, "live")); /* without the option, nothing is printed about the page */
}
END_TEST

/* The page of a queue shows the runs, and ends when no run is left. */
START_TEST(a_queue_has_a_page) {
    if (without_library())
        return;
    write_kernel(".param .u64 p", "ld.param.u64 %rd1,[p]; st.global.u64 [%rd1],%rd1;");
    STATUS(HEDDLE_OK, "sweep k.ptx -c tiny -g 2 -b 64 -a zero:256 -m spe -s l1.latency=10:15:1 --queue q.db");
    STATUS(HEDDLE_USAGE, "results q.db --live 0");
    SAYS(err, "--live does nothing without --progress");
    start("results q.db --progress --live 0");
    cJSON *o = state();
    ck_assert_double_eq(number(o, "left"), 6);
    ck_assert_double_eq(number(o, "done"), 0);
    cJSON_Delete(o);
    char *page = get("/");
    SAYS(page, "0 of 6 runs done");
    free(page);
    if (browser())
        browse_page(browser(), "<script>onload=()=>setTimeout(()=>{for(const t of ['processes','lost'])"
                               "if($(t).getClientRects().length)bad.push('an empty table: '+t);"
                               "document.title=bad.join('|')||'fine'},50)</script></body>");
    STATUS(HEDDLE_OK, "work q.db -j 1");
    int how;
    ck_assert_int_eq(waitpid(running, &how, 0), running);
    running = 0;
    ck_assert(WIFEXITED(how) && WEXITSTATUS(how) == 0);
}
END_TEST

SUITE(host_cli_live) {
    tcase_add_checked_fixture(tc, cli_setup, live_teardown);
    tcase_set_timeout(tc, 120);
    TEST(a_run_shows_its_progress);
    TEST(a_cuda_program_shows_its_progress);
    TEST(other_requests_are_refused);
    TEST(clients_may_disconnect);
    TEST(a_unix_socket_works_like_a_port);
    TEST(mistakes_are_reported_before_the_run);
    TEST(statistics_do_not_change);
    TEST(every_command_shows_launches);
    TEST(the_page_works_in_a_browser);
    TEST(a_browser_fetches_the_state);
    TEST(the_command_line_is_shown);
    TEST(a_queue_has_a_page);
}
