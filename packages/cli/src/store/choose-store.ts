import { resolve } from "node:path";
import { type LoadedConfig, loadConfig } from "../config/load-config.js";
import type { Terminal } from "../terminal/terminal.js";
import { nameStore, openNamed } from "./configured-store.js";
import type { OpenedStore } from "./open-store.js";

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
  const configured = async (): Promise<LoadedConfig | null> =>
    config === undefined ? loadConfig(terminal, choice.config) : config;
  const open = async (text: string, from: string): Promise<OpenedStore> =>
    openNamed(await nameStore(text, from, configured), { mustExist: readOnly, readOnly, from });
  if (choice.store !== undefined) return disposable(await open(choice.store, "--store"), "--store");
  const fromEnvironment = terminal.env["HOLDFAST_STORE"];
  if (fromEnvironment)
    return disposable(await open(fromEnvironment, "HOLDFAST_STORE"), "HOLDFAST_STORE");
  const loaded = await configured();
  const workspace = resolve(choice.workspace ?? loaded?.config.workspace ?? DEFAULT_WORKSPACE);
  if (loaded?.config.store !== undefined) {
    const named = await nameStore("config", loaded.file, async () => loaded);
    return disposable(await openNamed(named, { readOnly, from: loaded.file }), "config");
  }
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

function disposable(store: OpenedStore, source: ChosenStore["source"]): ChosenStore {
  // Everything is written by then: a failing close must not hide the error of the command.
  const close = (): Promise<void> => store.close().catch(() => undefined);
  return { ...store, source, close, [Symbol.asyncDispose]: close };
}
