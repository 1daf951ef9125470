/** A place in a text, in UTF-16 units. */
export interface Span {
  readonly start: number;
  readonly end: number;
}

/** How much comparing, characters times characters, is not worth dividing. */
const CHEAP_COST = 4_000_000;
/** Characters that are searched at once, before others may work. */
const TURN_CHARS = 1_048_576;

/**
 * The places of a text in another, in order, none over another; after each, `skipTo` may be set to where to go on.
 * Between them there may be `undefined`: a place to let others work.
 *
 * Takes time linear in both, whatever they are. `indexOf` does not: it begins anew after every near miss.
 */
export function* literalMatches(
  pattern: string,
  text: string,
  cheapCost: number = CHEAP_COST,
): Generator<Span | undefined, void, number | undefined> {
  if (pattern.length * text.length <= cheapCost) {
    for (let start = text.indexOf(pattern); start >= 0; ) {
      const end = start + pattern.length;
      const skipTo = yield { start, end };
      start = text.indexOf(pattern, Math.max(skipTo ?? 0, end));
    }
    return;
  }
  const restarts = restartsOf(pattern);
  let matched = 0;
  let turn = 0;
  for (let at = 0; at < text.length; at++) {
    if (++turn % TURN_CHARS === 0) yield undefined;
    const unit = text.charCodeAt(at);
    while (matched > 0 && unit !== pattern.charCodeAt(matched))
      matched = restarts[matched - 1] as number;
    if (unit === pattern.charCodeAt(matched)) matched++;
    if (matched < pattern.length) continue;
    const end = at + 1;
    const skipTo = yield { start: end - pattern.length, end };
    at = Math.max(skipTo ?? 0, end) - 1;
    matched = 0;
  }
}

/** For every beginning of a pattern, how much of the pattern its end still matches (Knuth, Morris and Pratt). */
function restartsOf(pattern: string): Int32Array {
  const restarts = new Int32Array(pattern.length);
  let matched = 0;
  for (let at = 1; at < pattern.length; at++) {
    const unit = pattern.charCodeAt(at);
    while (matched > 0 && unit !== pattern.charCodeAt(matched))
      matched = restarts[matched - 1] as number;
    if (unit === pattern.charCodeAt(matched)) matched++;
    restarts[at] = matched;
  }
  return restarts;
}
