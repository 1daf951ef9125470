import { join } from "node:path";
import { ConfigurationError } from "@holdfast/core";
import type { CommandResult, ShellCommand } from "@holdfast/core/plugin-kit";
import { hasIoCode } from "../filesystem/io-error.js";
import {
  bwrapOptions,
  checkReadOnlyPaths,
  firstCommand,
  type SandboxPlaces,
  systemArguments,
} from "./bwrap-arguments.js";
import { canPass } from "./can-pass.js";
import { checkBwrap } from "./check-bwrap.js";
import type { SandboxSettings, SandboxUser } from "./options.js";
import { removeTree } from "./remove-tree.js";
import { runBwrap } from "./run-bwrap.js";
import { Scratch } from "./scratch.js";
import type { ScratchTree } from "./scratch-tree.js";

const sharedNames = ["AGENTS.md", "knowledge", "skills", "subagents"];

interface SandboxParts {
  readonly settings: SandboxSettings;
  readonly scratch: Scratch;
  readonly places: SandboxPlaces;
  /** Whom commands run as; undefined = as this process. */
  readonly user: SandboxUser | undefined;
  readonly sharedDirectory: string | undefined;
}

/** What is needed of this machine to run commands: checked once, by trying. */
export class Sandbox {
  readonly #parts: SandboxParts;

  private constructor(parts: SandboxParts) {
    this.#parts = parts;
  }

  /**
   * @param sharedDirectory - the directory of what all users may read
   * @throws ConfigurationError when commands cannot be run here
   */
  static async open(
    settings: SandboxSettings,
    sharedDirectory: string | undefined,
  ): Promise<Sandbox> {
    if (process.platform !== "linux")
      throw new ConfigurationError("sandbox: bubblewrap needs Linux; run agents elsewhere without");
    const user = process.getuid?.() === 0 && settings.user.uid !== 0 ? settings.user : undefined;
    await checkReadOnlyPaths(settings.readOnlyPaths);
    const system = await systemArguments();
    const scratch = await Scratch.open(settings.scratch, user);
    try {
      const { readOnlyPaths } = settings;
      const places = { system, readOnlyPaths, userFiles: scratch.userFiles };
      const { root } = await scratch.tree(settings.maxFileBytes);
      await checkBwrap(settings, places, root, user);
      await removeTree(root);
      return new Sandbox({ settings, scratch, places, user, sharedDirectory });
    } catch (error) {
      await scratch.remove();
      throw error;
    }
  }

  /** An empty tree for commands to work in. */
  async tree(): Promise<ScratchTree> {
    return this.#parts.scratch.tree(this.#parts.settings.maxFileBytes);
  }

  /**
   * Runs a command among the files of a tree.
   *
   * @throws ConfigurationError when no sandbox could be made
   * @throws the reason of the command's signal when that ended it
   */
  async run(tree: ScratchTree, command: ShellCommand): Promise<CommandResult> {
    const { settings, places, user, sharedDirectory } = this.#parts;
    const shared = await sharedPaths(sharedDirectory, user);
    const { result, wasSetUp } = await runBwrap({
      bwrap: settings.bwrap,
      options: bwrapOptions(settings, { ...places, shared }, tree.root),
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
      `sandbox: it could be made before and cannot be made now (${said})`,
    );
  }

  async close(): Promise<void> {
    await this.#parts.scratch.remove();
  }
}

/** Where the shared files are; nothing where commands' user cannot get to them. */
async function sharedPaths(
  directory: string | undefined,
  user: SandboxUser | undefined,
): Promise<[name: string, path: string][]> {
  if (directory === undefined) return [];
  try {
    if (user !== undefined && !(await canPass(directory, user))) return [];
  } catch (error) {
    if (hasIoCode(error, "ENOENT", "ENOTDIR")) return [];
    throw error;
  }
  return sharedNames.map((name) => [name, join(directory, name)]);
}
