import { InvalidInputError } from "@holdfast/core";
import { RE2JS } from "re2js";
import { type GlobToken, globTokens } from "./glob-tokens.js";

/** Longest pattern that is accepted. */
const MAX_PATTERN_CHARS = 1_000;

/**
 * Compiles a glob pattern into a test for paths: `*` matches any characters but `/`, `**` as a whole segment any
 * directories, `?` one character, `[a-z]` and `[!a-z]` one of a set, `{a,b}` alternatives; `\` escapes the next character.
 * Brackets and braces that are not closed are plain text. A test takes time linear in the path.
 *
 * @throws InvalidInputError for a pattern that is too long or too deeply nested
 */
export function globMatcher(pattern: string): (path: string) => boolean {
  if (pattern.length > MAX_PATTERN_CHARS)
    throw new InvalidInputError(
      `a glob pattern may have at most ${MAX_PATTERN_CHARS} characters, this one has ${pattern.length}`,
    );
  let compiled: RE2JS;
  try {
    compiled = RE2JS.compile(toRegex(globTokens(pattern)), RE2JS.DOTALL);
  } catch (error) {
    throw new InvalidInputError("the glob pattern is nested too deeply", { cause: error });
  }
  return (path) => compiled.matches(path);
}

function toRegex(tokens: readonly GlobToken[]): string {
  let regex = "";
  for (let at = 0; at < tokens.length; at++) {
    const token = tokens[at] as GlobToken;
    switch (token.kind) {
      case "text":
        regex += RE2JS.quote(token.text);
        break;
      case "one":
        regex += token.regex;
        break;
      case "open":
        regex += "(?:";
        break;
      case "comma":
        regex += "|";
        break;
      case "close":
        regex += ")";
        break;
      case "stars": {
        const isSegment =
          token.count === 2 && isEdge(tokens[at - 1], "open") && isEdge(tokens[at + 1], "close");
        if (!isSegment) regex += "[^/]*";
        else if (isSlash(tokens[at + 1])) {
          regex += "(?:[^/]*/)*";
          at++;
        } else regex += ".*";
      }
    }
  }
  return regex;
}

/** Returns true for a token beside which a segment of a path may begin or end. */
function isEdge(token: GlobToken | undefined, brace: "open" | "close"): boolean {
  return token === undefined || isSlash(token) || token.kind === "comma" || token.kind === brace;
}

function isSlash(token: GlobToken | undefined): boolean {
  return token?.kind === "text" && token.text === "/";
}
