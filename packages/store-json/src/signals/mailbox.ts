import { readdir, readFile, rm, rmdir } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { Slot } from "@holdfast/core";
import { isRecord } from "@holdfast/core/plugin-kit";
import { pathSegment, uuidv7 } from "@holdfast/core/store-kit";
import { DirectoryChange } from "../io/directory-change.js";
import { Disk, removeFile } from "../io/disk.js";
import { isMissing } from "../io/io-error.js";
import { slotDirectory } from "../layout.js";
import { ownIdentity, type ProcessIdentity, processState } from "../process/process-identity.js";

const OWNER = "listener.json";
const SIGNAL = /^signal-.*\.json$/;
const POLL = { firstMs: 500, lastMs: 2_000, keepsRunning: false };
/** Tries to make a directory that others of the same session keep removing. */
const ATTEMPTS = 20;

/** Nothing here has to survive a power loss: no call does either. */
const disk = new Disk("os");

/** A directory that one listener of one call watches: `<root>/<agent>/<user>/<session>/<call>@<id>`. */
export class Mailbox {
  readonly id: string;
  readonly #root: string;
  readonly #directory: string;
  readonly #closed = new AbortController();
  #watching: Promise<void> | undefined;

  constructor(root: string, slot: Slot, callId: string, id: string) {
    this.id = id;
    this.#root = root;
    this.#directory = join(slotDirectory(root, slot), `${pathSegment(callId)}@${id}`);
  }

  /** Makes the directory and hands every signal left in it to `receive`, until closed. */
  async open(receive: (text: string) => void): Promise<void> {
    const owner = Buffer.from(JSON.stringify(ownIdentity()));
    for (let attempt = 1; ; attempt++) {
      try {
        await disk.makeDirectory(this.#directory, this.#root);
        await disk.publish(this.#directory, OWNER, owner);
        break;
      } catch (error) {
        // Another call of the session ended and took the session's empty directory along.
        if (!isMissing(error) || attempt === ATTEMPTS) throw error;
      }
    }
    const change = new DirectoryChange(this.#directory, POLL);
    this.#watching = this.#receiveAll(change, receive);
  }

  /** Leaves a signal; false when nobody listens here any more. */
  async put(text: string): Promise<boolean> {
    try {
      if (!(await this.#hasListener())) {
        await rm(this.#directory, { recursive: true, force: true });
        return false;
      }
      const name = `signal-${uuidv7()}.json`;
      return await disk.publish(this.#directory, name, Buffer.from(text, "utf8"));
    } catch (error) {
      if (isMissing(error)) return false;
      throw error;
    }
  }

  /** Ends listening and removes the directory, with signals that came too late. */
  async close(): Promise<void> {
    this.#closed.abort();
    await this.#watching;
    await rm(this.#directory, { recursive: true, force: true }).catch(() => undefined);
    await rmdir(dirname(this.#directory)).catch(() => undefined);
  }

  async #receiveAll(change: DirectoryChange, receive: (text: string) => void): Promise<void> {
    const { signal } = this.#closed;
    try {
      while (!signal.aborted) {
        for (const text of await this.#take()) if (!signal.aborted) receive(text);
        await change.next(signal);
      }
    } catch {
      // The directory is gone or cannot be read: nobody can be reached through it any more.
    } finally {
      change.close();
    }
  }

  /** The signals left so far, in order; they are gone then. */
  async #take(): Promise<string[]> {
    const texts: string[] = [];
    const names = await readdir(this.#directory);
    for (const name of names.filter((each) => SIGNAL.test(each)).sort()) {
      const path = join(this.#directory, name);
      texts.push(await readFile(path, "utf8"));
      await removeFile(path);
    }
    return texts;
  }

  async #hasListener(): Promise<boolean> {
    const owner: unknown = JSON.parse(await readFile(join(this.#directory, OWNER), "utf8"));
    if (!isRecord(owner) || typeof owner["pid"] !== "number") return false;
    return (await processState(owner as unknown as ProcessIdentity, ownIdentity())) !== "dead";
  }
}

/** The mailboxes of a call, whoever listens there. */
export async function callMailboxes(root: string, slot: Slot, callId: string): Promise<Mailbox[]> {
  const prefix = `${pathSegment(callId)}@`;
  try {
    return (await readdir(slotDirectory(root, slot)))
      .filter((name) => name.startsWith(prefix))
      .map((name) => new Mailbox(root, slot, callId, name.slice(prefix.length)));
  } catch (error) {
    if (isMissing(error)) return [];
    throw error;
  }
}
