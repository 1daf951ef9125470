/** By what a character is compared as, all characters that are compared as it; only where there are several. */
let variants: ReadonlyMap<string, readonly string[]> | undefined;

/** The characters that a pattern with `i` and without `u` takes for `character`, itself included. */
export function caseVariants(character: string): readonly string[] {
  // Outside the basic plane nothing has a case there: halves of surrogate pairs are compared one by one.
  if (character.length > 1) return [character];
  if (character < "\u0080") return asciiVariants(character);
  variants ??= allVariants();
  return variants.get(canonical(character)) ?? [character];
}

function asciiVariants(character: string): readonly string[] {
  const [lower, upper] = [character.toLowerCase(), character.toUpperCase()];
  return lower === upper ? [character] : [lower, upper];
}

/** As ECMAScript's Canonicalize has it: the upper case, unless that is longer, or ASCII for what is not. */
function canonical(character: string): string {
  const upper = character.toUpperCase();
  if (upper.length !== 1 || (character >= "\u0080" && upper < "\u0080")) return character;
  return upper;
}

/** There is no way from a character to all that share its upper case, so all are looked at once: some milliseconds. */
function allVariants(): Map<string, string[]> {
  const found = new Map<string, string[]>();
  for (let unit = 0x80; unit <= 0xffff; unit++) {
    const character = String.fromCharCode(unit);
    const as = canonical(character);
    const others = found.get(as);
    if (others === undefined) found.set(as, [character]);
    else others.push(character);
  }
  for (const [as, characters] of found) if (characters.length === 1) found.delete(as);
  return found;
}
