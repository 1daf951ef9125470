import { loadData } from "./load-data.js";

const routes = loadData("routes");

/** Every route, both directions apart. */
export function allRoutes() {
  return routes;
}

/** The route with an id. */
export function routeById(id) {
  const route = routes.find((each) => each.id === id);
  if (!route) throw new RangeError(`no route ${id}`);
  return route;
}

/** Routes that leave from a pier. */
export function routesFrom(pier) {
  return routes.filter((route) => route.from === pier);
}

/** All piers, in the order in which the routes name them. */
export function piers() {
  return [...new Set(routes.flatMap(({ from, to }) => [from, to]))];
}
