/* The loop of the API client, what other threads may do to it, and its numbers.
 *
 * Other threads only append to a list of commands and wake the loop, so that everything else needs
 * no lock. Commands are taken in the order in which they were given: what is sent after cancel_acts
 * is not cancelled by it. */
#include "kube/client_inner.h"

#include <curl/curl.h>
#include <stdlib.h>
#include <sys/random.h>
#include <time.h>

#include "kube/status.h"

static mono_ms clock_now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (mono_ms)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

void client_count(struct client *c, int method, int status)
{
    int code = status >= 0 && status < HTTP_CODES ? status : 0;
    atomic_fetch_add_explicit(&c->counts[method][code], 1, memory_order_relaxed);
}

/* Once for all that were refused together. */
static void slow_down(struct client *c, int status, span_ms hold)
{
    bool anew = c->now >= c->busy_until, told = c->busy_until != 0 && c->now - c->busy_until < MS_MINUTE;
    if (c->now + hold > c->busy_until)
        c->busy_until = c->now + hold;
    if (!anew)
        return;
    c->window = c->window > 1 ? c->window / 2 : 1;
    c->answered = 0;
    if (!told && c->policy.log != NULL)
        log_warn(c->policy.log, "api",
                 "the API server is busy (%d): sending nothing but Leases for %.1f s, and less after that",
                 status, (double)hold / MS_SECOND);
}

void client_heard(struct client *c, int status, int32_t retry_after_s, struct span cause)
{
    span_ms hold = retry_after_s > 0 ? retry_after_s * MS_SECOND : 0;
    if (status_is_busy(status, retry_after_s, cause))
        slow_down(c, status, hold < CLIENT_BUSY_MAX_MS ? hold : (span_ms)CLIENT_BUSY_MAX_MS);
    else if (status != 0 && c->window < CLIENT_RUNNING_MAX && ++c->answered >= c->window) {
        c->window++;
        c->answered = 0;
    }
}

static void push_command(struct client *c, const struct command *command)
{
    struct command *own = mem_new(sizeof(*own));
    *own = *command;
    pthread_mutex_lock(&c->lock);
    if (c->last_command != NULL)
        c->last_command->next = own;
    else
        c->first_command = own;
    c->last_command = own;
    pthread_mutex_unlock(&c->lock);
    curl_multi_wakeup(c->multi);
}

static uint64_t on_send(struct api *api, const struct api_request *r, api_done *done, void *user)
{
    struct client *c = (struct client *)api;
    uint64_t id = atomic_fetch_add(&c->next_id, 1) + 1;
    push_command(c, &(struct command){.what = CALL_SEND, .call = client_call_new(r, done, user, id)});
    return id;
}

static void on_cancel(struct api *api, uint64_t id)
{
    push_command((struct client *)api, &(struct command){.what = CALL_CANCEL, .id = id});
}

static void on_cancel_acts(struct api *api)
{
    push_command((struct client *)api, &(struct command){.what = CALL_CANCEL_ACTS});
}

static void on_watch(struct api *api, enum kind k, const struct api_sink *sink)
{
    push_command((struct client *)api,
                 &(struct command){.what = CALL_WATCH, .kind = k, .sink = *sink});
}

static void on_relist(struct api *api, enum kind k)
{
    push_command((struct client *)api, &(struct command){.what = CALL_RELIST, .kind = k});
}

static const struct api_ops ops = {.send = on_send,
                                   .cancel = on_cancel,
                                   .cancel_acts = on_cancel_acts,
                                   .watch = on_watch,
                                   .relist = on_relist};

static void set_defaults(struct client_policy *p)
{
    p->rate = p->rate > 0 ? p->rate : 200;
    p->burst = p->burst >= 1 ? p->burst : 300;
    p->request_timeout_ms = p->request_timeout_ms > 0 ? p->request_timeout_ms : 35 * MS_SECOND;
    p->lease_timeout_ms = p->lease_timeout_ms > 0 ? p->lease_timeout_ms : 5 * MS_SECOND;
    p->stall_ms = p->stall_ms > 0 ? p->stall_ms : 90 * MS_SECOND;
    p->retry_first_ms = p->retry_first_ms > 0 ? p->retry_first_ms : 800;
    p->retry_max_ms = p->retry_max_ms > 0 ? p->retry_max_ms : 30 * MS_SECOND;
    p->page = p->page > 0 ? p->page : 500;
    p->user_agent = p->user_agent != NULL ? p->user_agent : "stowage";
}

/* With a tls-server-name the URL carries that name and the connection goes to the real host. */
static bool set_server(struct client *c, struct err *err)
{
    struct client_config *config = &c->config;
    char *host = NULL, *port = NULL, *path = NULL;
    CURLU *url = curl_url();
    bool valid =
        curl_url_set(url, CURLUPART_URL, arena_cstr(&c->texts, config->server), 0) == CURLUE_OK &&
        curl_url_get(url, CURLUPART_HOST, &host, 0) == CURLUE_OK &&
        curl_url_get(url, CURLUPART_PORT, &port, CURLU_DEFAULT_PORT) == CURLUE_OK &&
        curl_url_get(url, CURLUPART_PATH, &path, 0) == CURLUE_OK;
    if (valid) {
        c->loopback = strcmp(host, "localhost") == 0 || strncmp(host, "127.", 4) == 0 ||
                      strcmp(host, "[::1]") == 0;
        if (config->tls_server_name.len != 0) {
            c->connect_to = arena_cstr(&c->texts, arena_printf(&c->texts, "%.*s:%s:%s:%s",
                                                               SPAN_ARG(config->tls_server_name),
                                                               port, host, port));
            config->server =
                arena_printf(&c->texts, "https://%.*s:%s%s", SPAN_ARG(config->tls_server_name),
                             port, strcmp(path, "/") != 0 ? path : "");
        }
    } else {
        err_set(err, ERR_INVALID, "server \"%.*s\" is not a URL", SPAN_ARG(config->server));
    }
    curl_free(host);
    curl_free(port);
    curl_free(path);
    curl_url_cleanup(url);
    return valid;
}

static void copy_config(struct client *c, const struct client_config *config)
{
    c->config = *config;
    c->config.server = arena_dup(&c->texts, config->server);
    c->config.tls_server_name = arena_dup(&c->texts, config->tls_server_name);
    c->config.proxy_url = arena_dup(&c->texts, config->proxy_url);
    c->config.ns = arena_dup(&c->texts, config->ns);
    c->config.source = arena_dup(&c->texts, config->source);
    c->policy.user_agent = arena_cstr(&c->texts, span_of(c->policy.user_agent));
}

bool client_new(const struct client_config *config, const struct client_policy *policy,
                struct client **out, struct err *err)
{
    curl_global_init(CURL_GLOBAL_DEFAULT); /* counted, and thread-safe since 7.84 */
    struct client *c = mem_new(sizeof(*c));
    c->api.ops = &ops;
    pthread_mutex_init(&c->lock, NULL);
    arena_init(&c->texts, 0);
    arena_init(&c->scratch, 0);
    c->policy = policy != NULL ? *policy : (struct client_policy){0};
    set_defaults(&c->policy);
    copy_config(c, config);
    c->now = clock_now();
    c->window = CLIENT_RUNNING_MAX;
    c->bucket = (struct bucket){.rate = c->policy.rate, .burst = c->policy.burst};
    c->parser = doc_parser_new();
    c->multi = curl_multi_init();
    curl_multi_setopt(c->multi, CURLMOPT_PIPELINING, (long)CURLPIPE_MULTIPLEX);
    if (getrandom(&c->random, sizeof(c->random), 0) != sizeof(c->random))
        c->random = (uint64_t)c->now;
    if (!set_server(c, err) || !auth_init(&c->auth, &c->texts, config, c->now, err)) {
        err_wrap(err, "%.*s", SPAN_ARG(c->config.source));
        client_free(c);
        return false;
    }
    *out = c;
    return true;
}

struct api *client_api(struct client *c)
{
    return &c->api;
}

static struct command *take_commands(struct client *c)
{
    pthread_mutex_lock(&c->lock);
    struct command *first = c->first_command;
    c->first_command = c->last_command = NULL;
    pthread_mutex_unlock(&c->lock);
    return first;
}

static void obey(struct client *c, const struct command *command)
{
    switch (command->what) {
    case CALL_SEND:
        calls_add(c, command->call);
        break;
    case CALL_CANCEL:
        calls_cancel(c, command->id);
        break;
    case CALL_CANCEL_ACTS:
        calls_cancel_acts(c);
        break;
    case CALL_RELIST:
        watch_relist(c, command->kind);
        break;
    default:
        watch_start(c, command->kind, &command->sink);
    }
}

/* Until there are none: callbacks of cancelled requests may give more. */
static void obey_commands(struct client *c)
{
    for (struct command *command; (command = take_commands(c)) != NULL;)
        while (command != NULL) {
            struct command *next = command->next;
            obey(c, command);
            free(command);
            command = next;
        }
}

static void finish_transfers(struct client *c)
{
    int left;
    for (CURLMsg *m; (m = curl_multi_info_read(c->multi, &left)) != NULL;) {
        if (m->msg != CURLMSG_DONE)
            continue;
        CURLcode code = m->data.result; /* the message goes with the handle */
        char *t = NULL;
        curl_easy_getinfo(m->easy_handle, CURLINFO_PRIVATE, &t);
        transfer_finish((struct transfer *)(void *)t, (int)code);
    }
}

/* One turn: obeys, begins what is due, moves bytes. Returns when the next thing is due. */
static mono_ms turn(struct client *c)
{
    int running;
    c->now = clock_now();
    obey_commands(c);
    curl_multi_perform(c->multi, &running);
    finish_transfers(c);
    obey_commands(c);
    mono_ms watches = watches_step(c), calls = calls_step(c);
    atomic_store_explicit(&c->waiting_count, c->waiting.count + c->delayed.count,
                          memory_order_relaxed);
    atomic_store_explicit(&c->running_count, c->running.count, memory_order_relaxed);
    atomic_store_explicit(&c->most_count, c->window, memory_order_relaxed);
    return watches < calls ? watches : calls;
}

void client_poll(struct client *c, span_ms max_wait_ms)
{
    c->happened = false;
    mono_ms due = turn(c);
    span_ms wait = c->happened ? 0 : due - c->now;
    if (wait > max_wait_ms)
        wait = max_wait_ms;
    curl_multi_poll(c->multi, NULL, 0, wait > 0 ? (int)wait : 0, NULL);
    turn(c);
    doc_parser_trim(c->parser, CLIENT_KEEP_PARSER);
}

void client_wakeup(struct client *c)
{
    curl_multi_wakeup(c->multi);
}

void client_free(struct client *c)
{
    if (c == NULL)
        return;
    for (int i = 0; i < 2; i++) { /* what a cancelled request's callback sends is cancelled, too */
        obey_commands(c);
        client_calls_free(c);
    }
    watches_free(c);
    for (uint32_t i = 0; i < c->idle_count; i++)
        curl_easy_cleanup(c->idle[i]);
    curl_multi_cleanup(c->multi);
    auth_release(&c->auth);
    doc_parser_free(c->parser);
    doc_parser_free(c->page_parser);
    arena_release(&c->scratch);
    arena_release(&c->texts);
    pthread_mutex_destroy(&c->lock);
    free(c);
    curl_global_cleanup();
}

size_t client_counts(const struct client *c, struct client_count *out, size_t max)
{
    size_t n = 0;
    for (int m = 0; m < HTTP_METHODS; m++)
        for (int code = 0; code < HTTP_CODES; code++) {
            uint64_t count = atomic_load_explicit(&c->counts[m][code], memory_order_relaxed);
            if (count != 0 && n < max)
                out[n++] = (struct client_count){client_methods[m], code, count};
        }
    return n;
}

struct client_load client_load(const struct client *c)
{
    struct client_load load = {
        .waiting = atomic_load_explicit(&c->waiting_count, memory_order_relaxed),
        .running = atomic_load_explicit(&c->running_count, memory_order_relaxed),
        .most = atomic_load_explicit(&c->most_count, memory_order_relaxed),
        .bytes = atomic_load_explicit(&c->bytes, memory_order_relaxed),
    };
    for (int k = 0; k < KIND_STORED_COUNT; k++) {
        load.resumed[k] = atomic_load_explicit(&c->resumed[k], memory_order_relaxed);
        load.listed[k] = atomic_load_explicit(&c->listed[k], memory_order_relaxed);
        load.absent[k] = atomic_load_explicit(&c->absent[k], memory_order_relaxed);
    }
    return load;
}
