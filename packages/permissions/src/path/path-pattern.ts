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
  /** The same for a rule that forbids, which looks outside the workspace too where it is not anchored. */
  readonly wide: readonly SegmentPattern[];
  /** `wide`, compared without case. */
  readonly folded: readonly SegmentPattern[];
}

/**
 * Compiles a specifier for paths, in the manner of `.gitignore`.
 * - `p` without a slash matches at any depth, `/p`, `./p`, `../p` and `a/p` from the root of the workspace
 * - `~/p` matches from the home directory, `//p` from the root of the filesystem
 * - `*` and `?` stay within a name, `[…]` is one character of a set, `**` spans directories
 *
 * @returns null when it is not known what the pattern names: the home directory is not known, or `..` stands behind `**`
 */
export function pathPattern(pattern: string, roots: PathRoots): PathPattern | null {
  const { root = "/", home } = roots;
  const plain = pattern.replace(/\/+$/, "") || pattern;
  if (plain.startsWith("~")) {
    if (home === undefined || !/^~(?:\/|$)/.test(plain)) return null;
    return compiled(globs(literal(home), plain.slice(1)));
  }
  if (plain.startsWith("//")) return compiled(globs([], plain));
  const isAnchored = /^(?:\.?\/|\.\.$)|[^/]\/[^/]/.test(plain) && !plain.startsWith("**/");
  const body = plain.replace(/^\.?\//, "");
  return isAnchored
    ? compiled(globs(literal(root), body))
    : compiled(globs([...literal(root), "**"], body), globs(["**"], body));
}

/** Reports whether `..` stands behind `**` in a specifier, so that it is not known what it names. */
export function leadsAnywhere(pattern: string): boolean {
  return globs([], pattern) === null;
}

/** Reports whether the pattern covers a path, as each filesystem reads it. */
export function coversPath(pattern: PathPattern, path: string, roots: PathRoots): boolean {
  return isUnambiguous(path) && matches(pattern.segments, normalSegments(path, roots));
}

/** Reports whether the pattern matches a path as some filesystem reads it. */
export function forbidsPath(pattern: PathPattern, path: string, roots: PathRoots): boolean {
  return readingsOf(path).some((reading) => {
    const segments = normalSegments(reading, roots);
    // A set such as [!a] excludes the letter that it names, but not the other case of it.
    return matches(pattern.folded, segments.map(foldSegment)) || matches(pattern.wide, segments);
  });
}

function normalSegments(path: string, roots: PathRoots): readonly string[] {
  return resolveSegments(path, roots).map((segment) => segment.normalize("NFC"));
}

function compiled(
  segments: readonly SegmentPattern[] | null,
  wide: readonly SegmentPattern[] | null = segments,
): PathPattern | null {
  return segments && wide && { segments, wide, folded: wide.map(folded) };
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
  return segmentsOf(path).map((segment) => segment.normalize("NFC").split(""));
}

/** Returns the segments of a pattern that begins at `base`; null when `..` stands behind `**`. */
function globs(base: readonly SegmentPattern[], pattern: string): readonly SegmentPattern[] | null {
  const segments = [...base];
  let own = 0;
  for (const segment of pattern.normalize("NFC").split("/")) {
    if (segment === "..") {
      if (segments.pop() === "**") return null;
      own = Math.max(0, own - 1);
    } else if (segment !== "" && segment !== ".") {
      segments.push(segment === "**" ? "**" : glob(segment));
      own++;
    }
  }
  // `a/**` is everything below `a`, not `a` itself.
  return own > 1 && segments.at(-1) === "**" ? [...segments, [star]] : segments;
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
