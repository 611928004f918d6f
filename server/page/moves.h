/* moves: disruptions under way and recommended, on the page. */
#ifndef SERVER_PAGE_MOVES_H
#define SERVER_PAGE_MOVES_H

#include "server/page/render.h"

void moves_put(struct render *r);

#endif
