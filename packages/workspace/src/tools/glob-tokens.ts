/** Token of a glob pattern. */
export type GlobToken =
  | { readonly kind: "text"; readonly text: string }
  /** Matches one character; given as a regular expression. */
  | { readonly kind: "one"; readonly regex: string }
  | { readonly kind: "stars"; readonly count: number }
  | { readonly kind: "open" | "comma" | "close" };

/** Splits a pattern into tokens; brackets and braces that are never closed are text, and so are commas outside of braces. */
export function globTokens(pattern: string): readonly GlobToken[] {
  const characters = Array.from(pattern);
  const tokens: GlobToken[] = [];
  for (let at = 0; at < characters.length; ) {
    const [token, next] = tokenAt(characters, at);
    tokens.push(token);
    at = next;
  }
  return withPairedBraces(tokens);
}

function tokenAt(characters: readonly string[], at: number): [GlobToken, next: number] {
  const character = characters[at] as string;
  switch (character) {
    case "*": {
      let end = at;
      while (characters[end] === "*") end++;
      return [{ kind: "stars", count: end - at }, end];
    }
    case "?":
      return [{ kind: "one", regex: "[^/]" }, at + 1];
    case "[":
      return setAt(characters, at + 1) ?? [{ kind: "text", text: "[" }, at + 1];
    case "{":
      return [{ kind: "open" }, at + 1];
    case ",":
      return [{ kind: "comma" }, at + 1];
    case "}":
      return [{ kind: "close" }, at + 1];
    case "\\":
      return [{ kind: "text", text: characters[at + 1] ?? "\\" }, at + 2];
    default:
      return [{ kind: "text", text: character }, at + 1];
  }
}

/** Parses the text after a `[` up to its `]` as a set that never contains `/`; null when there is no `]`. */
function setAt(characters: readonly string[], begin: number): [GlobToken, next: number] | null {
  const isNegated = characters[begin] === "!" || characters[begin] === "^";
  let at = isNegated ? begin + 1 : begin;
  let inside = "";
  for (let isFirst = true; ; isFirst = false) {
    const character = characters[at];
    if (character === undefined) return null;
    if (character === "]" && !isFirst) break;
    if (character === "\\") at++;
    const low = characters[at++];
    if (low === undefined) return null;
    const high = characters[at + 1];
    const isRange = characters[at] === "-" && high !== undefined && high !== "]";
    inside += withoutSlash(low, isRange ? high : low);
    if (isRange) at += 2;
  }
  // An empty set matches nothing.
  const regex = isNegated
    ? `[^/${inside}]`
    : inside === ""
      ? "[^\\x{0}-\\x{10ffff}]"
      : `[${inside}]`;
  return [{ kind: "one", regex }, at + 1];
}

/** Returns a range for a regular expression that leaves `/` out; empty where the bounds are reversed. */
function withoutSlash(low: string, high: string): string {
  const slash = 0x2f;
  const [from, to] = [low.codePointAt(0) as number, high.codePointAt(0) as number];
  if (from > slash || to < slash) return range(from, to);
  return range(from, slash - 1) + range(slash + 1, to);
}

function range(from: number, to: number): string {
  return from > to ? "" : `\\x{${from.toString(16)}}-\\x{${to.toString(16)}}`;
}

function withPairedBraces(tokens: readonly GlobToken[]): readonly GlobToken[] {
  const paired = new Set<number>();
  const open: { readonly at: number; readonly commas: number[] }[] = [];
  for (const [at, { kind }] of tokens.entries()) {
    if (kind === "open") open.push({ at, commas: [] });
    else if (kind === "comma") open.at(-1)?.commas.push(at);
    else if (kind === "close") {
      const group = open.pop();
      if (group) for (const index of [group.at, at, ...group.commas]) paired.add(index);
    }
  }
  const plain = { open: "{", comma: ",", close: "}" } as const;
  return tokens.map((token, at) =>
    (token.kind === "open" || token.kind === "comma" || token.kind === "close") && !paired.has(at)
      ? { kind: "text", text: plain[token.kind] }
      : token,
  );
}
