import { type DistributedStore, InMemoryAgentStateStore, type Reach } from "@holdfast/core";

/** A complete in-memory set of parts. */
export function inMemoryParts(): DistributedStore {
  return new InMemoryAgentStateStore({ fused: false }).companions();
}

/** The same object with some properties replaced. */
function overriding<T extends object>(part: T, changes: Partial<T>): T {
  return new Proxy(part, {
    get(target, key) {
      if (Object.hasOwn(changes, key)) return Reflect.get(changes, key);
      const value: unknown = Reflect.get(target, key, target);
      return typeof value === "function" ? value.bind(target) : value;
    },
  });
}

/** The same part, claiming another reach: what a shared backend looks like to the builder. */
export function reaching<T extends { readonly reach: Reach }>(reach: Reach, part: T): T {
  return overriding(part, { reach } as Partial<T>);
}

/** The same store, without the parts that come with it. */
export function withoutCompanions(
  store: DistributedStore["stateStore"],
): DistributedStore["stateStore"] {
  return overriding(store, { companions: undefined } as object);
}

/** In-memory parts that all claim to be distributed. */
export function distributedParts(): DistributedStore {
  const { stateStore, log, gate, signals, keyValue } = inMemoryParts();
  const parts: DistributedStore = {
    stateStore: overriding(stateStore, { reach: "distributed", companions: () => parts }),
    log: reaching("distributed", log),
    gate: reaching("distributed", gate),
    signals: reaching("distributed", signals),
    keyValue: reaching("distributed", keyValue),
  };
  return parts;
}

/** The same store, telling when it is closed. */
export function countingCloses(
  store: DistributedStore["stateStore"],
  onClose: () => void,
): DistributedStore["stateStore"] {
  return overriding(store, {
    close: async () => {
      onClose();
      await store.close();
    },
  });
}
