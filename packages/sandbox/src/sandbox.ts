import { join } from "node:path";
import { ConfigurationError } from "@holdfast/core";
import type { CommandResult, ShellCommand } from "@holdfast/core/plugin-kit";
import { hasIoCode, SHARED_NAMES } from "@holdfast/workspace/filesystem-kit";
import {
  bwrapOptions,
  checkReadOnlyPaths,
  firstCommand,
  type SandboxMounts,
  systemArguments,
} from "./bwrap/bwrap-arguments.js";
import { checkBwrap } from "./bwrap/check-bwrap.js";
import { runBwrap } from "./bwrap/run-bwrap.js";
import { canTraverse } from "./files/permissions.js";
import { ScratchDirectory, type TreeSpace } from "./files/scratch-directory.js";
import type { ScratchTree } from "./files/scratch-tree.js";
import type { SandboxSettings, SandboxUser } from "./options.js";
import { boundsOf, memoryProblem, type SandboxBounds, withReserve } from "./sandbox-bounds.js";

interface SandboxParts {
  readonly settings: SandboxSettings;
  readonly scratch: ScratchDirectory;
  readonly mounts: SandboxMounts;
  /** User that commands run as; undefined = the user of this process. */
  readonly user: SandboxUser | undefined;
  readonly sharedDirectory: string | undefined;
}

/** Runs commands on this machine in sandboxes; opening it checks that the machine can. */
export class Sandbox {
  /** Way in which resources are bounded. */
  readonly bounds: SandboxBounds;
  readonly #parts: SandboxParts;
  readonly #isInMemory: boolean;

  private constructor(parts: SandboxParts, isInMemory: boolean, bounds: SandboxBounds) {
    this.#parts = parts;
    this.#isInMemory = isInMemory;
    this.bounds = bounds;
  }

  /**
   * Checks that sandboxes can be created, and creates the scratch directory.
   *
   * @param sharedDirectory - workspace directory whose shared files commands may read
   * @throws ConfigurationError when commands cannot be run here
   */
  static async open(
    settings: SandboxSettings,
    sharedDirectory: string | undefined,
  ): Promise<Sandbox> {
    if (process.platform !== "linux")
      throw new ConfigurationError(
        "sandbox: bubblewrap needs Linux; on other systems use a filesystem without a sandbox",
      );
    const user = process.getuid?.() === 0 && settings.user.uid !== 0 ? settings.user : undefined;
    await checkReadOnlyPaths(settings.readOnlyPaths);
    const system = await systemArguments();
    const scratch = await ScratchDirectory.open(settings.scratch, user);
    try {
      const { readOnlyPaths } = settings;
      const mounts = { system, readOnlyPaths, userFiles: scratch.userFiles };
      const parts = { settings, scratch, mounts, user, sharedDirectory };
      const problem = await memoryProblem(settings, (space) => checkTree(parts, space));
      const isInMemory = problem === undefined;
      if (!isInMemory) await checkTree(parts, undefined);
      return new Sandbox(parts, isInMemory, boundsOf(settings, problem));
    } catch (error) {
      await scratch.remove();
      throw error;
    }
  }

  /**
   * Creates an empty tree for commands to work in.
   *
   * @param space - what it may hold, where the kernel bounds that
   */
  async newTree(space: TreeSpace): Promise<ScratchTree> {
    const { scratch, settings } = this.#parts;
    return scratch.newTree(
      settings.maxFileBytes,
      this.#isInMemory ? withReserve(space) : undefined,
    );
  }

  /**
   * Runs a command on the files of a tree.
   *
   * @param onStarted - called with the pid of the sandbox's first process
   * @throws ConfigurationError when no sandbox could be created
   * @throws the reason of the command's signal when that ended it
   */
  async run(
    tree: ScratchTree,
    command: ShellCommand,
    onStarted: (firstProcess: number) => void,
  ): Promise<CommandResult> {
    const { settings, mounts, user, sharedDirectory } = this.#parts;
    const shared = await sharedPaths(sharedDirectory, user);
    const { result, wasSetUp } = await runBwrap({
      bwrap: settings.bwrap,
      options: bwrapOptions(settings, { ...mounts, shared }, tree.mountedFrom),
      volume: tree.volume,
      onStarted,
      command: firstCommand(settings, {
        directory: command.workingDirectory ?? "",
        line: command.command,
      }),
      user,
      timeoutMs: command.timeoutMs,
      signal: command.signal,
      outputBytes: settings.outputBytes,
    });
    if (wasSetUp) return result;
    const said = result.stderr.trim().split("\n", 1)[0] ?? "";
    throw new ConfigurationError(
      `sandbox: bubblewrap could create a sandbox before but cannot now (${said})`,
    );
  }

  /** Removes the scratch directory. */
  async close(): Promise<void> {
    await this.#parts.scratch.remove();
  }
}

/** Checks that commands can be run on a tree of a kind. */
async function checkTree(parts: SandboxParts, space: TreeSpace | undefined): Promise<void> {
  const { settings, scratch, mounts, user } = parts;
  const tree = await scratch.newTree(settings.maxFileBytes, space);
  try {
    await checkBwrap(settings, mounts, tree, user);
  } finally {
    await tree.remove();
  }
}

/** Returns the paths of the shared files by name; none where the user of commands cannot reach them. */
async function sharedPaths(
  directory: string | undefined,
  user: SandboxUser | undefined,
): Promise<[name: string, path: string][]> {
  if (directory === undefined) return [];
  try {
    if (user !== undefined && !(await canTraverse(directory, user))) return [];
  } catch (error) {
    if (hasIoCode(error, "ENOENT", "ENOTDIR")) return [];
    throw error;
  }
  return SHARED_NAMES.map((name) => [name, join(directory, name)]);
}
