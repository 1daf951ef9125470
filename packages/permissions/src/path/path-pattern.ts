import { anyOne, type CharacterClass, matchesWildcard, star, type Token } from "../wildcard.js";
import {
  foldSegment,
  isUnambiguous,
  type PathRoots,
  readingsOf,
  resolveSegments,
  segmentsOf,
} from "./path-forms.js";

/** Segment of a pattern, or any number of segments. */
type SegmentPattern = readonly Token[] | "**";

/** Specifier for paths, compiled: a pattern that names a directory covers what is below it. */
export interface PathPattern {
  /** Segments from the root of the filesystem. */
  readonly segments: readonly SegmentPattern[];
  /** The same, compared without case. */
  readonly folded: readonly SegmentPattern[];
  /** The pattern is not anchored: a rule that forbids also looks outside the workspace. */
  readonly anywhere: readonly SegmentPattern[] | null;
}

/**
 * Compiles a specifier for paths, in the manner of `.gitignore`.
 * - `p` without a slash matches at any depth, `/p`, `./p` and `a/p` from the root of the workspace
 * - `~/p` matches from the home directory, `//p` from the root of the filesystem
 * - `*` and `?` stay within a name, `[…]` is one character of a set, `**` spans directories
 */
export function pathPattern(pattern: string, roots: PathRoots): PathPattern | null {
  const { root = "/", home } = roots;
  const plain = pattern.replace(/\/+$/, "") || pattern;
  if (plain.startsWith("~")) {
    if (home === undefined || !/^~(?:\/|$)/.test(plain)) return null;
    return compiled([...literal(home), ...globs(plain.slice(1))], null);
  }
  if (plain.startsWith("//")) return compiled(globs(plain), null);
  const body = globs(plain.replace(/^\.?\//, ""));
  const isAnchored = /^\.?\/|[^/]\/[^/]/.test(plain) && !plain.startsWith("**/");
  return isAnchored
    ? compiled([...literal(root), ...body], null)
    : compiled([...literal(root), "**", ...body], ["**", ...body]);
}

/** Reports whether the pattern covers a path, as each filesystem reads it. */
export function coversPath(pattern: PathPattern, path: string, roots: PathRoots): boolean {
  if (!isUnambiguous(path)) return false;
  const segments = resolveSegments(path, roots).map((segment) => segment.normalize("NFC"));
  return matches(pattern.segments, segments);
}

/** Reports whether the pattern matches a path as some filesystem reads it. */
export function forbidsPath(pattern: PathPattern, path: string, roots: PathRoots): boolean {
  return readingsOf(path).some((reading) => {
    const segments = resolveSegments(reading, roots).map(foldSegment);
    return [pattern.folded, pattern.anywhere].some(
      (wanted) => wanted !== null && matches(wanted, segments),
    );
  });
}

function compiled(
  segments: readonly SegmentPattern[],
  anywhere: readonly SegmentPattern[] | null,
): PathPattern {
  return { segments, folded: segments.map(folded), anywhere: anywhere?.map(folded) ?? null };
}

/** Matches segment by segment; what is left of the path is below what the pattern names. */
function matches(wanted: readonly SegmentPattern[], given: readonly string[]): boolean {
  let reached = new Set([0]);
  const spread = (at: ReadonlySet<number>): Set<number> => {
    const all = new Set(at);
    for (const index of all) if (wanted[index] === "**") all.add(index + 1);
    return all;
  };
  reached = spread(reached);
  if (reached.has(wanted.length)) return true;
  for (const segment of given) {
    const next = new Set<number>();
    for (const index of reached) {
      const pattern = wanted[index];
      if (pattern === "**") next.add(index);
      else if (pattern !== undefined && matchesWildcard(pattern, segment)) next.add(index + 1);
    }
    reached = spread(next);
    if (reached.has(wanted.length)) return true;
  }
  return false;
}

function literal(path: string): readonly SegmentPattern[] {
  return segmentsOf(path).map((segment) =>
    [...segment.normalize("NFC")].flatMap((char) => char.split("")),
  );
}

function globs(pattern: string): readonly SegmentPattern[] {
  const segments: SegmentPattern[] = [];
  for (const segment of pattern.normalize("NFC").split("/")) {
    if (segment === "..") segments.pop();
    else if (segment !== "" && segment !== ".")
      segments.push(segment === "**" ? "**" : glob(segment));
  }
  // `a/**` is everything below `a`, not `a` itself.
  return segments.length > 1 && segments.at(-1) === "**" ? [...segments, [star]] : segments;
}

function glob(segment: string): readonly Token[] {
  const tokens: Token[] = [];
  for (let index = 0; index < segment.length; index++) {
    const char = segment.charAt(index);
    const end =
      char === "["
        ? segment.indexOf("]", index + (/[!^]/.test(segment.charAt(index + 1)) ? 3 : 2))
        : -1;
    if (char === "\\" && index + 1 < segment.length) tokens.push(segment.charAt(++index));
    else if (end !== -1) {
      tokens.push(characterClass(segment.slice(index + 1, end)));
      index = end;
    } else tokens.push(char === "*" ? star : char === "?" ? anyOne : char);
  }
  return tokens;
}

function characterClass(body: string): CharacterClass {
  const negated = /^[!^]/.test(body);
  const ranges: [string, string][] = [];
  for (const [, from = "", to] of body.slice(negated ? 1 : 0).matchAll(/(.)(?:-(.))?/gs))
    ranges.push([from, to ?? from]);
  return { negated, ranges };
}

function folded(segment: SegmentPattern): SegmentPattern {
  if (segment === "**") return segment;
  return segment.map((token): Token => {
    if (typeof token === "string") return foldSegment(token);
    if (typeof token === "symbol" || token.negated) return token;
    // A set of capitals also forbids the small letters, and a range of both keeps what it had.
    const lower = token.ranges.map(([from, to]): [string, string] => [
      foldSegment(from),
      foldSegment(to),
    ]);
    return { negated: false, ranges: [...token.ranges, ...lower] };
  });
}
