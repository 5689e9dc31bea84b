#ifndef TEST_LIVE_RIG_H
#define TEST_LIVE_RIG_H
/* Starts heddle with a live page, and requests the page and the state as a browser does. */
#include "browser.h"
#include <arpa/inet.h>
#include <errno.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static pid_t running;
static char address[512]; /* as printed by heddle */

static inline void pause_ms(long ms) { nanosleep(&(struct timespec){ms / 1000, ms % 1000 * 1000000}, NULL); }

static inline bool without_library(void) {
    if (system("ldconfig -p 2>/dev/null | grep -q libmicrohttpd.so.12 || ls /usr/lib/*/libmicrohttpd.so.12 "
               ">/dev/null 2>&1") == 0)
        return false;
    test_skip("libmicrohttpd is not installed");
    return true;
}

/* Returns the name of a browser. Without one, or without the server's library, returns NULL and skips the test. */
static inline const char *live_browser(void) {
    if (without_library())
        return NULL;
    const char *name = browser();
    if (!name)
        test_skip(NO_BROWSER);
    return name;
}

/* Writes k.ptx, whose threads count without end. */
static inline void write_endless(void) {
    write_kernel(".param .u64 p",
                 "ld.param.u64 %rd1,[p]; mov.u32 %r1,7; st.global.u32 [%rd1],%r1;\nL: add.u32 %r1,%r1,1; bra L;");
}

/* Starts heddle and waits until it prints the address of its page. */
static inline void start(const char *args) {
    char command[PATH_MAX + 1400];
    snprintf(command, sizeof command, "exec '%s' %s >stdout.txt 2>stderr.txt </dev/null", cli_binary, args);
    unlink("stderr.txt"); /* removes the file of an earlier run */
    running = fork();
    ck_assert_int_ge(running, 0);
    if (running == 0) {
        signal(SIGINT, SIG_DFL);
        execl("/bin/sh", "sh", "-c", command, (char *)NULL);
        _exit(127);
    }
    static const char says[] = "live at ";
    for (int i = 0; i < 1000; i++) {
        pause_ms(10);
        char *text = exists("stderr.txt") ? slurp("stderr.txt") : strdup("");
        const char *at = strstr(text, says), *end = at ? strstr(at, " until") : NULL;
        if (end)
            snprintf(address, sizeof address, "%.*s", (int)(end - at - (long)strlen(says)), at + strlen(says));
        free(text);
        if (end)
            return;
    }
    ck_abort_msg("it does not say where it is");
}

/* Sends a signal and waits until the process ends. Returns the process's wait status. */
static inline int stop(int number) {
    int how = 0;
    ck_assert_int_eq(kill(running, number), 0);
    for (int i = 0; i < 1000; i++) {
        if (waitpid(running, &how, WNOHANG) == running) {
            running = 0;
            return how;
        }
        pause_ms(10);
    }
    kill(running, SIGKILL);
    waitpid(running, &how, 0);
    ck_abort_msg("signal %d does not end it", number);
    return how;
}

static inline int port_of(const char *url) { return atoi(strrchr(url, ':') + 1); }

static inline int reach(void) {
    struct sockaddr_in a = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    struct sockaddr_un u = {.sun_family = AF_UNIX};
    bool tcp = strncmp(address, "http:", 5) == 0;
    a.sin_port = htons((uint16_t)(tcp ? port_of(address) : 0));
    snprintf(u.sun_path, sizeof u.sun_path, "%.100s", address);
    int fd = socket(tcp ? AF_INET : AF_UNIX, SOCK_STREAM, 0);
    if (connect(fd, tcp ? (struct sockaddr *)&a : (struct sockaddr *)&u, tcp ? sizeof a : sizeof u) == 0)
        return fd;
    close(fd);
    return -1;
}

/* Sends a request and returns the whole response with its headers; the caller frees it. */
static inline char *send_request(const char *request) {
    char *text = calloc(1, 1 << 20);
    size_t len = 0;
    ssize_t n;
    int fd = reach();
    ck_assert_msg(fd >= 0, "%s: %s", address, strerror(errno));
    ck_assert_int_eq(send(fd, request, strlen(request), MSG_NOSIGNAL), (ssize_t)strlen(request));
    while ((n = recv(fd, text + len, (1 << 20) - 1 - len, 0)) > 0)
        len += (size_t)n;
    close(fd);
    return text;
}

static inline char *get(const char *path) {
    char request[256];
    snprintf(request, sizeof request, "GET %s HTTP/1.1\r\nHost: localhost:1\r\nConnection: close\r\n\r\n", path);
    return send_request(request);
}

static inline cJSON *state(void) {
    char *text = get("/state.json");
    SAYS(text, "200 OK");
    SAYS(text, "application/json");
    cJSON *o = cJSON_ParseWithOpts(strstr(text, "\r\n\r\n"), NULL, true);
    ck_assert_msg(o != NULL, "%.500s", text);
    free(text);
    return o;
}

/* Opens the page, with the present state of the run, in a browser: the page gets the state from the test in place of
 * the server. Checks the rules of access.js, and what `trial` checks. */
static inline void browse_page(const char *name, const char *trial) {
    cJSON *o = state();
    char *text = cJSON_PrintUnformatted(o), *answer = get("/"), *page;
    const char *body = strstr(answer, "\r\n\r\n"), *head = strstr(body, "<head>");
    ck_assert_int_gt(asprintf(&page, "%.*s<head><script>window.fetch=async()=>({json:async()=>(%s)})</script>%s",
                              (int)(head - body - 4), body + 4, text, head + strlen("<head>")),
                     0);
    browse_both(name, page, trial);
    cJSON_Delete(o);
    free(text);
    free(answer);
    free(page);
}

static inline void live_teardown(void) {
    if (running > 0)
        kill(running, SIGKILL); /* ends the heddle process that a failed test left */
    cli_teardown();
}
#endif
