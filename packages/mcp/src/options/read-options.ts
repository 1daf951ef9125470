import { ConfigurationError } from "@holdfast/core";
import { isRecord, parseOptions } from "@holdfast/core/plugin-kit";
import { longestTimerMs } from "@holdfast/core/store-kit";
import * as z from "zod";
import type { McpServerChange, McpToolsOptions } from "./mcp-tools-options.js";
import { readEndpoint } from "./read-endpoint.js";
import type { ServerSettings } from "./server-settings.js";

/** {@link McpToolsOptions} with the defaults filled in. */
export interface McpToolsSettings {
  /** In the order they were given. */
  readonly servers: readonly ServerSettings[];
  readonly onServerChange: ((change: McpServerChange) => void) | undefined;
}

const milliseconds = z.int().min(1).max(longestTimerMs);
const count = z.int().min(1);
const names = z.array(z.string().min(1));

const group = z.union(
  [
    z
      .string()
      .min(1)
      .transform((name) => ({ name })),
    z.strictObject({
      name: z.string().min(1),
      description: z.string().optional(),
      active: z.boolean().optional(),
    }),
  ],
  "must be the name of a group, or { name, description?, active? }",
);

const common = z.strictObject({
  group: group.optional(),
  include: names.optional(),
  exclude: names.default([]),
  prefix: z
    .string()
    .regex(/^[a-zA-Z0-9_-]{0,40}$/, "must be letters, digits, _ and -, at most 40 of them")
    .optional(),
  timeoutMs: milliseconds.default(60_000),
  maxTimeoutMs: milliseconds.optional(),
  connectTimeoutMs: milliseconds.default(30_000),
  required: z.boolean().default(false),
  trustAnnotations: z.boolean().default(false),
  maxTools: count.default(128),
  maxDescriptionChars: count.default(4_000),
  maxSchemaChars: count.default(32_000),
  maxResultChars: count.default(4_000_000),
  maxMessageBytes: count.default(10_485_760),
  maxMessagesPerSecond: count.default(1_000),
  maxBytesPerSecond: count.default(20_971_520),
  maxUnsentBytes: count.default(8_388_608),
  writeTimeoutMs: milliseconds.default(30_000),
  retry: z
    .strictObject({
      baseDelayMs: milliseconds.default(500),
      maxDelayMs: milliseconds.default(30_000),
    })
    .prefault({}),
});

const outer = z.strictObject({
  servers: z.custom<Record<string, unknown>>(isRecord, "must be an object of servers by name"),
  onServerChange: z
    .custom<(change: McpServerChange) => void>((value) => typeof value === "function")
    .optional(),
});

/**
 * Checks options and fills in defaults.
 *
 * @throws ConfigurationError with every problem found, without values that may be secret
 */
export function readOptions(options: McpToolsOptions): McpToolsSettings {
  const { servers, onServerChange } = parseOptions(outer, options, "mcpTools");
  const problems: string[] = [];
  const read = Object.entries(servers).flatMap(([name, server]) => {
    try {
      return [readServer(name, server)];
    } catch (error) {
      if (!ConfigurationError.is(error)) throw error;
      problems.push(...error.problems);
      return [];
    }
  });
  if (problems.length > 0) throw new ConfigurationError(problems);
  return { servers: read, onServerChange };
}

function readServer(name: string, options: unknown): ServerSettings {
  const where = `mcpTools: server ${JSON.stringify(name)}`;
  if (!/^[a-zA-Z0-9_-]{1,40}$/.test(name))
    throw new ConfigurationError(
      `${where}: its name must be letters, digits, _ and -, at most 40 of them`,
    );
  const { endpoint, rest } = readEndpoint(options, where);
  const parsed = parseOptions(common, rest, where);
  const { maxTimeoutMs = Math.max(300_000, parsed.timeoutMs), retry } = parsed;
  if (maxTimeoutMs < parsed.timeoutMs)
    throw new ConfigurationError(`${where}: maxTimeoutMs is shorter than timeoutMs`);
  if (retry.maxDelayMs < retry.baseDelayMs)
    throw new ConfigurationError(`${where}: retry.maxDelayMs is shorter than retry.baseDelayMs`);
  return {
    ...parsed,
    name,
    endpoint,
    group: parsed.group,
    include: parsed.include && new Set(parsed.include),
    exclude: new Set(parsed.exclude),
    prefix: parsed.prefix ?? `${name}_`,
    maxTimeoutMs,
  };
}
