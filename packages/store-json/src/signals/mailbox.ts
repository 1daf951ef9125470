import { readdir, readFile, rm, rmdir, stat } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { Slot } from "@holdfast/core";
import { isRecord } from "@holdfast/core/plugin-kit";
import { pathSegment, uuidv7 } from "@holdfast/core/store-kit";
import { DirectoryChange } from "../io/directory-change.js";
import { Disk, namesIn, removeFile } from "../io/disk.js";
import { isOlderThan, modifiedMs, touchFile } from "../io/file-time.js";
import { isMissing } from "../io/io-error.js";
import { slotDirectory } from "../layout.js";
import { ownIdentity, type ProcessIdentity, processState } from "../process/process-identity.js";

const OWNER = "listener.json";
/** First byte of the owner's file. */
const OWNER_START = "{";
const SIGNAL = /^signal-.*\.json$/;
const POLL = { firstMs: 500, lastMs: 2_000, keepsRunning: false };
/** Interval at which a listener says that it is there, for processes of other containers, which cannot look it up. */
const TOUCH_MS = 3_600_000;
/** Age at which a listener that cannot be looked up is taken for gone. */
const FORGOTTEN_MS = 86_400_000;
/** Age at which a directory without a listener was left by a process that died while it made it. */
const UNFINISHED_MS = 3_600_000;
/** Attempts at creating a directory that others of the same session keep removing. */
const ATTEMPTS = 20;

/** Nothing here has to survive a power loss: no call does either. */
const disk = new Disk("os");

/** Directory that one listener of one call watches: `<root>/<agent>/<user>/<session>/<call>@<id>`. */
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

  /** Creates the directory and passes every signal left in it to `receive`, until closed. */
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
    await removeAbandonedBeside(this.#directory).catch(() => undefined);
  }

  /** Leaves a signal; false when the listener is gone. */
  async put(text: string): Promise<boolean> {
    try {
      if (await isAbandoned(this.#directory)) {
        await removeDirectory(this.#directory);
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
    await removeDirectory(this.#directory).catch(() => undefined);
    await rmdir(dirname(this.#directory)).catch(() => undefined);
  }

  async #receiveAll(change: DirectoryChange, receive: (text: string) => void): Promise<void> {
    const { signal } = this.#closed;
    let touchedAt = performance.now();
    try {
      while (!signal.aborted) {
        if (performance.now() - touchedAt > TOUCH_MS) {
          touchedAt = performance.now();
          await touchFile(join(this.#directory, OWNER), OWNER_START);
        }
        for (const text of await this.#take()) if (!signal.aborted) receive(text);
        await change.next(signal);
      }
    } catch {
      // The directory is gone or cannot be read: no signal can come through it any more.
    } finally {
      change.close();
    }
  }

  /** Returns the signals left so far, in order, and removes them. */
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
}

/** Returns the mailboxes of a call. */
export async function callMailboxes(root: string, slot: Slot, callId: string): Promise<Mailbox[]> {
  const prefix = `${pathSegment(callId)}@`;
  return (await namesIn(slotDirectory(root, slot)))
    .filter((name) => name.startsWith(prefix))
    .map((name) => new Mailbox(root, slot, callId, name.slice(prefix.length)));
}

/** Removes the mailboxes of the same session whose listeners died: what a killed process leaves goes with the next call. */
async function removeAbandonedBeside(own: string): Promise<void> {
  for (const name of await namesIn(dirname(own))) {
    const mailbox = join(dirname(own), name);
    if (mailbox !== own) await removeIfAbandoned(mailbox);
  }
}

/** Removes a mailbox whose listener died; one of a listener that lives, or may live, stays. */
export async function removeIfAbandoned(mailbox: string): Promise<void> {
  try {
    if (await isAbandoned(mailbox)) await removeDirectory(mailbox);
  } catch (error) {
    if (!isMissing(error)) throw error;
    // Being created, or removed, unless that was long ago.
    const madeMs = await modifiedMs(mailbox);
    if (madeMs !== null && (await isOlderThan(dirname(mailbox), madeMs, UNFINISHED_MS)))
      await removeDirectory(mailbox);
  }
}

async function isAbandoned(mailbox: string): Promise<boolean> {
  const path = join(mailbox, OWNER);
  const owner = identityIn(await readFile(path, "utf8"));
  const state = owner === null ? "dead" : await processState(owner, ownIdentity());
  if (state !== "unknown") return state === "dead";
  return isOlderThan(mailbox, (await stat(path)).mtimeMs, FORGOTTEN_MS);
}

function identityIn(text: string): ProcessIdentity | null {
  try {
    const owner: unknown = JSON.parse(text);
    if (!isRecord(owner) || typeof owner["pid"] !== "number") return null;
    return owner as unknown as ProcessIdentity;
  } catch {
    // Empty, as a power loss may leave it.
    return null;
  }
}

async function removeDirectory(path: string): Promise<void> {
  await rm(path, { recursive: true, force: true });
}
