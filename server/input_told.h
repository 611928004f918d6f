/* input_told: what is said about an object while it is read, and where. Private to input. */
#ifndef SERVER_INPUT_TOLD_H
#define SERVER_INPUT_TOLD_H

#include "server/input.h"

struct place_in_file {
    struct input *o;
    const char *file;
    const struct kind_info *kind; /* NULL: not known yet */
    struct span ns, name;
    bool odd_name;    /* with characters that no line may show (safe_text.h) */
    struct span refused; /* the first reason why no API server admits the object, which reads; absent: none */
    struct span *faulty; /* where there are such reasons */
    uint32_t faulty_count, faulty_capacity;
    uint32_t shown;               /* lines about the object, at most FINDINGS_SHOWN */
    uint32_t more, more_mistakes; /* that were not shown, and how many of them are mistakes */
    enum input_level more_level;  /* of the worst of them */
};

/* Decode's listeners, `user` being the place. */
void input_add_mistake(void *user, uint32_t line, struct span path, struct span text);
void input_add_invalid(void *user, uint32_t line, struct span path, struct span text);
void input_add_unknown(void *user, uint32_t line, struct span path, struct span text);
void input_add_warning(struct place_in_file *at, uint32_t line, struct span path, struct span text);
/* After the last of an object: how much more there was to be said. */
void input_end_object(struct place_in_file *at);
/* Warns of the fields that no schema knows: once each, however many objects have it. */
void input_tell_unknown(struct input *o);

/* The line of an object's field, spec.requirements[2].key, or of what is there of the way to it. */
uint32_t input_line_of(struct doc_value object, struct span path);

#endif
