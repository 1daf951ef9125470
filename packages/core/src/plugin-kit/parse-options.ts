import type * as z from "zod";
import { ConfigurationError } from "../errors/errors.js";
import { optionNames } from "./option-names.js";
import { showValue } from "./show-value.js";
import { unknownNames } from "./unknown-names.js";

/**
 * Checks options against a schema and fills in its defaults.
 *
 * @param where - owner of the options, named in the error, for example `keepLastCompactor`
 * @throws ConfigurationError that names every wrong option, its value and the accepted ones; of an unknown one, the nearest
 */
export function parseOptions<T>(schema: z.ZodType<T>, options: unknown, where: string): T {
  const parsed = schema.safeParse(options, { reportInput: true });
  if (parsed.success) return parsed.data;
  throw new ConfigurationError(
    parsed.error.issues.flatMap((issue) =>
      problemsOf(issue, schema).map((problem) => `${where}: ${problem}`),
    ),
  );
}

function problemsOf(issue: z.core.$ZodIssue, schema: z.core.$ZodType): readonly string[] {
  const path = issue.path.join(".");
  if (issue.code === "unrecognized_keys") {
    const unknown = Object.fromEntries(issue.keys.map((key) => [key, true]));
    const problems = unknownNames(unknown, optionNames(schema, issue.path), "option");
    return problems.map((problem) => (path === "" ? problem : `${path}: ${problem}`));
  }
  // About several options at once, and so a sentence of its own.
  if (path === "" && issue.code === "custom") return [issue.message];
  const name = path === "" ? "options" : `option ${path}`;
  return [`${name} is ${showValue(issue.input)}: ${issue.message}`];
}
