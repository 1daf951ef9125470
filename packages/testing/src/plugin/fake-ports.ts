import {
  characterEstimate,
  InMemoryAgentStateStore,
  InMemoryFilesystem,
  InMemoryOffloader,
} from "@holdfast/core";
import type { PortName, Ports } from "@holdfast/core/plugin-kit";
import { scriptedModel } from "../model/scripted-model.js";

/** Ports of a fake host: those given, those that the plugin provides, else ones in memory. Closed while a plugin is set up. */
export class FakePorts {
  readonly #given: { readonly [P in PortName]?: Ports[P] | null };
  readonly #provided: Partial<Ports>;
  readonly #defaults: Partial<Ports> = {
    ...new InMemoryAgentStateStore().companions(),
    filesystem: new InMemoryFilesystem(),
    offloader: new InMemoryOffloader(),
    tokenCounter: characterEstimate(),
    model: scriptedModel(() => "Noted."),
  };
  #isClosed = false;

  /** @param provided - filled by the plugin */
  constructor(given: { readonly [P in PortName]?: Ports[P] | null }, provided: Partial<Ports>) {
    this.#given = given;
    this.#provided = provided;
  }

  open(): void {
    this.#isClosed = false;
  }

  close(): void {
    this.#isClosed = true;
  }

  /** @throws TypeError while a plugin is set up */
  check(port: PortName): void {
    if (this.#isClosed) throw new TypeError(`the ${port} is not there before the agent is built`);
  }

  require<P extends PortName>(port: P): Ports[P] {
    return new Proxy({} as Ports[P], {
      get: (_, key) => {
        const target = this.#existing(port);
        const value: unknown = Reflect.get(target, key, target);
        return typeof value === "function" ? value.bind(target) : value;
      },
      has: (_, key) => Reflect.has(this.#existing(port), key),
    });
  }

  optional<P extends PortName>(port: P): Ports[P] | undefined {
    if (!this.#isClosed) return this.#find(port);
    // A plugin may look at what the program brings, but not use it yet.
    const known = this.#given[port] ?? this.#provided[port];
    return known ? this.#unused(port, known) : undefined;
  }

  #existing<P extends PortName>(port: P): Ports[P] & object {
    this.check(port);
    const found = this.#find(port);
    if (!found) throw new TypeError(`nothing provides the ${port} that the plugin requires`);
    return found;
  }

  #find<P extends PortName>(port: P): Ports[P] | undefined {
    const given = this.#given[port];
    if (given === null) return this.#provided[port];
    return given ?? this.#provided[port] ?? this.#defaults[port];
  }

  /** Returns a port whose functions cannot be called before the agent is built. */
  #unused<P extends PortName>(port: P, implementation: Ports[P] & object): Ports[P] {
    return new Proxy(implementation, {
      get: (target, key) => {
        const value: unknown = Reflect.get(target, key, target);
        if (typeof value !== "function") return value;
        return (...args: unknown[]): unknown => {
          this.check(port);
          return Reflect.apply(value, target, args);
        };
      },
    });
  }
}
