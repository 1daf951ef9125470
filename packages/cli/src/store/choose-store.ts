import { resolve } from "node:path";
import { isRecord } from "@holdfast/core/plugin-kit";
import type { HoldfastConfig } from "../config/define-config.js";
import { type LoadedConfig, loadConfig } from "../config/load-config.js";
import { CommandError, exitCodes } from "../exit-code.js";
import type { Terminal } from "../terminal/terminal.js";
import { type OpenedStore, openStore } from "./open-store.js";

/** Options that name a store. */
export interface StoreChoice {
  readonly store?: string | undefined;
  readonly workspace?: string | undefined;
  readonly config?: string | undefined;
}

/** Options of {@link chooseStore}. */
export interface ChooseOptions {
  /** Config file, if it is loaded already; null when there is none. */
  readonly config?: LoadedConfig | null | undefined;
  /** Accept a directory or tables that do not exist; they are created at the first save. @default false */
  readonly mayBeNew?: boolean | undefined;
}

/** Store and the origin of the choice. */
export interface ChosenStore extends OpenedStore, AsyncDisposable {
  readonly source: "--store" | "HOLDFAST_STORE" | "config" | "default";
}

/** Default workspace of the harness, with the agent's files and its log. */
export const DEFAULT_WORKSPACE = "./.holdfast/workspace";

/** Parts that a store of a config file must have. */
const partNames = ["stateStore", "log", "gate", "signals", "keyValue"] as const;

/**
 * Opens the store of `--store`, else of the environment, else of the config file, else the default of the harness. The
 * default is announced on stderr, so that an empty one is not taken for another.
 *
 * @throws CommandError (3) for a named directory or tables that do not exist, unless `mayBeNew`
 */
export async function chooseStore(
  terminal: Terminal,
  choice: StoreChoice,
  { config, mayBeNew = false }: ChooseOptions = {},
): Promise<ChosenStore> {
  // Reading from a mistyped place must not create a directory or tables there.
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

/** Opens the default store of the harness: states below the home directory, the log in the workspace. */
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
      `${file} cannot be used: its store must be a state store with companions(), or an object with ${partNames.join(", ")}`,
    );
  return {
    url: `${parts.stateStore.kind} (of the config file)`,
    parts,
    backend: { kind: "custom" },
    close: () => parts.stateStore.close(),
  };
}

function disposable(store: OpenedStore, source: ChosenStore["source"]): ChosenStore {
  // Everything is written by then: a failing close must not hide the error of the command.
  const close = (): Promise<void> => store.close().catch(() => undefined);
  return { ...store, source, close, [Symbol.asyncDispose]: close };
}
