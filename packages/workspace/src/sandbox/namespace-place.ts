import { type Filesystem, StoreError } from "@holdfast/core";
import type { FileNamespace, FileVisit } from "@holdfast/core/plugin-kit";
import type { SandboxSettings } from "./options.js";
import { Room } from "./room.js";
import type { Sandbox } from "./sandbox.js";
import { SharedLock } from "./shared-lock.js";

/** What a {@link Place} is made of. */
export interface PlaceOptions extends Pick<SandboxSettings, "maxTotalBytes" | "maxFiles"> {
  readonly files: Filesystem;
  readonly namespace: FileNamespace;
}

/** One namespace as this process sees it: in a room while somebody is in, where files stay otherwise. */
export class Place {
  readonly #options: PlaceOptions;
  readonly #onIdle: () => void;
  /** Alone goes who brings files into a room or out of it; who works on them where they are shares. */
  readonly #lock = new SharedLock();
  #room: Room | undefined;
  #users = 0;

  /** @param onIdle - called when nobody uses it and it has nothing to remember */
  constructor(options: PlaceOptions, onIdle: () => void) {
    this.#options = options;
    this.#onIdle = onIdle;
  }

  /** Holds on to this place while `work` runs. */
  async use<T>(work: () => Promise<T>): Promise<T> {
    this.#users++;
    try {
      return await work();
    } finally {
      this.#users--;
      if (this.#users === 0 && this.#room === undefined) this.#onIdle();
    }
  }

  /** Runs one of the two, and nobody moves the files meanwhile. */
  async whereFilesAre<T>(
    inRoom: (room: Room) => Promise<T>,
    elsewhere: () => Promise<T>,
  ): Promise<T> {
    return this.#lock.share(() => (this.#room === undefined ? elsewhere() : inRoom(this.#room)));
  }

  /** Brings the files into a room, or what others have changed meanwhile if they are there. */
  async enter(sandbox: Sandbox): Promise<FileVisit> {
    const room = await this.#enter(sandbox, true);
    let leaving: Promise<void> | undefined;
    let isIn = true;
    const leave = async (): Promise<void> => {
      if (isIn) room.visits--;
      isIn = false;
      try {
        await this.use(() => this.#lock.alone(() => this.#keep(room)));
      } catch (error) {
        // Another attempt may have more luck.
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

  /** Runs `work` in the room; files are kept after it if no call is in. */
  async during<T>(sandbox: Sandbox, work: (room: Room) => Promise<T>): Promise<T> {
    const room = await this.#enter(sandbox, false);
    try {
      return await work(room);
    } finally {
      room.visits--;
      if (room.visits === 0) await this.#lock.alone(() => this.#keep(room));
    }
  }

  /** Keeps what can be kept and empties the room. */
  async close(): Promise<void> {
    await this.#lock.alone(async () => {
      const room = this.#room;
      if (room === undefined) return;
      try {
        await room.keep();
      } finally {
        this.#room = undefined;
        await room.remove();
      }
    });
  }

  async #enter(sandbox: Sandbox, isCall: boolean): Promise<Room> {
    return this.#lock.alone(async () => {
      const known = this.#room;
      // A command sees what its call sees.
      if (known !== undefined && (isCall || known.visits === 0)) await known.refresh();
      const room = known ?? (await Room.restore({ ...this.#options, tree: await sandbox.tree() }));
      this.#room = room;
      room.visits++;
      return room;
    });
  }

  async #keep(room: Room): Promise<void> {
    // Kept and left by another, after an attempt that failed.
    if (this.#room !== room) return;
    try {
      await room.keep();
    } catch (error) {
      // The next call finds the files in the room and keeps them with its own, unless that can only fail again.
      if (room.visits === 0 && !isPassing(error)) await this.#empty(room);
      throw error;
    }
    if (room.visits === 0) await this.#empty(room);
  }

  async #empty(room: Room): Promise<void> {
    this.#room = undefined;
    await room.remove();
  }
}

function isPassing(error: unknown): boolean {
  if (!StoreError.is(error)) return false;
  return ["UNAVAILABLE", "UNKNOWN_OUTCOME", "CONFLICT"].includes(error.errorClass);
}
