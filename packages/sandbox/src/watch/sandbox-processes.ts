import { readdir, readFile, readlink, stat } from "node:fs/promises";
import { hasIoCode } from "@holdfast/workspace/filesystem-kit";

/** Files without a name that processes hold open. */
export interface UnnamedFiles {
  /** Their bytes by device; each counts once, however many processes share it. */
  readonly bytes: ReadonlyMap<number, number>;
  /** Running processes whose open files this process may not see. */
  readonly hidden: readonly string[];
}

/** Entries of `/proc` that are read at a time. */
const CONCURRENCY = 16;
const KILOBYTE = 1_024;
const BLOCK_BYTES = 512;

/**
 * Processes of a running sandbox, seen through its own `/proc`: it lists them all, however they were started, and no
 * others.
 */
export class SandboxProcesses {
  readonly #proc: string;

  /** @param first - pid of the sandbox's first process on this machine */
  constructor(first: number) {
    this.#proc = `/proc/${first}/root/proc`;
  }

  /** Lists the processes by their pid in the sandbox; none before it was set up and after it has ended. */
  async list(): Promise<string[]> {
    // While it is being set up, `/proc` is still this machine's, where this process finds itself.
    if ((await orNull(readlink(`${this.#proc}/self`))) !== null) return [];
    const names = (await orNull(readdir(this.#proc))) ?? [];
    return names.filter((name) => /^\d+$/.test(name));
  }

  /**
   * Adds up the memory of processes: their own and the shared memory that they map, swapped pages included. Pages that
   * several processes share count once for each.
   */
  async residentBytes(pids: readonly string[]): Promise<number> {
    return this.#sum(pids, "status", ["RssAnon", "RssShmem", "VmSwap"]);
  }

  /** Adds up the memory of processes, with shared pages divided among them; slower than {@link residentBytes}. */
  async proportionalBytes(pids: readonly string[]): Promise<number> {
    const fields = ["Pss_Anon", "Pss_Shmem", "SwapPss"];
    return this.#sum(pids, "smaps_rollup", fields, (pid) => this.residentBytes([pid]));
  }

  /** Returns the bytes of open files without a name: deleted ones and memory files. */
  async unnamedFiles(pids: readonly string[]): Promise<UnnamedFiles> {
    const seen = new Set<string>();
    const bytes = new Map<number, number>();
    const hidden: string[] = [];
    for (const pid of pids) {
      const directory = `${this.#proc}/${pid}/fd`;
      const names = await readdir(directory).catch((error: unknown) =>
        hasIoCode(error, "EACCES") ? null : [],
      );
      if (names === null) {
        if (await this.#isRunning(pid)) hidden.push(pid);
        continue;
      }
      await inBatches(names, async (name) => {
        const stats = await orNull(stat(`${directory}/${name}`));
        if (stats === null || !stats.isFile() || stats.nlink > 0) return;
        const { dev, ino, blocks } = stats;
        if (seen.has(`${dev} ${ino}`)) return;
        seen.add(`${dev} ${ino}`);
        bytes.set(dev, (bytes.get(dev) ?? 0) + blocks * BLOCK_BYTES);
      });
    }
    return { bytes, hidden };
  }

  /** Returns false for a process that has ended and was not waited for, whose files nobody may see. */
  async #isRunning(pid: string): Promise<boolean> {
    const status = await orNull(readFile(`${this.#proc}/${pid}/status`, "utf8"));
    return status !== null && !/^State:\s+[ZX]/m.test(status);
  }

  /** Adds up fields of a file of each process; `otherwise` gives those of a process whose file cannot be read. */
  async #sum(
    pids: readonly string[],
    file: string,
    fields: readonly string[],
    otherwise: (pid: string) => Promise<number> = async () => 0,
  ): Promise<number> {
    const pattern = new RegExp(`^(?:${fields.join("|")}):\\s+(\\d+) kB$`, "gm");
    let bytes = 0;
    await inBatches(pids, async (pid) => {
      const text = await orNull(readFile(`${this.#proc}/${pid}/${file}`, "utf8"));
      if (text === null) bytes += await otherwise(pid);
      else for (const [, number] of text.matchAll(pattern)) bytes += Number(number) * KILOBYTE;
    });
    return bytes;
  }
}

async function inBatches<T>(items: readonly T[], work: (item: T) => Promise<void>): Promise<void> {
  for (let at = 0; at < items.length; at += CONCURRENCY)
    await Promise.all(items.slice(at, at + CONCURRENCY).map(work));
}

/** Resolves to null for a process that has ended meanwhile, which any kind of error may report. */
async function orNull<T>(reading: Promise<T>): Promise<T | null> {
  return reading.catch(() => null);
}
