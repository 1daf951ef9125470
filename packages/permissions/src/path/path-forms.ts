import { foldCase } from "../wildcard.js";

/** Places that paths and patterns are relative to. */
export interface PathRoots {
  /** Root of the workspace: relative paths, `/p` and `./p` of patterns begin here. @default "/" */
  readonly root?: string | undefined;
  /** Home directory, `~/p` of patterns. */
  readonly home?: string | undefined;
}

/** Returns the segments of an absolute path; `..` never leaves the filesystem root. */
export function segmentsOf(path: string): readonly string[] {
  const segments: string[] = [];
  for (const segment of path.split("/")) {
    if (segment === "..") segments.pop();
    else if (segment !== "" && segment !== ".") segments.push(segment);
  }
  return segments;
}

/** Returns the segments of a path as a tool gets it: relative to the root, to the home directory, or absolute. */
export function resolveSegments(path: string, { root = "/", home }: PathRoots): readonly string[] {
  if (path.startsWith("/")) return segmentsOf(path);
  if (home !== undefined && (path === "~" || path.startsWith("~/")))
    return segmentsOf(`${home}/${path.slice(1)}`);
  return segmentsOf(`${root}/${path}`);
}

/** Reports whether every filesystem reads the path in the same way; if not, no rule allows it. */
export function isUnambiguous(path: string): boolean {
  return path !== "" && !ambiguous.test(path) && path.normalize("NFC") === path.normalize("NFKC");
}

/**
 * Backslashes and drive letters, percent-encoded characters, streams, trailing dots and blanks, characters that are
 * ignored or not seen, lone surrogates.
 */
const ambiguous =
  /[\\:\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\p{DI}\uFFFE\uFFFF]|%[0-9a-f]{2}|^\s|\s(?:\/|$)|[^/.]\.+(?:\/|$)|\.{3,}(?:\/|$)/iu;

/** Returns every reading of a path that some filesystem or program has, for rules that forbid. */
export function readingsOf(path: string): readonly string[] {
  const decoded = percentDecoded(path);
  const readings = [path, decoded, percentDecoded(decoded)]
    .flatMap((text) => [text, text.split("\0")[0] ?? "", text.replaceAll("\0", "")])
    .flatMap((text) => [text, text.replaceAll("\\", "/"), text.replaceAll("\\", "")])
    .map((text) => text.replace(/^[a-z]:(?=\/)/i, ""))
    .flatMap((text) => [text, ...windowsReadings(text)])
    .flatMap((text) => [text.normalize("NFC"), text.normalize("NFKC")])
    .flatMap((text) => [text, text.replaceAll(ignored, "")])
    .map((text) => text.trim());
  return [...new Set(readings)];
}

/** Returns a segment for comparison by a rule that forbids: without case, in one Unicode form. */
export function foldSegment(segment: string): string {
  return foldCase(segment.normalize("NFC"));
}

const ignored = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{DI}]/gu;

/** Windows drops trailing dots and blanks of a name, and what follows a colon names a stream of the same file. */
function windowsReadings(path: string): readonly string[] {
  const segments = path.split("/");
  const trimmed = segments.map((name) =>
    /^\.{1,2}$/.test(name) ? name : name.replace(/[.\s]+$/, ""),
  );
  const plain = trimmed.map((name) => name.replace(/:.*$/, ""));
  return [trimmed.join("/"), plain.join("/")];
}

/** Decodes byte by byte: a sequence that is not valid must not keep the others from being read. */
function percentDecoded(path: string): string {
  return path.replaceAll(/(?:%[0-9a-f]{2})+/gi, (bytes) => {
    try {
      return decodeURIComponent(bytes);
    } catch {
      return bytes.replaceAll(/%([0-9a-f]{2})/gi, (_, hex: string) =>
        String.fromCharCode(Number.parseInt(hex, 16)),
      );
    }
  });
}
