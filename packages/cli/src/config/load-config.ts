import { stat } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import { getuid } from "node:process";
import { fileURLToPath, pathToFileURL } from "node:url";
import { ConfigurationError } from "@holdfast/core";
import { isRecord, parseOptions } from "@holdfast/core/plugin-kit";
import * as s from "@holdfast/core/plugin-kit/schema";
import { CommandError, exitCodes } from "../exit-code.js";
import type { Terminal } from "../terminal/terminal.js";
import type { HoldfastConfig, StoreOpener } from "./define-config.js";

/** Config file and its contents. */
export interface LoadedConfig {
  readonly file: string;
  readonly config: HoldfastConfig;
}

const filled = s.string().refine((value) => value.trim() !== "", "must not be blank");
const object = (what: string): s.Schema<never> => s.custom<never>(isRecord, `must be ${what}`);

const configSchema: s.Schema<HoldfastConfig> = s.strictObject({
  model: s
    .union([filled, object("a model")], "must be a model or its name, as provider/id")
    .optional(),
  store: s.union([filled, object("a store")], "must be a store or its URL").optional(),
  stores: s
    .record(
      s.string().regex(/^[a-z][a-z0-9+.-]*$/u, "must be the scheme of a URL, in lower case"),
      s.custom<StoreOpener>(
        (value) => typeof value === "function",
        "must be a function that gets the URL and returns the store; of a module, pass the function that it exports",
      ),
    )
    .optional(),
  agent: filled.optional(),
  systemPrompt: s.string().optional(),
  workspace: filled.optional(),
  tools: s.array(object("a tool")).optional(),
  plugins: s.array(object("a plugin")).optional(),
  acp: s.strictObject({ auth: object("a way to sign in").optional() }).optional(),
  price: s
    .custom<HoldfastConfig["price"]>((value) => typeof value === "function", "must be a function")
    .optional(),
  configure: s
    .custom<HoldfastConfig["configure"]>(
      (value) => typeof value === "function",
      "must be a function",
    )
    .optional(),
});

/**
 * Loads the named config file, else the nearest one from the working directory upwards; null when there is none.
 *
 * @throws CommandError when the file does not exist (3), or is invalid (2)
 */
export async function loadConfig(
  terminal: Terminal,
  named: string | undefined,
): Promise<LoadedConfig | null> {
  const file = named === undefined ? await findConfig(terminal, process.cwd()) : resolve(named);
  if (file === null) return null;
  if (named !== undefined && !(await stat(file).catch(() => undefined))?.isFile())
    throw new CommandError(exitCodes.notFound, `--config: there is no file ${file}`);
  try {
    const exported = await withOutputOnStderr(async () => {
      const value = await importFile(file);
      return typeof value === "function" ? value() : value;
    });
    const config = parseOptions(configSchema, exported, "the default export");
    return { file, config: withPaths(config, dirname(file)) };
  } catch (error) {
    const reason = ConfigurationError.is(error) ? error.message : reasonOf(error);
    throw new CommandError(exitCodes.usage, `${file} cannot be used: ${reason}`, { cause: error });
  }
}

/** Resolves paths from the directory of the config file, not from the working directory. */
function withPaths(config: HoldfastConfig, base: string): HoldfastConfig {
  const { workspace, store } = config;
  const isDirectory = typeof store === "string" && /^json:(?!~)./u.test(store);
  return {
    ...config,
    ...(workspace !== undefined && { workspace: resolve(base, workspace) }),
    ...(isDirectory && { store: `json:${resolve(base, store.slice("json:".length))}` }),
  };
}

async function importFile(file: string): Promise<unknown> {
  const module = (await importNatively(file)) ?? (await importWithJiti(file));
  if (module.default === undefined) throw new Error("it has no default export");
  return module.default;
}

interface ConfigModule {
  readonly default?: unknown;
}

/** Imports what Node.js understands by itself, as jiti would do first; loading jiti takes longer than all of a small config. */
async function importNatively(file: string): Promise<ConfigModule | null> {
  if (!file.endsWith(".mjs")) return null;
  // jiti resolves more than Node.js does, and its error is the one to show.
  return import(pathToFileURL(file).href).catch(() => null);
}

async function importWithJiti(file: string): Promise<ConfigModule> {
  const { createJiti } = await import("jiti");
  const jiti = createJiti(import.meta.url, {
    // No cache on disk: a config is small, and another user could have written the cache.
    fsCache: false,
    moduleCache: false,
    interopDefault: false,
    // Works also where only the command is installed.
    alias: { "@holdfast/cli": fileURLToPath(import.meta.resolve("@holdfast/cli")) },
  });
  return jiti.import<ConfigModule>(file);
}

/** Redirects the output of a config file to stderr: stdout is for the command's own output, which may be JSON. */
async function withOutputOnStderr<T>(work: () => Promise<T>): Promise<T> {
  const { log, info, debug } = console;
  Object.assign(console, { log: console.error, info: console.error, debug: console.error });
  try {
    return await work();
  } finally {
    Object.assign(console, { log, info, debug });
  }
}

/** Returns the message of an error without its stack. */
function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return `${error.name === "Error" ? "" : `${error.name}: `}${error.message}`;
}

/** Names of a config file, in order of precedence. */
const configNames: readonly string[] = [
  "holdfast.config.ts",
  "holdfast.config.mts",
  "holdfast.config.js",
  "holdfast.config.mjs",
];

/**
 * Finds the config file of a directory or of the nearest one above it. A file owned by another user is skipped with a
 * warning: in a shared directory such as /tmp it would be foreign code.
 *
 * @param uid - current user; undefined where files have no owners
 */
export async function findConfig(
  terminal: Terminal,
  from: string,
  uid: number | undefined = getuid?.(),
): Promise<string | null> {
  for (let directory = from; ; directory = dirname(directory)) {
    for (const name of configNames) {
      const file = join(directory, name);
      const found = await stat(file).catch(() => undefined);
      if (!found?.isFile()) continue;
      if (uid === undefined || found.uid === uid || found.uid === 0) return file;
      terminal.warn(
        `${file} belongs to another user and is not loaded; to load it, name it with --config`,
      );
    }
    if (dirname(directory) === directory) return null;
  }
}
