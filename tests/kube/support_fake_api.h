/* support_fake_api: a small API server in memory for tests of code over struct api. Requests are
 * kept until the test lets them be answered, so that it decides about time, order and failure. */
#ifndef TESTS_KUBE_SUPPORT_FAKE_API_H
#define TESTS_KUBE_SUPPORT_FAKE_API_H

#include "kube/api.h"

enum { FAKE_REQUESTS_MAX = 8192 };

struct fake_request {
    struct api_request request; /* texts are copies */
    api_done *done;
    void *user;
    bool answered;
};

struct fake_api {
    struct api api;                                  /* first */
    struct fake_request requests[FAKE_REQUESTS_MAX]; /* all so far, in order */
    size_t count, answered;
    int fail; /* status to answer with instead; -1: none, 0: no reply is read */
    int acts_cancelled;
    int version;
    void *objects; /* json_t object: path → object */
    struct doc_parser *parser;
};

void fake_api_init(struct fake_api *f);
void fake_api_release(struct fake_api *f);

/* Puts an object there as somebody else would; its resourceVersion is set. */
void fake_api_put(struct fake_api *f, enum kind k, const char *ns, const char *name,
                  const char *json);
void fake_api_remove(struct fake_api *f, enum kind k, const char *ns, const char *name);
/* A text or number inside of an object by a dotted path, "" when it is not there; until the next
 * call. */
const char *fake_api_get(struct fake_api *f, enum kind k, const char *ns, const char *name,
                         const char *path);

/* Answers everything that waits, and what is sent meanwhile; how many. */
size_t fake_api_answer(struct fake_api *f);
/* The same, but the reply is lost: the write is done and the caller learns nothing. */
size_t fake_api_lose(struct fake_api *f);

#endif
