import type { Compactor, Middleware, Plugin, PluginHost, Slot } from "@holdfast/core";
import { initialFaults, valueFaults } from "./state-faults.js";

/** A plugin under watch, and what it was seen doing in all agents that it was set up for. */
export interface WatchedPlugin {
  /** The plugin, to be used instead of the original. */
  readonly plugin: Plugin;
  /** Names of the hooks that ran. */
  readonly ran: ReadonlySet<string>;
  /** Hooks that did not call `next` once. */
  readonly nextFaults: readonly string[];
  /** Values of steps that were changed in place. */
  readonly mutations: readonly string[];
  /** Values of the plugin's state that JSON or its own schema would not keep. */
  readonly stateFaults: readonly string[];
  /** Types of the events that it emitted. */
  readonly emitted: ReadonlySet<string>;
  /** Events that could not be emitted. */
  readonly eventFaults: readonly string[];
  readonly onClose: readonly (() => void | Promise<void>)[];
  readonly onDelete: readonly ((slot: Slot) => Promise<void>)[];
  readonly onDeleteUser: readonly ((userId: string) => Promise<void>)[];
}

/** Puts a plugin under watch. */
export function watchPlugin(plugin: Plugin): WatchedPlugin {
  const ran = new Set<string>();
  const nextFaults: string[] = [];
  const mutations: string[] = [];
  const stateFaults: string[] = [];
  const emitted = new Set<string>();
  const eventFaults: string[] = [];
  const onClose: (() => void | Promise<void>)[] = [];
  const onDelete: ((slot: Slot) => Promise<void>)[] = [];
  const onDeleteUser: ((userId: string) => Promise<void>)[] = [];
  const emitter = watchEmitter({ emitted, eventFaults });
  const faults = { ran, nextFaults, mutations, emitter };
  const watched = (host: PluginHost): PluginHost => ({
    ...host,
    use: (middleware) => host.use(watchMiddleware(middleware, faults)),
    state: (options) => {
      const access = host.state(options);
      stateFaults.push(...initialFaults(options));
      return {
        get: (state) => access.get(state),
        set: (state, value) => {
          stateFaults.push(...valueFaults(options, value, "a value that was set"));
          access.set(state, value);
        },
      };
    },
    provide: (port, implementation) =>
      host.provide(
        port,
        port === "compactor" ? withCompact(implementation, emitter) : implementation,
      ),
    ...{ emit: emitter(host).emit },
    onClose: (run) => {
      onClose.push(run);
      host.onClose(run);
    },
    onDelete: (run) => {
      onDelete.push(run);
      host.onDelete(run);
    },
    onDeleteUser: (run) => {
      onDeleteUser.push(run);
      host.onDeleteUser(run);
    },
  });
  return {
    plugin: { ...plugin, setup: (host) => plugin.setup(watched(host)) },
    ...{ ran, nextFaults, mutations, stateFaults, emitted, eventFaults },
    ...{ onClose, onDelete, onDeleteUser },
  };
}

/** Returns an object like the one given, whose `emit` is under watch. */
type WatchEmitter = <T extends { emit(...event: never): void }>(value: T) => T;

function watchEmitter(seen: {
  readonly emitted: Set<string>;
  readonly eventFaults: string[];
}): WatchEmitter {
  return (value) => {
    const emit = (...event: unknown[]): void => {
      try {
        Reflect.apply(value.emit, value, event);
        seen.emitted.add((event.at(-1) as { readonly type: string }).type);
      } catch (error) {
        seen.eventFaults.push(error instanceof Error ? error.message : String(error));
        throw error;
      }
    };
    // Not a copy: a hook may assign to its step, and the hooks inside it read what it assigned.
    return new Proxy(value, {
      get: (target, key) => (key === "emit" ? emit : Reflect.get(target, key, target)),
    });
  };
}

/** Puts the requests of a compactor under watch. */
function withCompact<T>(compactor: T, emitter: WatchEmitter): T {
  const { proactive, compact } = compactor as Compactor;
  const watched: Compactor = {
    ...(proactive !== undefined && { proactive }),
    compact: (request) => compact.call(compactor as Compactor, emitter(request)),
  };
  return watched as T;
}

interface HookFaults {
  readonly emitter: WatchEmitter;
  readonly ran: Set<string>;
  readonly nextFaults: string[];
  readonly mutations: string[];
}

type Hook = (first: unknown, second: unknown) => unknown;

/** Wraps every hook of a middleware; everything else of it stays. */
function watchMiddleware(middleware: Middleware, faults: HookFaults): Middleware {
  const hooks = Object.entries(allProperties(middleware)).flatMap(([name, value]) =>
    name.startsWith("on") && typeof value === "function"
      ? [[name, watchHook(`${name} of "${middleware.name}"`, value.bind(middleware), faults)]]
      : [],
  );
  return { ...middleware, name: middleware.name, ...Object.fromEntries(hooks) };
}

/** Properties of an object, those of its class included. */
function allProperties(value: object): Record<string, unknown> {
  const names = new Set<string>();
  for (
    let one: object | null = value;
    one && one !== Object.prototype;
    one = Object.getPrototypeOf(one)
  )
    for (const name of Object.getOwnPropertyNames(one)) names.add(name);
  return Object.fromEntries([...names].map((name) => [name, Reflect.get(value, name)]));
}

function watchHook(where: string, hook: Hook, faults: HookFaults): Hook {
  return (first, second) => {
    faults.ran.add(where);
    const changed = changeDetector(first);
    let calls = 0;
    const finish = (threw: boolean): void => {
      if (typeof second === "function" && (calls > 1 || (calls === 0 && !threw)))
        faults.nextFaults.push(`${where} called next ${calls} times`);
      const what = changed();
      if (what !== null) faults.mutations.push(`${where} changed ${what} in place`);
    };
    const next = () => {
      calls++;
      return (second as () => unknown)();
    };
    let returned: unknown;
    try {
      returned = hook(
        watchStep(first, faults),
        typeof second === "function" ? next : watchStep(second, faults),
      );
    } catch (error) {
      finish(true);
      throw error;
    }
    if (isAsyncIterable(returned)) return watchStream(returned, finish);
    if (returned instanceof Promise)
      return returned.then(
        (value: unknown) => {
          finish(false);
          return value;
        },
        (error: unknown) => {
          finish(true);
          throw error;
        },
      );
    finish(false);
    return returned;
  };
}

/** Puts the events of a step under watch; returns anything else as it is. */
function watchStep(value: unknown, { emitter }: HookFaults): unknown {
  const hasEmit = typeof value === "object" && value !== null && "emit" in value;
  return hasEmit ? emitter(value as { emit(): void }) : value;
}

async function* watchStream(
  chunks: AsyncIterable<unknown>,
  finish: (threw: boolean) => void,
): AsyncGenerator<unknown> {
  let isWhole = false;
  try {
    yield* chunks;
    isWhole = true;
  } finally {
    // A reader that leaves early may do so before a generator has called next.
    finish(!isWhole);
  }
}

/** Returns a function that names the part of a hook's first argument that has changed since, or null. */
function changeDetector(first: unknown): () => string | null {
  const value = first as Record<string, unknown>;
  const isStep = typeof value === "object" && value !== null && "slot" in value;
  const parts: [string, unknown][] = isStep
    ? ["slot", "input", "messages", "calls", "call", "request"].map((name) => [name, value[name]])
    : [["the value", first]];
  const before = parts.map(([, part]) => jsonOf(part));
  return () => parts.find(([, part], index) => jsonOf(part) !== before[index])?.[0] ?? null;
}

function jsonOf(value: unknown): string | undefined {
  return JSON.stringify(value, (key, part: unknown) => (key === "signal" ? undefined : part));
}

function isAsyncIterable(value: unknown): value is AsyncIterable<unknown> {
  return typeof value === "object" && value !== null && Symbol.asyncIterator in value;
}
