import type { FileNamespace } from "@holdfast/core/plugin-kit";
import { userTag } from "@holdfast/core/store-kit";
import { foldPath } from "./fold-path.js";

/** Lets changes of one file happen one after another; nothing is kept of a file that nobody waits for. */
export class FileLocks {
  readonly #last = new Map<string, Promise<unknown>>();

  async run<T>(namespace: FileNamespace, path: string, work: () => Promise<T>): Promise<T> {
    const { userId, sessionId } = namespace;
    const key = JSON.stringify([userTag(userId), userId === null ? sessionId : "", foldPath(path)]);
    const turn = (this.#last.get(key) ?? Promise.resolve()).then(work);
    const done = turn.catch(() => undefined);
    this.#last.set(key, done);
    try {
      return await turn;
    } finally {
      if (this.#last.get(key) === done) this.#last.delete(key);
    }
  }
}
