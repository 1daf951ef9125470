import type { Middleware } from "../../middleware/middleware.js";

/**
 * Returns the middleware in the order in which they run, the outermost first. Those that say `before` or `after` move; the
 * others keep their order among themselves. Adds a problem when that cannot be.
 */
export function orderMiddleware(
  given: readonly Middleware[],
  problems: string[],
): readonly Middleware[] {
  const names = given.map(({ name }) => name);
  // Reported where they were added.
  if (new Set(names).size < names.length) return given;
  const earlier = earlierOnes(given);
  const ordered = new Set<Middleware>();
  /** Places a middleware behind everything that it runs after; returns the way round a cycle, if there is one. */
  const place = (one: Middleware, path: readonly string[]): readonly string[] | null => {
    if (ordered.has(one)) return null;
    if (path.includes(one.name)) return [...path.slice(path.indexOf(one.name)), one.name];
    for (const other of given) {
      if (!earlier.get(one.name)?.has(other.name)) continue;
      const cycle = place(other, [...path, one.name]);
      if (cycle) return cycle;
    }
    ordered.add(one);
    return null;
  };
  for (const one of given) {
    const cycle = place(one, []);
    if (!cycle) continue;
    problems.push(cycleProblem(cycle, earlier));
    return given;
  }
  return [...ordered];
}

/** Returns by name which others a middleware runs after, and why: it was said, or is the order they were added in. */
function earlierOnes(
  given: readonly Middleware[],
): ReadonlyMap<string, ReadonlyMap<string, "said" | "added">> {
  const earlier = new Map(given.map(({ name }) => [name, new Map<string, "said" | "added">()]));
  const known = (list: Middleware["before"]) => namesIn(list).filter((name) => earlier.has(name));
  let last: string | undefined;
  for (const { name, before, after } of given) {
    for (const other of known(before)) earlier.get(other)?.set(name, "said");
    for (const other of known(after)) earlier.get(name)?.set(other, "said");
    if (known(before).length + known(after).length > 0) continue;
    if (last !== undefined && !earlier.get(name)?.has(last)) earlier.get(name)?.set(last, "added");
    last = name;
  }
  return earlier;
}

/** Tells whether a value can be the `before` or `after` of a middleware. */
export function isListOfNames(value: unknown): value is Middleware["before"] {
  if (value === undefined || typeof value === "string") return true;
  return Array.isArray(value) && value.every((name) => typeof name === "string");
}

function namesIn(list: Middleware["before"]): readonly string[] {
  if (list === undefined) return [];
  return typeof list === "string" ? [list] : list;
}

function cycleProblem(cycle: readonly string[], earlier: ReturnType<typeof earlierOnes>): string {
  const steps = cycle.slice(1).map((other, index) => {
    const one = cycle[index] as string;
    const why = earlier.get(one)?.get(other) === "added" ? " (they were added in this order)" : "";
    return `"${one}" after "${other}"${why}`;
  });
  return `the order of middleware has a cycle: ${steps.join(", ")}; change their before or after`;
}
