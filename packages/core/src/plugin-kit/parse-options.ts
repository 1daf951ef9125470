import { ConfigurationError } from "../errors/errors.js";
import { isRecord } from "../json/json.js";
import { optionNames } from "./option-names.js";
import { plainProblem } from "./plain-problem.js";
import { showValue } from "./show-value.js";
import { unknownNames } from "./unknown-names.js";

/** Issue that {@link parseOptions} writes a sentence about. */
export interface OptionsIssue {
  readonly code?: string | undefined;
  readonly path: readonly PropertyKey[];
  readonly message: string;
  readonly input?: unknown;
  readonly keys?: readonly string[] | undefined;
}

/** Schema of options: one of `@holdfast/core/plugin-kit/schema`, or of zod. */
export interface OptionsSchema<T> {
  safeParse(
    value: unknown,
    settings?: { readonly reportInput?: boolean },
  ):
    | { readonly success: true; readonly data: T }
    | { readonly success: false; readonly error: { readonly issues: readonly OptionsIssue[] } };
}

/**
 * Checks options against a schema and fills in its defaults.
 *
 * @param where - owner of the options, named in the error, for example `keepLastCompactor`
 * @param accepts - names of those that may be given, where parts share a schema. @default all
 * @throws ConfigurationError that names every wrong option, its value and the accepted ones; of an unknown one, the nearest
 */
export function parseOptions<T>(
  schema: OptionsSchema<T>,
  options: unknown,
  where: string,
  accepts?: readonly string[],
): T {
  const unknown = accepts && isRecord(options) ? unknownNames(options, accepts, "option") : [];
  if (unknown.length > 0)
    throw new ConfigurationError(unknown.map((problem) => `${where}: ${problem}`));
  const parsed = schema.safeParse(options, { reportInput: true });
  if (parsed.success) return parsed.data;
  throw new ConfigurationError(
    parsed.error.issues.flatMap((issue) =>
      problemsOf(issue, schema).map((problem) => `${where}: ${problem}`),
    ),
  );
}

function problemsOf(issue: OptionsIssue, schema: unknown): readonly string[] {
  const path = issue.path.map(String).join(".");
  if (issue.code === "unrecognized_keys") {
    const unknown = Object.fromEntries((issue.keys ?? []).map((key) => [key, true]));
    const problems = unknownNames(unknown, optionNames(schema, issue.path), "option");
    return problems.map((problem) => (path === "" ? problem : `${path}: ${problem}`));
  }
  // About several options at once, and so a sentence of its own.
  if (path === "" && issue.code === "custom") return [issue.message];
  const name = path === "" ? "options" : `option ${path}`;
  return [`${name} is ${showValue(issue.input)}: ${plainProblem(issue.message)}`];
}
