import { characterEstimate, type Model, type Slot } from "@holdfast/core";
import { askModel } from "@holdfast/core/plugin-kit";
import { MemoryFiles } from "../src/files/memory-files.js";
import { type MemoryFlushOptions, readOptions } from "../src/memory-flush-options.js";
import type { MemoryParts } from "../src/memory-parts.js";
import type { MemoryWorld } from "./memory-world.js";

/** What the operations of a process throw from the moment it died. */
class Died extends Error {}

/** How a process comes to its end: at its n-th operation on something shared, before it or after. */
export interface Death {
  readonly operation: number;
  readonly isAfter: boolean;
}

/** The parts of a process that dies at some operation: from then on it changes nothing any more. */
export function crashingParts(
  world: MemoryWorld,
  model: Model,
  options: MemoryFlushOptions = {},
  death: Death | null = null,
): MemoryParts & { readonly operations: () => number } {
  let operations = 0;
  let isDead = false;
  const dying = <T extends object>(port: T): T =>
    new Proxy(port, {
      get(target, name) {
        const value: unknown = Reflect.get(target, name);
        if (typeof value !== "function") return value;
        return async (...args: unknown[]) => {
          if (isDead) throw new Died();
          const isLast = operations++ === death?.operation;
          if (isLast && !death?.isAfter) isDead = true;
          if (isDead) throw new Died();
          const result: unknown = await value.apply(target, args);
          if (isLast) isDead = true;
          if (isDead) throw new Died();
          return result;
        };
      },
    });
  const { log, stateStore, keyValue, gate } = world.store;
  return {
    settings: readOptions({ ...options, model }),
    agentId: "agent",
    files: new MemoryFiles(dying(world.filesystem)),
    log: dying(log),
    stateStore: dying(stateStore),
    keyValue: dying(keyValue),
    // A lease ends with its process; that takes time, which these tests skip.
    gate,
    model,
    ask: ({ from: _, ...question }) => askModel({ ...question, emit: () => {} }),
    counter: () => characterEstimate(),
    now: () => new Date(world.time),
    emit: (_slot: Slot) => undefined,
    operations: () => operations,
  };
}
