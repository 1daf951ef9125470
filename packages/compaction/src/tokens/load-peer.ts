import { createRequire } from "node:module";
import { ConfigurationError } from "@holdfast/core";

/** Loads synchronously, because a counter is made in synchronous code, and only on demand, because its package is optional. */
const requireHere = createRequire(import.meta.url);

/**
 * Loads a file of an optional peer dependency, such as `tiktoken/lite`.
 *
 * @throws `ConfigurationError` when the package is missing or does not load.
 */
export function loadPeer(path: string, require: (path: string) => unknown = requireHere): unknown {
  try {
    return require(path);
  } catch (cause) {
    const peer = path.split("/", 1)[0];
    const missing = cause instanceof Error && "code" in cause && cause.code === "MODULE_NOT_FOUND";
    throw new ConfigurationError(
      `${missing ? `package ${peer} is not installed` : `${path} does not load`}: run "npm install ${peer}", ` +
        "or use characterEstimate() of @holdfast/core, which needs no package",
      { cause },
    );
  }
}
