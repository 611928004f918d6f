/* load PORT PATH BODY-FILE SECONDS CONNECTIONS [RATE]: asks the server on 127.0.0.1 the same again and
 * again, over TLS and HTTP/1.1, each connection a thread that waits for its answer before it asks again, as
 * kube-scheduler does. The server's certificate is not checked. With a RATE each connection asks so often in a
 * second, on time: an answer that is late makes the next ones count as late, too. Where the body has "############", each
 * question has a number that no other has.
 *
 * Prints "REQUESTS-A-SECOND P50 P99 BYTES", times in microseconds, BYTES of the last answer's body.
 * The first tenth of the time warms up and does not count. */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <openssl/ssl.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum { HEAD_MAX = 8192, SAMPLES_MAX = 4 * 1000 * 1000, ASKER_DIGITS = 3, NUMBER_DIGITS = 9 };
#define NUMBER_MARK "############"

struct load { /* shared by all threads, read only */
    uint16_t port;
    const char *request;
    size_t request_length, number_at; /* the latter 0: each question is the same */
    double warm_until, until, every; /* every: seconds between questions, 0: at once */
    SSL_CTX *tls;
};

struct asker {
    const struct load *load;
    char *request;
    unsigned index;
    float *micros; /* of each counted answer */
    size_t count;
    size_t body;
};

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

__attribute__((noreturn)) static void give_up(const char *what)
{
    fprintf(stderr, "load: %s\n", what);
    exit(1);
}

static SSL *connect_to(const struct load *l)
{
    struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons(l->port),
                             .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), on = 1;
    if (fd < 0 || connect(fd, (struct sockaddr *)&to, sizeof(to)) != 0)
        give_up("cannot connect");
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
    SSL *ssl = SSL_new(l->tls);
    if (ssl == NULL || SSL_set_fd(ssl, fd) != 1 || SSL_connect(ssl) != 1)
        give_up("no TLS connection");
    return ssl;
}

/* Reads one answer, which must be a 200 with a Content-Length, and returns the length of its body. */
static size_t read_answer(SSL *ssl)
{
    static _Thread_local char head[HEAD_MAX + 1];
    size_t have = 0;
    char *end = NULL;
    while (end == NULL) {
        int n = have < HEAD_MAX ? SSL_read(ssl, head + have, (int)(HEAD_MAX - have)) : 0;
        if (n <= 0)
            give_up("the connection ended within an answer");
        have += (size_t)n;
        head[have] = '\0';
        end = strstr(head, "\r\n\r\n");
    }
    const char *length = strcasestr(head, "\r\ncontent-length:");
    if (strncmp(head, "HTTP/1.1 200 ", 13) != 0 || length == NULL || length > end) {
        head[strcspn(head, "\r")] = '\0';
        give_up(head);
    }
    size_t body = strtoul(length + 17, NULL, 10), got = have - (size_t)(end + 4 - head);
    while (got < body) {
        char rest[16384];
        size_t want = body - got < sizeof(rest) ? body - got : sizeof(rest);
        int n = SSL_read(ssl, rest, (int)want);
        if (n <= 0)
            give_up("the connection ended within a body");
        got += (size_t)n;
    }
    return body;
}

static void wait_until(double then)
{
    double left = then - now();
    struct timespec t = {.tv_sec = (time_t)left, .tv_nsec = (long)((left - (double)(time_t)left) * 1e9)};
    if (left > 0)
        nanosleep(&t, NULL);
}

static void number(struct asker *a, unsigned question)
{
    char text[ASKER_DIGITS + NUMBER_DIGITS + 1];
    snprintf(text, sizeof(text), "%0*x%0*x", ASKER_DIGITS, a->index & 0xfff, NUMBER_DIGITS, question);
    memcpy(a->request + a->load->number_at, text, sizeof(text) - 1);
}

static void *ask(void *user)
{
    struct asker *a = user;
    SSL *ssl = connect_to(a->load);
    unsigned question = 0;
    for (double begin = now(); begin < a->load->until;) {
        wait_until(begin);
        if (a->load->number_at != 0)
            number(a, question++);
        if (SSL_write(ssl, a->request, (int)a->load->request_length) <= 0)
            give_up("cannot write");
        a->body = read_answer(ssl);
        double end = now();
        if (begin >= a->load->warm_until && a->count < SAMPLES_MAX)
            a->micros[a->count++] = (float)((end - begin) * 1e6);
        begin = a->load->every > 0 ? begin + a->load->every : end;
    }
    close(SSL_get_fd(ssl));
    SSL_free(ssl);
    return NULL;
}

static int by_size(const void *a, const void *b)
{
    float x = *(const float *)a, y = *(const float *)b;
    return (x > y) - (x < y);
}

static char *make_request(const char *path, const char *file, size_t *length_out)
{
    FILE *f = fopen(file, "rb");
    if (f == NULL || fseek(f, 0, SEEK_END) != 0)
        give_up("cannot read the body's file");
    size_t size = (size_t)ftell(f);
    rewind(f);
    char *request = malloc(size + 512);
    if (request == NULL)
        give_up("out of memory");
    int head = snprintf(request, 512,
                        "POST %s HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n"
                        "Content-Length: %zu\r\n\r\n", path, size);
    if (head < 0 || head >= 512 || fread(request + head, 1, size, f) != size)
        give_up("cannot read the body's file");
    fclose(f);
    *length_out = (size_t)head + size;
    return request;
}

static void report(struct asker *askers, size_t count, double seconds)
{
    size_t total = 0, at = 0;
    for (size_t i = 0; i < count; i++)
        total += askers[i].count;
    if (total == 0)
        give_up("nothing was answered in time");
    float *all = malloc(total * sizeof(*all));
    if (all == NULL)
        give_up("out of memory");
    for (size_t i = 0; i < count; i++) {
        memcpy(all + at, askers[i].micros, askers[i].count * sizeof(*all));
        at += askers[i].count;
    }
    qsort(all, total, sizeof(*all), by_size);
    printf("%.0f %.0f %.0f %zu\n", (double)total / seconds, (double)all[total / 2],
           (double)all[total * 99 / 100], askers[0].body);
}

int main(int argc, char **argv)
{
    if (argc < 6 || argc > 7) {
        fprintf(stderr, "usage: load PORT PATH BODY-FILE SECONDS CONNECTIONS [RATE]\n");
        return 2;
    }
    signal(SIGPIPE, SIG_IGN);
    double seconds = atof(argv[4]);
    size_t connections = strtoul(argv[5], NULL, 10);
    struct load l = {.port = (uint16_t)strtoul(argv[1], NULL, 10),
                     .every = argc == 7 ? 1 / atof(argv[6]) : 0};
    l.request = make_request(argv[2], argv[3], &l.request_length);
    const char *mark = memmem(l.request, l.request_length, NUMBER_MARK, sizeof(NUMBER_MARK) - 1);
    l.number_at = mark != NULL ? (size_t)(mark - l.request) : 0;
    l.tls = SSL_CTX_new(TLS_client_method());
    struct asker *askers = calloc(connections, sizeof(*askers));
    pthread_t *threads = calloc(connections, sizeof(*threads));
    if (l.tls == NULL || askers == NULL || threads == NULL || connections == 0)
        give_up("cannot begin");
    l.warm_until = now() + seconds / 10;
    l.until = l.warm_until + seconds;
    for (size_t i = 0; i < connections; i++) {
        askers[i] = (struct asker){.load = &l, .request = malloc(l.request_length), .index = (unsigned)i,
                                   .micros = malloc(SAMPLES_MAX * sizeof(float))};
        if (askers[i].request == NULL || askers[i].micros == NULL)
            give_up("out of memory");
        memcpy(askers[i].request, l.request, l.request_length);
        if (pthread_create(&threads[i], NULL, ask, &askers[i]) != 0)
            give_up("cannot begin");
    }
    for (size_t i = 0; i < connections; i++)
        pthread_join(threads[i], NULL);
    report(askers, connections, seconds);
    return 0;
}
