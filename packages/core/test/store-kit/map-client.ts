import type { DocumentClient, DocumentKeys, StoredDocument } from "../../src/store-kit/index.js";

/** What goes wrong with one command of a {@link MapClient}. */
export type Fault =
  | "refused" /** it throws and does nothing */
  | "answer lost" /** it is done and throws */
  | "late" /** it throws and is done some turns later */
  | "hangs" /** it does nothing and never answers */
  | "spurious"; /** a compareAndSet answers false although the version is right */

/** A key-value client over a map, of the kind a user of `documentStore` writes, that fails when told to. */
export class MapClient implements DocumentClient {
  readonly values = new Map<string, StoredDocument>();
  readonly commands: string[] = [];
  /** Asked before each command. */
  fault: (command: string) => Fault | undefined = () => undefined;
  pageSize = 1_000;
  #versions = 0;

  get(key: string): Promise<StoredDocument | null> {
    return this.#run("get", () => this.values.get(key) ?? null);
  }

  compareAndSet(key: string, value: string, expectedVersion: string | null): Promise<boolean> {
    return this.#run("compareAndSet", (fault) => {
      if (fault === "spurious" || (this.values.get(key)?.version ?? null) !== expectedVersion)
        return false;
      this.values.set(key, { value, version: `v${++this.#versions}` });
      return true;
    });
  }

  delete(key: string): Promise<boolean> {
    return this.#run("delete", () => this.values.delete(key));
  }

  list(cursor?: string): Promise<DocumentKeys> {
    return this.#run("list", () => {
      const keys = [...this.values.keys()].sort().filter((key) => key > (cursor ?? ""));
      const page = keys.slice(0, this.pageSize);
      return keys.length > page.length ? { keys: page, cursor: page.at(-1) } : { keys: page };
    });
  }

  async #run<T>(command: string, apply: (fault?: Fault) => T): Promise<T> {
    this.commands.push(command);
    const fault = this.fault(command);
    await Promise.resolve();
    if (fault === "hangs") return new Promise<never>(() => undefined);
    if (fault === "refused") throw new Error("connection refused");
    if (fault === "late") {
      setImmediate(() => apply());
      throw new Error("connection reset");
    }
    const result = apply(fault);
    if (fault === "answer lost") throw new Error("connection reset");
    return result;
  }
}
