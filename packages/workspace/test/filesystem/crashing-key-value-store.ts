import {
  type JsonValue,
  type KeyValueStore,
  StoreUnavailableError,
  UnknownOutcomeError,
} from "@holdfast/core";
import type {
  KeyPage,
  KeyQuery,
  KeyValueCondition,
  VersionedValue,
} from "@holdfast/core/store-kit";

/** Point at which a process dies: before or after its command number `command` was executed. */
export interface CrashPoint {
  readonly command: number;
  readonly when: "before" | "after";
}

/** A store as a process sees it that dies at some command: that one gets no answer, and no later one is sent. */
export class CrashingKeyValueStore implements KeyValueStore {
  readonly contract = 1;
  readonly kind = "crashing";
  readonly reach = "process";
  /** Commands so far. */
  commands = 0;
  readonly #inner: KeyValueStore;
  readonly #crash: CrashPoint;

  constructor(inner: KeyValueStore, crash: CrashPoint) {
    this.#inner = inner;
    this.#crash = crash;
  }

  get hasCrashed(): boolean {
    return this.commands >= this.#crash.command;
  }

  get(namespace: readonly string[], key: string): Promise<VersionedValue | null> {
    return this.#run(() => this.#inner.get(namespace, key));
  }

  getMany(
    namespace: readonly string[],
    keys: readonly string[],
  ): Promise<readonly (VersionedValue | null)[]> {
    return this.#run(() => this.#inner.getMany(namespace, keys));
  }

  put(
    namespace: readonly string[],
    key: string,
    value: JsonValue,
    condition?: KeyValueCondition,
  ): Promise<string> {
    return this.#run(() => this.#inner.put(namespace, key, value, condition));
  }

  delete(
    namespace: readonly string[],
    key: string,
    condition?: KeyValueCondition,
  ): Promise<boolean> {
    return this.#run(() => this.#inner.delete(namespace, key, condition));
  }

  list(namespace: readonly string[], query?: KeyQuery): Promise<KeyPage> {
    return this.#run(() => this.#inner.list(namespace, query));
  }

  async #run<T>(command: () => Promise<T>): Promise<T> {
    const number = ++this.commands;
    const { command: last, when } = this.#crash;
    if (number > last) throw new StoreUnavailableError("the process is gone");
    if (number < last) return command();
    if (when === "after") await command();
    throw new UnknownOutcomeError("the process is gone");
  }
}
