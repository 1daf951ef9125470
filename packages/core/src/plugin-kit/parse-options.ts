import type { z } from "zod";
import { ConfigurationError } from "../errors/errors.js";

/**
 * Checks options against a schema and fills in its defaults.
 *
 * @param where - owner of the options, named in the error, for example `keepLastCompactor`
 * @throws ConfigurationError that names every wrong option, its value and the accepted ones
 */
export function parseOptions<T>(schema: z.ZodType<T>, options: unknown, where: string): T {
  const parsed = schema.safeParse(options, { reportInput: true });
  if (parsed.success) return parsed.data;
  throw new ConfigurationError(
    parsed.error.issues.map((issue) => {
      const name = issue.path.length === 0 ? "options" : `option ${issue.path.join(".")}`;
      return `${where}: ${name} is ${showValue(issue.input)}: ${issue.message}`;
    }),
  );
}

/** Returns a value as an error message shows it: short, and never the contents of an object. */
export function showValue(value: unknown): string {
  if (typeof value === "string")
    return JSON.stringify(value.length > 64 ? `${value.slice(0, 64)}…` : value);
  if (typeof value === "object" && value !== null)
    return Array.isArray(value) ? "a list" : "an object";
  return typeof value === "function" ? "a function" : String(value);
}
