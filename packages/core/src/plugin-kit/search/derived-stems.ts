/** Endings that make a word of another, and that Porter's rules leave on short words: paint, painter; allergy, allergic. */
const ENDINGS = ["er", "or", "ist", "ian", "ic", "i"];
/** Shortest stem that another word is derived from. */
const MIN_CHARS = 4;

/** Returns the stems of English words that may be derived from the same word as a stem; most of them are of no word. */
export function derivedStems(stem: string): ReadonlySet<string> {
  const bases = [stem];
  for (const ending of ENDINGS)
    if (stem.endsWith(ending)) bases.push(stem.slice(0, -ending.length));
  const stems = new Set<string>();
  for (const base of bases) {
    const bare = base.replace(/e$/, "");
    for (const each of [bare, `${bare}e`]) if (each.length >= MIN_CHARS) stems.add(each);
    if (base.length >= MIN_CHARS) for (const ending of ENDINGS) stems.add(`${bare}${ending}`);
  }
  stems.delete(stem);
  return stems;
}
