import { createRequire } from "node:module";
import { ConfigurationError } from "@holdfast/core";

/**
 * Loads a file of an optional peer dependency, such as `tiktoken/lite`: synchronously, because a counter is made in
 * synchronous code, and on demand, because its package is optional. A bundler does not see it, and there may be no files
 * beside a bundle: that is what the counters' option `encoder` is for.
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
        'pass it as the option "encoder" if this program is bundled, or use characterEstimate() of ' +
        "@holdfast/core, which needs no package",
      { cause },
    );
  }
}

/** Made on demand: bundles in CommonJS have no `import.meta.url`, and load all the same. */
function requireHere(path: string): unknown {
  return createRequire(import.meta.url)(path);
}
