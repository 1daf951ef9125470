import { InMemoryFilesystem, StoreUnavailableError } from "@holdfast/core";
import type { FileNamespace } from "@holdfast/core/plugin-kit";

/** A filesystem that records what is done to it, and fails when told to. */
export class RecordedFilesystem extends InMemoryFilesystem {
  readonly done: string[] = [];
  failing = "";
  /** Promise that writes wait for. */
  holdUp: Promise<void> | undefined;

  override async read(namespace: FileNamespace, path: string): Promise<Uint8Array | null> {
    return this.#record("read", path, () => super.read(namespace, path));
  }

  override async write(namespace: FileNamespace, path: string, bytes: Uint8Array): Promise<void> {
    return this.#record("write", path, () => super.write(namespace, path, bytes));
  }

  override async delete(namespace: FileNamespace, path: string): Promise<boolean> {
    return this.#record("delete", path, () => super.delete(namespace, path));
  }

  async #record<T>(verb: string, path: string, work: () => Promise<T>): Promise<T> {
    const what = `${verb} ${path}`;
    if (what === this.failing) throw new StoreUnavailableError("the store is away");
    this.done.push(what);
    if (verb === "write") await this.holdUp;
    return work();
  }
}
