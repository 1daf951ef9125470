import { InvalidInputError } from "../errors/errors.js";

/** A compiled regular expression that tells the size of its program; `RE2JS` is one. */
export interface SizedPattern {
  programSize(): number;
}

/** Settings of {@link compileRegex}. */
export interface CompileRegexOptions<P extends SizedPattern> {
  /** Compiles with an engine that matches in linear time, for example `RE2JS.compile`. */
  compile(pattern: string): P;
  /** Name of the pattern in error messages. @default "pattern" */
  readonly name?: string | undefined;
}

/** Longest expression that is accepted: compiling takes time, too, and cannot be interrupted. */
const MAX_PATTERN_CHARS = 1_000;
/** Steps of the largest program that is accepted; expressions with many repetitions have large ones. */
const MAX_PROGRAM_SIZE = 500;

/**
 * Compiles a regular expression that a model wrote, within limits that keep a search of any text cheap.
 *
 * @throws InvalidInputError for an expression that is invalid or too expensive
 * @example
 * const pattern = compileRegex(query, { compile: (text) => RE2JS.compile(text), name: "query" });
 */
export function compileRegex<P extends SizedPattern>(
  pattern: string,
  { compile, name = "pattern" }: CompileRegexOptions<P>,
): P {
  if (pattern.length > MAX_PATTERN_CHARS)
    throw new InvalidInputError(
      `a regular expression may have at most ${MAX_PATTERN_CHARS} characters, this one has ${pattern.length}`,
    );
  // Before compiling: that alone would take long.
  if (repeatsOf(pattern) > MAX_PROGRAM_SIZE) throw tooExpensive(name);
  const compiled = tryCompile(pattern, compile, name);
  if (compiled.programSize() > MAX_PROGRAM_SIZE) throw tooExpensive(name);
  return compiled;
}

function tryCompile<P>(pattern: string, compile: (pattern: string) => P, name: string): P {
  try {
    return compile(pattern);
  } catch (error) {
    throw new InvalidInputError(
      `the ${name} is not a valid RE2 regular expression: ${error instanceof Error ? error.message : String(error)}; look-around and back-references are not supported`,
      { cause: error },
    );
  }
}

/** Sums all `{n}` and `{n,m}`: a lower bound of the steps of the program. */
function repeatsOf(pattern: string): number {
  const braces = pattern.replace(/\\./gs, "").matchAll(/\{(\d+)(?:,(\d*))?\}/g);
  let sum = 0;
  for (const [, least, most] of braces) sum += Math.max(Number(least), Number(most ?? 0));
  return sum;
}

function tooExpensive(name: string): InvalidInputError {
  return new InvalidInputError(`the ${name} has too many repetitions; simplify it`);
}
