/* moves: disruptions under way and recommended, on the page. */
#ifndef SERVER_PAGE_MOVES_H
#define SERVER_PAGE_MOVES_H

#include "server/page/render.h"

void moves_put(struct render *r);
const char *moves_how_far(enum move_state s); /* "waits to be judged again" */

#endif
