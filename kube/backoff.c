#include "kube/backoff.h"

span_ms backoff_next(struct backoff *b, double random)
{
    span_ms wait = b->first;
    for (uint32_t i = 0; i < b->failures && wait < b->max; i++)
        wait *= 2;
    if (wait > b->max)
        wait = b->max;
    if (b->failures < UINT32_MAX)
        b->failures++;
    return (span_ms)((double)wait * (1.0 - random / 2));
}

static void bucket_fill(struct bucket *b, mono_ms now)
{
    if (b->at == 0)
        b->tokens = b->burst;
    else if (now > b->at)
        b->tokens += (double)(now - b->at) * b->rate / 1000;
    if (b->tokens > b->burst)
        b->tokens = b->burst;
    if (now > b->at)
        b->at = now;
}

bool bucket_take(struct bucket *b, mono_ms now)
{
    bucket_fill(b, now);
    if (b->tokens < 1)
        return false;
    b->tokens -= 1;
    return true;
}

mono_ms bucket_due(struct bucket *b, mono_ms now)
{
    bucket_fill(b, now);
    if (b->tokens >= 1)
        return now;
    return now + (mono_ms)((1 - b->tokens) * 1000 / b->rate) + 1;
}

double random_unit(uint64_t *state)
{
    uint64_t z = *state += 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return (double)((z ^ z >> 31) >> 11) * 0x1p-53;
}
