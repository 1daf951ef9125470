import { ConfigurationError } from "@holdfast/core";
import { isRecord, parseOptions } from "@holdfast/core/plugin-kit";
import * as s from "@holdfast/core/plugin-kit/schema";
import { longestTimerMs } from "@holdfast/core/store-kit";
import type { McpServerChange, McpToolsOptions } from "./mcp-tools-options.js";
import { readEndpoint } from "./read-endpoint.js";
import type { ServerSettings } from "./server-settings.js";

/** {@link McpToolsOptions} with the defaults filled in. */
export interface McpToolsSettings {
  /** In the order they were given. */
  readonly servers: readonly ServerSettings[];
  readonly onServerChange: ((change: McpServerChange) => void) | undefined;
}

const milliseconds = s.int().min(1).max(longestTimerMs);
const count = s.int().min(1);
const names = s.array(s.string().min(1));

const group = s.union(
  [
    s
      .string()
      .min(1)
      .transform((name) => ({ name })),
    s.strictObject({
      name: s.string().min(1),
      description: s.string().optional(),
      active: s.boolean().optional(),
    }),
  ],
  "must be the name of a group, or { name, description?, active? }",
);

const common = s.strictObject({
  group: group.optional(),
  include: names.optional(),
  exclude: names.default([]),
  prefix: s
    .string()
    .regex(/^[a-zA-Z0-9_-]{0,40}$/, "must be letters, digits, _ and -, at most 40 of them")
    .optional(),
  timeoutMs: milliseconds.default(60_000),
  maxTimeoutMs: milliseconds.optional(),
  connectTimeoutMs: milliseconds.default(30_000),
  questionTimeoutMs: milliseconds.default(300_000),
  required: s.boolean().default(false),
  trustAnnotations: s.boolean().default(false),
  maxTools: count.default(128),
  maxDescriptionChars: count.default(4_000),
  maxSchemaChars: count.default(32_000),
  maxResultChars: count.default(4_000_000),
  maxMessageBytes: count.default(10_485_760),
  maxMessagesPerSecond: count.default(1_000),
  maxBytesPerSecond: count.default(20_971_520),
  maxUnsentBytes: count.default(8_388_608),
  writeTimeoutMs: milliseconds.default(30_000),
  retry: s
    .strictObject({
      baseDelayMs: milliseconds.default(500),
      maxDelayMs: milliseconds.default(30_000),
    })
    .prefault({}),
});

/** A Map would be an object of no servers. */
const isByName = (value: unknown) =>
  isRecord(value) && !(value instanceof Map) && !(value instanceof Promise);

const outer = s.strictObject({
  servers: s.custom<Record<string, unknown>>(isByName, "must be an object of servers by name"),
  onServerChange: s
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
