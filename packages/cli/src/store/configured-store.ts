import type { AgentStateStore, DistributedStore } from "@holdfast/core";
import { isRecord } from "@holdfast/core/plugin-kit";
import { storeParts } from "@holdfast/core/store-kit";
import type { LoadedConfig } from "../config/load-config.js";
import { CommandError, exitCodes } from "../exit-code.js";
import { type OpenedStore, type OpenStoreOptions, openStore } from "./open-store.js";
import { isBuiltInUrl, parseStoreUrl, type StoreUrl } from "./store-url.js";

/** Name of the config file's own store, where a URL is asked for. */
const CONFIG_STORE = "config";

/** Store that a command names: by a URL that the command knows itself, or by the config file. */
export type NamedStore =
  | { readonly kind: "url"; readonly url: StoreUrl; readonly text: string }
  | {
      readonly kind: "custom";
      /** Without secrets. */
      readonly url: string;
      open(): Promise<OpenedStore>;
    };

/**
 * Finds out what a text names: a store of the command's own, the store of the config file (`config`), or a URL whose scheme is
 * registered in the config file's `stores`.
 *
 * @param from - origin of the text, for errors
 * @param loadConfig - called only when the command does not know the text itself
 * @throws CommandError (2) when nothing is named by it
 */
export async function nameStore(
  text: string,
  from: string,
  loadConfig: () => Promise<LoadedConfig | null>,
): Promise<NamedStore> {
  if (isBuiltInUrl(text)) return { kind: "url", url: parseStoreUrl(text, from), text };
  const loaded = await loadConfig();
  const { store, stores = {} } = loaded?.config ?? {};
  if (text === CONFIG_STORE) {
    if (store === undefined)
      throw new CommandError(
        exitCodes.usage,
        `${from}: ${loaded === null ? "there is no config file" : `${loaded.file} has no store`}`,
      );
    if (typeof store === "string") return nameStore(store, loaded?.file ?? from, loadConfig);
    const url = `${"stateStore" in store ? store.stateStore.kind : store.kind} (of the config file)`;
    return { kind: "custom", url, open: async () => adoptStore(store, url, loaded?.file ?? "") };
  }
  const scheme = /^[a-z][a-z0-9+.-]*(?=:)/iu.exec(text)?.[0].toLowerCase() ?? "";
  const opener = Object.hasOwn(stores, scheme) ? stores[scheme] : undefined;
  // Says which URLs there are.
  if (opener === undefined) return { kind: "url", url: parseStoreUrl(text, from), text };
  const url = text.replace(/\/\/[^@/]*@/u, "//");
  return {
    kind: "custom",
    url,
    open: async () => adoptStore(await opener(text), url, `stores.${scheme} of ${loaded?.file}`),
  };
}

/** Opens a store that {@link nameStore} found. @throws CommandError | StoreUnavailableError */
export function openNamed(named: NamedStore, options: OpenStoreOptions): Promise<OpenedStore> {
  return named.kind === "custom" ? named.open() : openStore(named.text, options);
}

/**
 * Takes over a store that a config file made: closed when the command ends.
 *
 * @param where - origin of the store, for errors
 * @throws CommandError (2) when it is not a whole store
 */
function adoptStore(
  given: DistributedStore | AgentStateStore,
  url: string,
  where: string,
): OpenedStore {
  const parts = !isRecord(given) || "stateStore" in given ? given : given.companions?.();
  const isWhole = isRecord(parts) && storeParts.every((name) => isRecord(parts[name]));
  if (parts === undefined || !isWhole)
    throw new CommandError(
      exitCodes.usage,
      `${where} cannot be used: its store must be a state store with companions(), or an object with ${storeParts.join(", ")}`,
    );
  const { stateStore } = parts as DistributedStore;
  return {
    url,
    parts: parts as DistributedStore,
    backend: { kind: "custom" },
    close: () => stateStore.close(),
  };
}
