import { parseOptions } from "@holdfast/core/plugin-kit";
import * as s from "@holdfast/core/plugin-kit/schema";
import type { HandlerOptions } from "./endpoint.js";
import type { BucketSize } from "./rate-limiter.js";

/** {@link HandlerOptions} with their defaults. */
export interface HandlerSettings extends HandlerOptions {
  readonly maxBodyBytes: number;
  readonly heartbeatMs: number;
  readonly rateLimit: BucketSize | false;
}

const functionOption = s.custom((value) => typeof value === "function", "must be a function");
const count = s.int().min(1);
const bucket = s.strictObject({
  perMinute: s.number().positive().default(120),
  burst: count.default(30),
  maxUsers: count.default(10_000),
});

const shared = {
  agent: s.custom(
    (value) => typeof value === "object" && value !== null && "stream" in value,
    "must be an agent",
  ),
  identify: functionOption,
  maxBodyBytes: count.default(1_048_576),
  rateLimit: s.union([s.literal(false), bucket]).default(bucket.parse({})),
  allowOrigins: s
    .union([s.array(s.string()), functionOption], "must be a list of origins or a function")
    .optional(),
  heartbeatMs: count.default(15_000),
  errorText: functionOption.optional(),
  onError: functionOption.optional(),
};

/**
 * Checks the options of a handler and fills in their defaults.
 *
 * @param own - schemas of the options that this handler has besides those of all
 * @throws ConfigurationError with every wrong option
 */
export function handlerSettings<T extends HandlerOptions>(
  options: T,
  own: Readonly<Record<string, s.Schema>>,
  where: string,
): T & HandlerSettings {
  const schema = s.strictObject({ ...shared, ...own });
  return parseOptions(schema, options, where) as unknown as T & HandlerSettings;
}
