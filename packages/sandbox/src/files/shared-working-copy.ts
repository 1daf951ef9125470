import { StoreError } from "@holdfast/core";
import type { FileVisit } from "@holdfast/core/plugin-kit";
import type { Sandbox } from "../sandbox.js";
import { ReadWriteLock } from "./read-write-lock.js";
import { WorkingCopy, type WorkingCopyOptions } from "./working-copy.js";

/** Options of a {@link SharedWorkingCopy}. */
export interface SharedWorkingCopyOptions extends Omit<WorkingCopyOptions, "newTree"> {
  /** Called when nothing uses the namespace and there is no working copy. */
  readonly onIdle: () => void;
}

/**
 * Working copy of one namespace that all calls of this process share: created for the first call that enters, written
 * back by each that leaves, removed after the last.
 */
export class SharedWorkingCopy {
  readonly #options: SharedWorkingCopyOptions;
  /** Exclusive while files are fetched or written back, shared while they are worked on. */
  readonly #lock = new ReadWriteLock();
  #copy: WorkingCopy | undefined;
  #users = 0;

  constructor(options: SharedWorkingCopyOptions) {
    this.#options = options;
  }

  /** Runs `work` and delays {@link SharedWorkingCopyOptions.onIdle} until it has ended. */
  async use<T>(work: () => Promise<T>): Promise<T> {
    this.#users++;
    try {
      return await work();
    } finally {
      this.#users--;
      if (this.#users === 0 && this.#copy === undefined) this.#options.onIdle();
    }
  }

  /** Runs `onCopy` when there is a working copy and `onBacking` otherwise; meanwhile none is created or removed. */
  async onCurrentFiles<T>(
    onCopy: (copy: WorkingCopy) => Promise<T>,
    onBacking: () => Promise<T>,
  ): Promise<T> {
    return this.#lock.shared(() => (this.#copy === undefined ? onBacking() : onCopy(this.#copy)));
  }

  /** Creates the working copy, or refreshes it when there is one, for a call that holds it until it leaves. */
  async enter(sandbox: Sandbox): Promise<FileVisit> {
    const copy = await this.#acquire(sandbox, true);
    let leaving: Promise<void> | undefined;
    let isHolding = true;
    const leave = async (): Promise<void> => {
      if (isHolding) copy.holders--;
      isHolding = false;
      try {
        await this.use(() => this.#lock.exclusive(() => this.#writeBack(copy)));
      } catch (error) {
        // Leaving may be tried again.
        leaving = undefined;
        throw error;
      }
    };
    return {
      leave: () => {
        leaving ??= leave();
        return leaving;
      },
    };
  }

  /** Runs `work` on the working copy, and writes changes back after it when no call holds the copy. */
  async during<T>(sandbox: Sandbox, work: (copy: WorkingCopy) => Promise<T>): Promise<T> {
    const copy = await this.#acquire(sandbox, false);
    try {
      return await work(copy);
    } finally {
      copy.holders--;
      if (copy.holders === 0) await this.#lock.exclusive(() => this.#writeBack(copy));
    }
  }

  /** Writes changes back as far as possible, and removes the working copy. */
  async close(): Promise<void> {
    await this.#lock.exclusive(async () => {
      const copy = this.#copy;
      if (copy === undefined) return;
      try {
        await copy.writeBack();
      } finally {
        await this.#remove(copy);
      }
    });
  }

  async #acquire(sandbox: Sandbox, isCall: boolean): Promise<WorkingCopy> {
    return this.#lock.exclusive(async () => {
      const current = this.#copy;
      // A command within a call sees the files that its call sees.
      if (current !== undefined && (isCall || current.holders === 0)) await current.refresh();
      const copy =
        current ??
        (await WorkingCopy.create({
          ...this.#options,
          newTree: (space) => sandbox.newTree(space),
        }));
      this.#copy = copy;
      copy.holders++;
      return copy;
    });
  }

  async #writeBack(copy: WorkingCopy): Promise<void> {
    // Another call has written it back and removed it, after an attempt that failed.
    if (this.#copy !== copy) return;
    try {
      await copy.writeBack();
    } catch (error) {
      // The next call finds the copy and writes it back with its own changes, unless that would only fail again.
      if (copy.holders === 0 && !isTransient(error)) await this.#remove(copy);
      throw error;
    }
    if (copy.holders === 0) await this.#remove(copy);
  }

  async #remove(copy: WorkingCopy): Promise<void> {
    this.#copy = undefined;
    await copy.remove();
  }
}

function isTransient(error: unknown): boolean {
  if (!StoreError.is(error)) return false;
  return ["UNAVAILABLE", "UNKNOWN_OUTCOME", "CONFLICT"].includes(error.errorClass);
}
