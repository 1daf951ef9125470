import { parseOptions } from "@holdfast/core/plugin-kit";
import * as s from "@holdfast/core/plugin-kit/schema";

/** Options of {@link planning}. */
export interface PlanningOptions {
  /**
   * Tools that run in plan mode besides those that only read and the built-in ones: their names, or a function that tells by
   * the name. A shell is never among them unless it is named here. @default []
   */
  readonly allow?: readonly string[] | ((name: string) => boolean) | undefined;
  /** Directory of the plan files in the user's files: one name without slashes. @default "plans" */
  readonly planDirectory?: string | undefined;
  /** Characters that a plan may have. Without a filesystem at most about 60,000 bytes can be kept. @default 20_000 */
  readonly maxPlanChars?: number | undefined;
}

/** {@link PlanningOptions} with the defaults filled in. */
export interface PlanningSettings {
  readonly planDirectory: string;
  readonly maxPlanChars: number;
  /** Tells by its name whether a tool that does not only read may run in plan mode. */
  isAllowed(name: string): boolean;
}

const allow = s.union(
  [
    s.array(s.string().regex(/^[a-zA-Z0-9_-]{1,64}$/, "must be the name of a tool")),
    s.custom<(name: string) => boolean>((value) => typeof value === "function"),
  ],
  "must be a list of tool names, or a function of a tool's name",
);

const optionsSchema = s.strictObject({
  allow: allow.default([]),
  planDirectory: s
    .string()
    .regex(/^[a-zA-Z0-9_-]{1,64}$/, "must be one name of letters, digits, _ and -")
    .default("plans"),
  maxPlanChars: s.int().min(1).max(100_000).default(20_000),
});

/**
 * Checks options and fills in defaults.
 *
 * @throws ConfigurationError
 */
export function readOptions(options: PlanningOptions): PlanningSettings {
  const { allow: allowed, ...settings } = parseOptions(optionsSchema, options, "planning");
  const isAllowed =
    typeof allowed === "function" ? allowed : (name: string) => allowed.includes(name);
  return { ...settings, isAllowed };
}
