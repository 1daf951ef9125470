import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { constants } from "node:fs";
import { type FileHandle, open, realpath, stat } from "node:fs/promises";
import { ConfigurationError } from "@holdfast/core";
import { ioReason } from "@holdfast/workspace/filesystem-kit";
import type { SandboxUser } from "../options.js";

/** Options of a {@link MemoryVolume}. */
export interface MemoryVolumeOptions {
  /** Empty directory to mount it on. */
  readonly directory: string;
  /** Bytes that its files may take, in pages of the kernel. */
  readonly bytes: number;
  /** Files, directories and links that it may hold. */
  readonly entries: number;
  /** Owner of its files; undefined = the user of this process. */
  readonly owner: SandboxUser | undefined;
}

/** Mounts the volume, says so, and keeps its mount namespace until its stdin ends: with this process at the latest. */
const holderScript = 'mount -t tmpfs -o "$1" holdfast "$2" && echo mounted && exec cat > /dev/null';
const DIRECTORY_FLAGS = constants.O_RDONLY | constants.O_DIRECTORY;

/**
 * Filesystem of a fixed size in memory (tmpfs), in a mount namespace of its own that a small process holds. The kernel
 * bounds everything in it, files without a name included, and nothing of it is left once the process has ended.
 */
export class MemoryVolume {
  /** Path by which this process reaches it; valid as long as it is open, even if its holder was killed. */
  readonly path: string;
  readonly #holder: ChildProcess;
  readonly #root: FileHandle;
  readonly #owner: SandboxUser | undefined;

  private constructor(holder: ChildProcess, root: FileHandle, owner: SandboxUser | undefined) {
    this.path = `/proc/self/fd/${root.fd}`;
    this.#holder = holder;
    this.#root = root;
    this.#owner = owner;
  }

  /** @throws ConfigurationError when this process may not mount one */
  static async create(options: MemoryVolumeOptions): Promise<MemoryVolume> {
    const { owner } = options;
    // An absolute link on the way would lead out of the holder's namespace again.
    const directory = await realpath(options.directory);
    const holder = spawn(
      "unshare",
      [
        ...namespaces(),
        "sh",
        "-c",
        holderScript,
        "sh",
        ...mountArguments({ ...options, directory }),
      ],
      {
        cwd: "/",
        detached: true,
        stdio: ["pipe", "pipe", "pipe"],
      },
    );
    try {
      await mounted(holder);
      return new MemoryVolume(holder, await openMounted(holder, directory), owner);
    } catch (error) {
      await end(holder);
      throw error;
    }
  }

  /**
   * Returns the program, with its arguments, that runs another in the volume's mount namespace, as its owner.
   *
   * @throws ConfigurationError when the holder has ended: its pid may be another process's by now
   */
  enter(program: readonly string[]): string[] {
    if (hasEnded(this.#holder))
      throw new ConfigurationError(
        "sandbox: the process that holds the workspace's files in memory was ended, so that no command can run on them; its files can still be read",
      );
    const target = `--target=${this.#holder.pid}`;
    if (!isRoot())
      return ["nsenter", target, "--user", "--mount", "--preserve-credentials", "--", ...program];
    const user = this.#owner;
    const ids = user === undefined ? [] : [`--setuid=${user.uid}`, `--setgid=${user.gid}`];
    return ["nsenter", target, "--mount", ...ids, "--", ...program];
  }

  /** Frees it; its files are gone. */
  async close(): Promise<void> {
    await this.#root.close();
    await end(this.#holder);
  }
}

async function openMounted({ pid }: ChildProcess, directory: string): Promise<FileHandle> {
  const root = await open(`/proc/${pid}/root${directory}`, DIRECTORY_FLAGS);
  const [here, below] = await Promise.all([root.stat(), stat(directory)]);
  if (here.dev !== below.dev) return root;
  await root.close();
  throw new ConfigurationError(`sandbox: the filesystem mounted on ${directory} cannot be reached`);
}

function isRoot(): boolean {
  return process.getuid?.() === 0;
}

function namespaces(): string[] {
  const user = isRoot() ? [] : ["--user", "--map-root-user"];
  return [...user, "--mount", "--propagation", "private", "--"];
}

function mountArguments({ directory, bytes, entries, owner }: MemoryVolumeOptions): string[] {
  const ids = owner === undefined ? [] : [`uid=${owner.uid}`, `gid=${owner.gid}`];
  const options = ["nosuid", "nodev", "mode=0700", `size=${bytes}`, `nr_inodes=${entries}`, ...ids];
  return [options.join(","), directory];
}

/** Resolves when the holder has mounted its volume; it then no longer keeps this process running. */
async function mounted(holder: ChildProcess): Promise<void> {
  const { stdin, stdout, stderr } = holder;
  let said = "";
  stderr?.setEncoding("utf8").on("data", (text: string) => {
    said = (said + text).slice(0, 1_000);
  });
  // The pipe breaks when the holder exits early, which its exit code reports.
  stdin?.on("error", () => {});
  const failed = once(holder, "close").then(
    () => said.trim().split("\n", 1)[0] || "it was ended",
    (error: unknown) => `cannot start unshare (${ioReason(error)})`,
  );
  const problem = await Promise.race([
    failed,
    once(stdout ?? holder, "data").then(() => undefined),
  ]);
  if (problem !== undefined)
    throw new ConfigurationError(
      `sandbox: a filesystem of fixed size in memory cannot be mounted here (${problem}): install util-linux and mount and, where this process is root, let it have CAP_SYS_ADMIN; or set storage to "disk"`,
    );
  for (const stream of [stdin, stdout, stderr])
    if (stream !== null && "unref" in stream && typeof stream.unref === "function") stream.unref();
  holder.unref();
}

function hasEnded({ pid, exitCode, signalCode }: ChildProcess): boolean {
  return pid === undefined || exitCode !== null || signalCode !== null;
}

async function end(holder: ChildProcess): Promise<void> {
  if (hasEnded(holder)) return;
  const closed = once(holder, "exit");
  holder.ref();
  holder.kill("SIGKILL");
  await closed;
}
