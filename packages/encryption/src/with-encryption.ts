import type { AgentStateStore, DistributedStore } from "@holdfast/core";
import { ConfigurationError } from "@holdfast/core";
import { EncryptedGate } from "./encrypted-gate.js";
import { EncryptedKeyValueStore } from "./encrypted-key-value-store.js";
import { EncryptedLog } from "./encrypted-log.js";
import { EncryptedSignalBus } from "./encrypted-signal-bus.js";
import { EncryptedStateStore, type WrapParts } from "./encrypted-state-store.js";
import { type EncryptionOptions, type KeyRing, readKeyRing } from "./key-ring.js";

/** Parts that can be encrypted together: a `DistributedStore`, or some of its parts. */
export type EncryptableParts = {
  readonly [P in keyof DistributedStore]?: DistributedStore[P] | undefined;
};

/** The parts that were passed, encrypted. */
export type EncryptedParts<T> = {
  readonly [P in keyof T as P & keyof DistributedStore]: P extends keyof DistributedStore
    ? DistributedStore[P] | Extract<T[P], undefined>
    : never;
};

/**
 * Encrypts what a store keeps: every head, message, log record, value and signal by itself, with AES-256-GCM, bound to
 * the place it belongs to. Works over every store; the backend needs no support for it.
 *
 * Contract, beyond that of each part:
 * - What does not open in its place, because it was changed, moved or exchanged, is `StateCorruptError`.
 * - Ids, roles, times, counts and sizes stay readable, and so do namespaces and keys of values.
 * - The store behind must honour `StateWrite.revision`.
 * - Gate and log stay fused where they were. Parts wrapped in one call belong together; closing closes what is behind.
 *
 * @throws ConfigurationError for keys that are none; it never shows them
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
  if (isStateStore(parts)) return wrapper(ring)("stateStore", parts);
  const wrap = wrapper(ring);
  const wrapped = partNames.flatMap((name) => {
    const part = parts[name];
    return part === undefined ? [] : [[name, wrap(name, part)] as const];
  });
  if (wrapped.length === 0)
    throw new ConfigurationError(
      `withEncryption: pass a state store, or an object with any of ${partNames.join(", ")}`,
    );
  return Object.fromEntries(wrapped);
}

const partNames = ["stateStore", "log", "keyValue", "gate", "signals"] as const;

function isStateStore(parts: AgentStateStore | EncryptableParts): parts is AgentStateStore {
  return "load" in parts && "save" in parts;
}

/** Wraps parts, each once: an agent knows by identity that its gate and log are those its state store fuses. */
function wrapper(ring: KeyRing): WrapParts {
  const wrapped = new Map(partNames.map((name) => [name, new Map<object, unknown>()]));
  const make: {
    [P in keyof DistributedStore]: (inner: DistributedStore[P]) => DistributedStore[P];
  } = {
    stateStore: (inner) => new EncryptedStateStore(inner, ring, wrap),
    log: (inner) => new EncryptedLog(inner, ring),
    keyValue: (inner) => new EncryptedKeyValueStore(inner, ring),
    gate: (inner) => new EncryptedGate(inner, ring),
    signals: (inner) => new EncryptedSignalBus(inner, ring),
  };
  function wrap<P extends keyof DistributedStore>(
    part: P,
    inner: DistributedStore[P],
  ): DistributedStore[P] {
    const known = wrapped.get(part)?.get(inner) as DistributedStore[P] | undefined;
    const made = known ?? make[part](inner);
    wrapped.get(part)?.set(inner, made);
    return made;
  }
  return wrap;
}
