import { resolve } from "node:path";
import { isRecord } from "@holdfast/core/plugin-kit";
import type { HoldfastConfig } from "../config/define-config.js";
import { type LoadedConfig, loadConfig } from "../config/load-config.js";
import { CommandError, exitCodes } from "../exit-code.js";
import type { Terminal } from "../terminal/terminal.js";
import { type OpenedStore, openStore } from "./open-store.js";

/** Where to look for a store. */
export interface StoreChoice {
  readonly store?: string | undefined;
  readonly workspace?: string | undefined;
  readonly config?: string | undefined;
}

/** How {@link chooseStore} goes about it. */
export interface ChooseOptions {
  /** The config file, when it is loaded already; null when there is none. */
  readonly config?: LoadedConfig | null | undefined;
  /** A directory or tables that are not there yet will do: they are made when something is saved. @default false */
  readonly mayBeNew?: boolean | undefined;
}

/** A store, and who named it. */
export interface ChosenStore extends OpenedStore, AsyncDisposable {
  readonly source: "--store" | "HOLDFAST_STORE" | "config" | "default";
}

/** Where the harness keeps the agent's files and its log when nothing else is said. */
export const DEFAULT_WORKSPACE = "./.holdfast/workspace";

/** What a store in a config file has to bring. */
const partNames = ["stateStore", "log", "gate", "signals", "keyValue"] as const;

/**
 * The store of `--store`, else of the environment, else of the config file, else what the harness uses by default. It says
 * on stderr when it is the default, so that nobody takes an empty one for their own.
 *
 * @throws CommandError (3) for a directory or tables that were named and are not there, unless something is to be saved in it
 */
export async function chooseStore(
  terminal: Terminal,
  choice: StoreChoice,
  { config, mayBeNew = false }: ChooseOptions = {},
): Promise<ChosenStore> {
  // What was ever saved has its directory, or its tables: a look at a mistyped place must not make any.
  const readOnly = !mayBeNew;
  const named = { mustExist: readOnly, readOnly };
  if (choice.store !== undefined)
    return disposable(await openStore(choice.store, named), "--store");
  const fromEnvironment = terminal.env["HOLDFAST_STORE"];
  if (fromEnvironment)
    return disposable(
      await openStore(fromEnvironment, { ...named, from: "HOLDFAST_STORE" }),
      "HOLDFAST_STORE",
    );
  const loaded = config === undefined ? await loadConfig(terminal, choice.config) : config;
  const workspace = resolve(choice.workspace ?? loaded?.config.workspace ?? DEFAULT_WORKSPACE);
  const configured = loaded?.config.store;
  if (typeof configured === "string")
    return disposable(
      await openStore(configured, { readOnly, from: loaded?.file ?? "the config file" }),
      "config",
    );
  if (configured !== undefined)
    return disposable(adopted(configured, loaded?.file ?? ""), "config");
  const store = await openDefault(terminal.env["HOLDFAST_STATE_HOME"] || undefined, workspace);
  terminal.warn(`store: ${store.url}, the default; its log is in ${workspace}`);
  return disposable(store, "default");
}

/** As the harness: states below the home directory, the log among the files of the workspace. */
async function openDefault(root: string | undefined, workspace: string): Promise<OpenedStore> {
  const { JsonFileAgentStateStore, JsonlConversationLog } = await import("@holdfast/store-json");
  const store = new JsonFileAgentStateStore({ root });
  return {
    url: `json:${store.root}`,
    parts: { ...store.companions(), log: new JsonlConversationLog({ root: workspace }) },
    backend: { kind: "json", root: store.root },
    close: () => store.close(),
  };
}

function adopted(
  given: Exclude<HoldfastConfig["store"], string | undefined>,
  file: string,
): OpenedStore {
  const parts = "stateStore" in given ? given : given.companions?.();
  const isWhole = isRecord(parts) && partNames.every((name) => isRecord(parts[name]));
  if (parts === undefined || !isWhole)
    throw new CommandError(
      exitCodes.usage,
      `${file} cannot be used: its store is no state store with companions(), and not all of ${partNames.join(", ")}`,
    );
  return {
    url: `${parts.stateStore.kind} (of the config file)`,
    parts,
    backend: { kind: "custom" },
    close: () => parts.stateStore.close(),
  };
}

function disposable(store: OpenedStore, source: ChosenStore["source"]): ChosenStore {
  // Everything is written by then: a server that went away must not hide what the command failed with.
  const close = (): Promise<void> => store.close().catch(() => undefined);
  return { ...store, source, close, [Symbol.asyncDispose]: close };
}
