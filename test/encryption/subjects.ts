import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  type AgentStateStore,
  type DistributedStore,
  InMemoryAgentStateStore,
  StoreUnavailableError,
} from "@holdfast/core";
import { type EncryptionOptions, withEncryption } from "@holdfast/encryption";
import { JsonFileAgentStateStore } from "@holdfast/store-json";
import { freshOptions } from "./keys.js";

/** An encrypted store and what is behind it. */
export interface Subject {
  readonly store: AgentStateStore;
  readonly inner: AgentStateStore;
  readonly options: EncryptionOptions;
}

/** {@link Subject} on files. */
export interface FileSubject extends Subject {
  /** Where the files are. */
  readonly root: string;
}

/** A store in memory, encrypted. */
export function memorySubject(fused = true, options = freshOptions()): Subject {
  const inner = new InMemoryAgentStateStore({ fused });
  return { store: withEncryption(inner, options), inner, options };
}

/** From now on every command on the store fails; what it refuses at once is refused as before. */
export function breakMemory(store: AgentStateStore): void {
  breakMethods(store, ["load", "save", "list", "delete"]);
  if (store.inbox !== undefined) breakMethods(store.inbox, ["put", "read", "remove"]);
}

function breakMethods<T extends object>(target: T, names: readonly (keyof T)[]): void {
  for (const name of names) {
    const method = target[name] as (...values: unknown[]) => Promise<unknown>;
    const failing = async (...values: unknown[]): Promise<never> => {
      await method.apply(target, values);
      throw new StoreUnavailableError("The memory is gone.");
    };
    Object.assign(target, { [name]: failing });
  }
}

/** A store on files, encrypted. */
export function fileSubject(
  options = freshOptions(),
  root = join(mkdtempSync(join(tmpdir(), "holdfast-encryption-")), "state"),
): FileSubject {
  const inner = new JsonFileAgentStateStore({ root, durability: "os" });
  return { store: withEncryption(inner, options), inner, options, root };
}

/** Takes the files away: every command on them fails then. */
export function breakFiles(root: string): void {
  rmSync(root, { recursive: true, force: true });
  writeFileSync(root, "");
}

/** Removes them, with the directory they are in. */
export function removeFiles(root: string): void {
  rmSync(join(root, ".."), { recursive: true, force: true });
}

/** The companions a store must have. */
export function partsOf(store: AgentStateStore): DistributedStore {
  const parts = store.companions?.();
  if (parts === undefined) throw new TypeError("the store has no companions");
  return parts;
}
