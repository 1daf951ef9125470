/** Range of a text, in UTF-16 units. */
export interface Span {
  readonly start: number;
  readonly end: number;
}

/** Product of the two lengths up to which `indexOf` is fast enough in the worst case. */
const CHEAP_COST = 4_000_000;
/** Characters that are searched before other work may run. */
const TURN_CHARS = 1_048_576;

/**
 * Yields the non-overlapping occurrences of a pattern in a text, in order; the value passed to `next` is the position to
 * continue from. Yields `undefined` where other work may run.
 *
 * Takes time linear in both lengths. `indexOf` does not: it starts over after every partial match.
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
  const failure = failureFunction(pattern);
  let matched = 0;
  let turn = 0;
  for (let at = 0; at < text.length; at++) {
    if (++turn % TURN_CHARS === 0) yield undefined;
    const unit = text.charCodeAt(at);
    while (matched > 0 && unit !== pattern.charCodeAt(matched))
      matched = failure[matched - 1] as number;
    if (unit === pattern.charCodeAt(matched)) matched++;
    if (matched < pattern.length) continue;
    const end = at + 1;
    const skipTo = yield { start: end - pattern.length, end };
    at = Math.max(skipTo ?? 0, end) - 1;
    matched = 0;
  }
}

/** Computes the failure function of Knuth, Morris and Pratt. */
function failureFunction(pattern: string): Int32Array {
  const failure = new Int32Array(pattern.length);
  let matched = 0;
  for (let at = 1; at < pattern.length; at++) {
    const unit = pattern.charCodeAt(at);
    while (matched > 0 && unit !== pattern.charCodeAt(matched))
      matched = failure[matched - 1] as number;
    if (unit === pattern.charCodeAt(matched)) matched++;
    failure[at] = matched;
  }
  return failure;
}
