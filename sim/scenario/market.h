/* market: what offerings cost and whether they can be had, while a scenario is played. Knows the listed prices of a
 * catalogue, and what events made of them. */
#ifndef SIM_MARKET_H
#define SIM_MARKET_H

#include "cloud/catalogue.h"
#include "cloud/kwok.h"
#include "sim/scenario/chance.h"
#include "sim/scenario/scenario.h"

struct market;

struct market *market_new(const struct catalogue_source *types);
void market_free(struct market *m); /* NULL is fine */

/* Whether there is any such offering. */
bool market_has(const struct market *m, const struct scenario_market *of);
/* A factor of the listed prices; returns how many offerings it changes. */
uint32_t market_price_factor(struct market *m, const struct scenario_market *of, double factor);
/* Each by itself, evenly between 1 − share and 1 + share of its listed price. */
uint32_t market_price_vary(struct market *m, const struct scenario_market *of, double share, struct chance *c);
/* None of these can be had from now until then. */
void market_stockout(struct market *m, const struct scenario_market *of, wall_ms now, wall_ms until);

/* An offering, -1: there is none such; and what a machine of it costs an hour now. */
int32_t market_find(const struct market *m, struct span type, struct span zone, struct span capacity_type);
double market_price(const struct market *m, int32_t offering);
bool market_in_stock(const struct market *m, struct span type, struct span zone, struct span capacity_type,
                     wall_ms now);

bool market_of(const struct scenario_market *of, struct span type, struct span zone, struct span capacity_type);

#endif
