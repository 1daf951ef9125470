import { readFileSync } from "node:fs";
import { readdir, readFile, rename, rm, rmdir, stat } from "node:fs/promises";
import { dirname, join } from "node:path";
import { isRecord } from "@holdfast/core/plugin-kit";
import { pathSegment, uuidv7 } from "@holdfast/core/store-kit";
import { DirectoryChange } from "../io/directory-change.js";
import { Disk, namesIn, removeFile } from "../io/disk.js";
import { isOlderThan, modifiedMs, touchFile } from "../io/file-time.js";
import { isMissing } from "../io/io-error.js";
import { namesInChanged, renameOpen } from "../io/open-file.js";
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

/** Stands in for the call of a mailbox between two calls; no call's name has an "@". */
const IDLE = "@idle";
/** Ids of the mailboxes that this process listens to, or keeps for its next calls. */
const ownIds = new Set<string>();
/** A reason spares the cost of an error, which nobody would see. */
const CLOSED = "closed";

/**
 * Directory that one listener of one call watches: `<root>/<agent>/<user>/<session>/<call>@<id>`. Between calls it stays with its
 * session, under a name to which nothing is sent.
 */
export class Mailbox {
  readonly id: string;
  readonly #root: string;
  #directory: string;
  /** Absent in a sender's, and once the directory is gone. */
  #change: DirectoryChange | undefined;
  #closed = new AbortController();
  #watching: Promise<void> | undefined;
  #touchedAt = performance.now();

  /** @param session - directory of the session's mailboxes, below `root` */
  constructor(root: string, session: string, callId: string, id: string) {
    this.id = id;
    this.#root = root;
    this.#directory = this.#pathFor(session, callId);
  }

  /** Creates the directory and passes every signal left in it to `receive`, until closed. */
  async open(receive: (text: string) => void): Promise<void> {
    const owner = Buffer.from(JSON.stringify(ownIdentity()));
    await inSession(async () => {
      await disk.makeDirectory(this.#directory, this.#root);
      await disk.publish(this.#directory, OWNER, owner);
    });
    ownIds.add(this.id);
    this.#change = new DirectoryChange(this.#directory, POLL, (name) => SIGNAL.test(name));
    this.#watching = this.#receiveAll(this.#change, receive, true);
    await removeAbandonedBeside(this.#directory).catch(() => undefined);
  }

  /** Directory of the session that the mailbox is in. */
  get session(): string {
    return dirname(this.#directory);
  }

  /** Moves an idle mailbox to another call, as {@link open} does; false when it is gone. */
  async reopen(session: string, callId: string, receive: (text: string) => void): Promise<boolean> {
    const change = this.#change;
    if (change === undefined) return false;
    const before = this.session;
    const directory = this.#pathFor(session, callId);
    try {
      if (session === before) renameOpen(this.#directory, directory);
      else {
        await inSession(async () => {
          await disk.makeDirectory(session, this.#root);
          await rename(this.#directory, directory);
        });
        await rmdir(before).catch(() => undefined);
      }
    } catch (error) {
      await this.discard();
      if (isMissing(error)) return false;
      throw error;
    }
    this.#directory = directory;
    this.#closed = new AbortController();
    change.restart();
    this.#watching = this.#receiveAll(change, receive, false);
    await removeAbandonedBeside(directory).catch(() => undefined);
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
   * Ends listening and takes the call's name from the directory, and the signals that came too late; false when the mailbox
   * cannot be used again.
   */
  async close(): Promise<boolean> {
    this.#closed.abort(CLOSED);
    await this.#watching;
    const isIdle = await this.#makeIdle().catch(() => false);
    if (!isIdle) await this.discard();
    return isIdle;
  }

  /** Removes the directory, and that of its session unless something else is in it. */
  async discard(): Promise<void> {
    this.#change?.close();
    this.#change = undefined;
    ownIds.delete(this.id);
    await removeDirectory(this.#directory).catch(() => undefined);
    await rmdir(this.session).catch(() => undefined);
  }

  /** No signal to the call arrives once its name is gone; what did before is removed. */
  async #makeIdle(): Promise<boolean> {
    if (this.#change === undefined) return false;
    const idle = join(this.session, `${IDLE}@${this.id}`);
    renameOpen(this.#directory, idle);
    this.#directory = idle;
    const names = namesInChanged(this.#directory);
    for (const name of names) if (name !== OWNER) await removeFile(join(this.#directory, name));
    return names.includes(OWNER);
  }

  #pathFor(session: string, callId: string): string {
    return join(session, `${pathSegment(callId)}@${this.id}`);
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
export async function callMailboxes(
  root: string,
  session: string,
  callId: string,
): Promise<Mailbox[]> {
  const prefix = `${pathSegment(callId)}@`;
  return (await namesIn(session))
    .filter((name) => name.startsWith(prefix))
    .map((name) => new Mailbox(root, session, callId, name.slice(prefix.length)));
}

/** Removes the mailboxes of the same session whose listeners died: what a killed process leaves goes with the next call. */
async function removeAbandonedBeside(own: string): Promise<void> {
  for (const name of namesInChanged(dirname(own)))
    if (!ownIds.has(name.slice(name.lastIndexOf("@") + 1)))
      await removeIfAbandoned(join(dirname(own), name));
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
  // Beside a mailbox in use, or one that was asked for: in memory as a rule.
  const owner = identityIn(readFileSync(path, "utf8"));
  const state = owner === null ? "dead" : processState(owner, ownIdentity());
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
