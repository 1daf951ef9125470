import { isDeepStrictEqual } from "node:util";
import type { JsonValue, PluginStateOptions } from "@holdfast/core";

/** Returns what is wrong with the options of a plugin's state. */
export function initialFaults<T extends JsonValue>(options: PluginStateOptions<T>): string[] {
  const { initial, version = 1, migrate } = options;
  const faults = valueFaults(options, initial(), "the initial value");
  const first = initial();
  if (typeof first === "object" && first !== null && first === initial())
    faults.push("initial returns the same object twice: sessions would share it");
  if (version > 1 && migrate === undefined)
    faults.push(`version ${version} has no migrate: states of version ${version - 1} are lost`);
  return faults;
}

/** Returns what is wrong with a value of a plugin's state; `what` is the subject of the sentences. */
export function valueFaults<T extends JsonValue>(
  { schema }: PluginStateOptions<T>,
  value: T,
  what: string,
): string[] {
  const text = JSON.stringify(value) as string | undefined;
  if (text === undefined) return [`${what} is nothing that JSON can hold`];
  const copy: unknown = JSON.parse(text);
  if (!isDeepStrictEqual(copy, value)) return [`${what} is another one after JSON`];
  const result = schema["~standard"].validate(copy);
  if (result instanceof Promise) return ["the schema is asynchronous"];
  if (result.issues) return [`${what} does not fit the schema`];
  return isDeepStrictEqual(result.value, copy) ? [] : [`the schema changes ${what}`];
}
