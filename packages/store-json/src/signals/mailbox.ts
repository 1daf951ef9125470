import { readdir, readFile, rename, rm, rmdir, stat } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { Slot } from "@holdfast/core";
import { isRecord } from "@holdfast/core/plugin-kit";
import { pathSegment, uuidv7 } from "@holdfast/core/store-kit";
import { DirectoryChange } from "../io/directory-change.js";
import { Disk, namesIn, removeFile } from "../io/disk.js";
import { isOlderThan, modifiedMs, touchFile } from "../io/file-time.js";
import { isMissing } from "../io/io-error.js";
import { namesInChanged } from "../io/open-file.js";
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

/**
 * Directory between the calls of a listener, below the root: of a session that cannot be, so that what a killed process leaves
 * is swept like the mailboxes of calls.
 */
const IDLE = join("@idle", "@idle", "@idle");

/** Directory that one listener of one call watches: `<root>/<agent>/<user>/<session>/<call>@<id>`. */
export class Mailbox {
  readonly id: string;
  readonly #root: string;
  #directory: string;
  /** Absent in a sender's, and once the directory is gone. */
  #change: DirectoryChange | undefined;
  #closed = new AbortController();
  #watching: Promise<void> | undefined;
  #touchedAt = performance.now();

  constructor(root: string, slot: Slot, callId: string, id: string) {
    this.id = id;
    this.#root = root;
    this.#directory = this.#pathFor(slot, callId);
  }

  /** Creates the directory and passes every signal left in it to `receive`, until closed. */
  async open(receive: (text: string) => void): Promise<void> {
    const owner = Buffer.from(JSON.stringify(ownIdentity()));
    await inSession(async () => {
      await disk.makeDirectory(this.#directory, this.#root);
      await disk.publish(this.#directory, OWNER, owner);
    });
    // Where it cannot be made, the mailbox serves one call.
    await disk.makeDirectory(dirname(this.#idlePath), this.#root).catch(() => undefined);
    this.#change = new DirectoryChange(this.#directory, POLL, (name) => SIGNAL.test(name));
    this.#watching = this.#receiveAll(this.#change, receive, true);
    await removeAbandonedBeside(this.#directory).catch(() => undefined);
  }

  /** Moves an idle mailbox to another call, as {@link open} does; false when it is gone. */
  async reopen(slot: Slot, callId: string, receive: (text: string) => void): Promise<boolean> {
    const change = this.#change;
    const directory = this.#pathFor(slot, callId);
    if (change === undefined) return false;
    let isAlone = false;
    try {
      await inSession(async () => {
        isAlone = await disk.makeDirectory(dirname(directory), this.#root);
        await rename(this.#directory, directory);
      });
    } catch (error) {
      await this.discard();
      if (isMissing(error)) return false;
      throw error;
    }
    this.#directory = directory;
    this.#closed = new AbortController();
    change.restart();
    this.#watching = this.#receiveAll(change, receive, false);
    if (!isAlone) await removeAbandonedBeside(directory).catch(() => undefined);
    return true;
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

  /**
   * Ends listening and moves the directory away, without the signals that came too late; false when the mailbox cannot be used
   * again.
   */
  async close(): Promise<boolean> {
    this.#closed.abort();
    await this.#watching;
    const session = dirname(this.#directory);
    const isIdle = await this.#makeIdle().catch(() => false);
    if (!isIdle) await this.discard();
    await rmdir(session).catch(() => undefined);
    return isIdle;
  }

  /** Removes the directory. */
  async discard(): Promise<void> {
    this.#change?.close();
    this.#change = undefined;
    await removeDirectory(this.#directory).catch(() => undefined);
  }

  /** No signal to the call arrives once its name is gone; what did before is removed. */
  async #makeIdle(): Promise<boolean> {
    if (this.#change === undefined) return false;
    await rename(this.#directory, this.#idlePath);
    this.#directory = this.#idlePath;
    const names = namesInChanged(this.#directory);
    for (const name of names) if (name !== OWNER) await removeFile(join(this.#directory, name));
    return names.includes(OWNER);
  }

  get #idlePath(): string {
    return join(this.#root, IDLE, this.id);
  }

  #pathFor(slot: Slot, callId: string): string {
    return join(slotDirectory(this.#root, slot), `${pathSegment(callId)}@${this.id}`);
  }

  /** @param isNew - signals may have been left before the directory was watched */
  async #receiveAll(
    change: DirectoryChange,
    receive: (text: string) => void,
    isNew: boolean,
  ): Promise<void> {
    const { signal } = this.#closed;
    try {
      await this.#touch();
      if (!isNew) await change.next(signal);
      while (!signal.aborted) {
        await this.#touch();
        for (const text of await this.#take()) if (!signal.aborted) receive(text);
        await change.next(signal);
      }
    } catch {
      // The directory is gone or cannot be read: no signal can come through it any more.
    }
  }

  async #touch(): Promise<void> {
    if (performance.now() - this.#touchedAt <= TOUCH_MS) return;
    this.#touchedAt = performance.now();
    await touchFile(join(this.#directory, OWNER), OWNER_START);
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

/** Repeats what fails because another call of the session ended and took the session's empty directory along. */
async function inSession(work: () => Promise<void>): Promise<void> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await work();
    } catch (error) {
      if (!isMissing(error) || attempt === ATTEMPTS) throw error;
    }
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
