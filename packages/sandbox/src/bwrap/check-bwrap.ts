import { spawn } from "node:child_process";
import { once } from "node:events";
import { ConfigurationError } from "@holdfast/core";
import { ioReason } from "@holdfast/workspace/filesystem-kit";
import type { ScratchTree } from "../files/scratch-tree.js";
import type { SandboxSettings, SandboxUser } from "../options.js";
import { bwrapOptions, firstCommand, type SandboxMounts } from "./bwrap-arguments.js";
import { runBwrap } from "./run-bwrap.js";

const minimumVersion: readonly [major: number, minor: number] = [0, 8];
const howToInstall = "install bubblewrap 0.8 or newer (apt-get install bubblewrap)";
const howToAllow =
  "allow it to create user namespaces: sysctl kernel.unprivileged_userns_clone=1, user.max_user_namespaces above 0 and, on Ubuntu, kernel.apparmor_restrict_unprivileged_userns=0; in a container, a seccomp profile that allows it";

/**
 * Checks that sandboxes can be created on this machine, by creating one.
 *
 * @param tree - files to mount as `/workspace`
 * @throws ConfigurationError that says what is missing
 */
export async function checkBwrap(
  settings: SandboxSettings,
  mounts: SandboxMounts,
  tree: ScratchTree,
  user: SandboxUser | undefined,
): Promise<void> {
  await checkVersion(settings.bwrap);
  const { result, wasSetUp } = await runBwrap({
    bwrap: settings.bwrap,
    options: bwrapOptions(settings, mounts, tree.mountedFrom),
    volume: tree.volume,
    command: firstCommand(settings, { directory: "", line: "exit 0" }),
    user,
    timeoutMs: 60_000,
    signal: new AbortController().signal,
    outputBytes: 4_096,
  });
  if (wasSetUp && result.exitCode === 0) return;
  const said = result.stderr.trim().split("\n", 1)[0] ?? "";
  throw new ConfigurationError(
    `sandbox: ${settings.bwrap} cannot create a sandbox here (${said}): ${advice(said)}`,
  );
}

async function checkVersion(bwrap: string): Promise<void> {
  const output = await versionOf(bwrap).catch((error: unknown) => {
    const problem = `sandbox: cannot start ${JSON.stringify(bwrap)} (${ioReason(error)})`;
    throw new ConfigurationError(`${problem}: ${howToInstall}`, { cause: error });
  });
  const [, major, minor] = /(\d+)\.(\d+)/.exec(output) ?? [];
  if (major === undefined || minor === undefined)
    throw new ConfigurationError(
      `sandbox: ${JSON.stringify(bwrap)} does not report its version: ${howToInstall}`,
    );
  if (Number(major) > minimumVersion[0] || Number(minor) >= minimumVersion[1]) return;
  throw new ConfigurationError(`sandbox: ${bwrap} is version ${major}.${minor}: ${howToInstall}`);
}

async function versionOf(bwrap: string): Promise<string> {
  const child = spawn(bwrap, ["--version"], { stdio: ["ignore", "pipe", "ignore"] });
  let output = "";
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    output = (output + text).slice(0, 1_000);
  });
  await once(child, "close");
  return output;
}

function advice(said: string): string {
  if (/namespace|uid map|gid map|disable-userns|user\.max/i.test(said)) return howToAllow;
  if (/proc/.test(said))
    return "the container masks parts of /proc, which prevents mounting a new one; run it with /proc unmasked";
  if (/fork/i.test(said))
    return "raise maxProcesses: before Linux 5.14 all processes of a user count, not only the sandbox's";
  if (/prlimit/.test(said)) return "install prlimit (apt-get install util-linux)";
  return "see the message of bubblewrap";
}
