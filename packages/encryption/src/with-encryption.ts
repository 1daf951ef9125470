import type { AgentStateStore, DistributedStore } from "@holdfast/core";
import { ConfigurationError } from "@holdfast/core";
import { EncryptedEventFeed } from "./encrypted-event-feed.js";
import { EncryptedGate } from "./encrypted-gate.js";
import { EncryptedKeyValueStore } from "./encrypted-key-value-store.js";
import { EncryptedLog } from "./encrypted-log.js";
import { EncryptedSignalBus } from "./encrypted-signal-bus.js";
import { EncryptedStateStore, type StoreParts, type WrapParts } from "./encrypted-state-store.js";
import { type EncryptionOptions, type KeyRing, readKeyRing } from "./key-ring.js";

/** Parts that can be encrypted together: a `DistributedStore` or some of its parts. */
export type EncryptableParts = {
  readonly [P in keyof DistributedStore]?: DistributedStore[P] | undefined;
};

/** Encrypted parts, under the names that were passed. */
export type EncryptedParts<T> = {
  readonly [P in keyof T as P & keyof DistributedStore]: P extends keyof DistributedStore
    ? NonNullable<DistributedStore[P]> | Extract<T[P], undefined>
    : never;
};

/**
 * Encrypts the data of a store: every head, message, log record, value, signal and batch of events by itself, with AES-256-GCM, bound to its
 * place. Works with every store; the backend needs no support for it.
 *
 * Contract, beyond that of each part:
 * - Data that was changed, moved or exchanged does not open and is refused with `StateCorruptError`.
 * - Ids, roles, times, counts and sizes stay readable, and so do namespaces and keys of values.
 * - The inner store must honour `StateWrite.revision`.
 * - Gate and log stay fused if they were. Wrap parts that belong together in one call; closing closes the inner store.
 *
 * @throws ConfigurationError for invalid keys; it never shows them
 * @example
 * const store = withEncryption(new JsonFileAgentStateStore(), {
 *   keys: [{ id: "2026-11", key: process.env["STATE_KEY"] ?? "" }],
 * });
 */
export function withEncryption(store: AgentStateStore, options: EncryptionOptions): AgentStateStore;
export function withEncryption<T extends EncryptableParts>(
  parts: T,
  options: EncryptionOptions,
): EncryptedParts<T>;
export function withEncryption(
  parts: AgentStateStore | EncryptableParts,
  options: EncryptionOptions,
): AgentStateStore | EncryptableParts {
  const ring = readKeyRing(options);
  checkParts(parts);
  if (isStateStore(parts)) return wrapper(ring)("stateStore", parts);
  const wrap = wrapper(ring);
  const wrapped = partNames.flatMap((name) => {
    const part = parts[name];
    return part === undefined ? [] : [[name, wrap(name, part)] as const];
  });
  if (wrapped.length === 0) throw new ConfigurationError(needed);
  return Object.fromEntries(wrapped);
}

/** @throws ConfigurationError for what cannot be a part, which would fail at the first command else */
function checkParts(parts: unknown): void {
  if (typeof parts !== "object" || parts === null) throw new ConfigurationError(needed);
  const given = partNames.map((name) => [name, (parts as EncryptableParts)[name]] as const);
  const problems = given.flatMap(([name, part]: readonly [string, unknown]) =>
    part === undefined || (typeof part === "object" && part !== null)
      ? []
      : [`withEncryption: ${name} is not an object, and so no part of a store`],
  );
  if (problems.length > 0) throw new ConfigurationError(problems);
}

const partNames = ["stateStore", "log", "keyValue", "gate", "signals", "eventFeed"] as const;

const needed = `withEncryption: pass a state store, or an object with any of ${partNames.join(", ")}`;

function isStateStore(parts: AgentStateStore | EncryptableParts): parts is AgentStateStore {
  return "load" in parts && "save" in parts;
}

/** Wraps each part once: an agent recognises by identity the gate and log that its state store fuses. */
function wrapper(ring: KeyRing): WrapParts {
  const wrapped = new Map(partNames.map((name) => [name, new Map<object, unknown>()]));
  const make: {
    [P in keyof StoreParts]: (inner: StoreParts[P]) => StoreParts[P];
  } = {
    stateStore: (inner) => new EncryptedStateStore(inner, ring, wrap),
    log: (inner) => new EncryptedLog(inner, ring),
    keyValue: (inner) => new EncryptedKeyValueStore(inner, ring),
    gate: (inner) => new EncryptedGate(inner, ring),
    signals: (inner) => new EncryptedSignalBus(inner, ring),
    eventFeed: (inner) => new EncryptedEventFeed(inner, ring),
  };
  function wrap<P extends keyof StoreParts>(part: P, inner: StoreParts[P]): StoreParts[P] {
    const known = wrapped.get(part)?.get(inner) as StoreParts[P] | undefined;
    const made = known ?? make[part](inner);
    wrapped.get(part)?.set(inner, made);
    return made;
  }
  return wrap;
}
