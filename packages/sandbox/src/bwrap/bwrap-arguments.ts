import { lstat, readlink } from "node:fs/promises";
import { ConfigurationError } from "@holdfast/core";
import { hasIoCode } from "@holdfast/workspace/filesystem-kit";
import type { SandboxSettings } from "../options.js";
import { syscallFilter } from "./syscall-filter.js";
import { INNER_ID, INNER_NAME, USER_FILES } from "./user-files.js";

const systemDirectories = ["/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32"];

/** Files of `/etc` that programs need; no accounts, no keys, no addresses. */
const systemFiles = [
  "/etc/alternatives",
  "/etc/ld.so.cache",
  "/etc/ld.so.conf",
  "/etc/ld.so.conf.d",
  "/etc/localtime",
  "/etc/mime.types",
  "/etc/ssl/certs",
  "/etc/ssl/openssl.cnf",
];

const programPath = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

/**
 * Script of the first process of the sandbox: runs the command and exits after it. The kernel then kills all other
 * processes of the sandbox, so that none is still running when the result is returned.
 */
const firstProcess =
  'cd -- "$1" || exit 1; unset OLDPWD; line=$2; shift 2; "$@" /bin/sh -c "$line"; exit "$?"';

/** File descriptor on which bubblewrap reports the pid of the first process and its exit code. */
export const STATUS_FD = 3;
/** File descriptor from which bubblewrap reads its options. */
export const OPTIONS_FD = 4;
/** File descriptor from which bubblewrap reads the filter of system calls, where there is one. */
export const FILTER_FD = 5;

/** Directories of this machine that a sandbox mounts. */
export interface SandboxMounts {
  /** Arguments that mount the machine's programs. */
  readonly system: readonly string[];
  readonly readOnlyPaths: readonly string[];
  /** Directory of the files that {@link USER_FILES} names. */
  readonly userFiles: string;
  /** Paths to mount below `/shared`, by their name there. */
  readonly shared?: readonly (readonly [name: string, path: string])[] | undefined;
}

/** Returns the arguments that mount the machine's programs, read-only. */
export async function systemArguments(): Promise<string[]> {
  const args: string[] = [];
  for (const directory of systemDirectories) {
    const kind = await kindOf(directory);
    if (kind === "link") args.push("--symlink", await readlink(directory), directory);
    else if (kind !== null) args.push("--ro-bind", directory, directory);
  }
  for (const file of systemFiles)
    if ((await kindOf(file)) !== null) args.push("--ro-bind-try", file, file);
  return args;
}

/** @throws ConfigurationError that names every path that does not exist */
export async function checkReadOnlyPaths(paths: readonly string[]): Promise<void> {
  const problems: string[] = [];
  for (const path of paths)
    if ((await kindOf(path)) === null)
      problems.push(`sandbox: option readOnlyPaths names ${path}, which does not exist`);
  if (problems.length > 0) throw new ConfigurationError(problems);
}

/** Command line with its working directory. */
export interface SandboxedCommand {
  /** Working directory, relative to `/workspace`. */
  readonly directory: string;
  /** Command line for `sh -c`. */
  readonly line: string;
}

/**
 * Returns the options that bubblewrap reads from a pipe, because other users of the machine can see its arguments.
 *
 * @param root - directory of this machine that is mounted as `/workspace`
 */
export function bwrapOptions(
  settings: SandboxSettings,
  mounts: SandboxMounts,
  root: string,
): string[] {
  const memoryDirectory = [
    "--perms",
    "1777",
    "--size",
    String(Math.floor(settings.memoryBytes / 4)),
  ];
  const variables = Object.entries({
    PATH: programPath,
    HOME: "/workspace",
    LANG: "C.UTF-8",
    TMPDIR: "/tmp",
    USER: INNER_NAME,
    ...settings.environment,
  });
  return [
    ...["--unshare-all", "--unshare-user", "--disable-userns", "--die-with-parent"],
    ...["--new-session", "--as-pid-1", "--clearenv", "--cap-drop", "ALL"],
    ...["--uid", String(INNER_ID), "--gid", String(INNER_ID), "--hostname", "sandbox"],
    ...mounts.system,
    ...USER_FILES.flatMap((name) => ["--ro-bind", `${mounts.userFiles}/${name}`, `/etc/${name}`]),
    ...["--proc", "/proc", "--dev", "/dev"],
    ...[...memoryDirectory, "--tmpfs", "/dev/shm", "--remount-ro", "/dev"],
    ...[...memoryDirectory, "--tmpfs", "/tmp", "--symlink", "../tmp", "/var/tmp"],
    ...mounts.readOnlyPaths.flatMap((each) => ["--ro-bind", each, each]),
    ...(mounts.shared ?? []).flatMap(([name, from]) => ["--ro-bind-try", from, `/shared/${name}`]),
    ...["--bind", root, "/workspace", "--remount-ro", "/"],
    ...variables.flatMap(([name, value]) => ["--setenv", name, value]),
    ...["--chdir", "/", "--json-status-fd", String(STATUS_FD)],
    ...(syscallFilter() === undefined ? [] : ["--seccomp", String(FILTER_FD)]),
  ];
}

/** Returns the program that bubblewrap starts, with its arguments. */
export function firstCommand(
  settings: SandboxSettings,
  { directory, line }: SandboxedCommand,
): string[] {
  const workingDirectory = `/workspace/${directory}`;
  return ["/bin/sh", "-c", firstProcess, "sh", workingDirectory, line, ...limits(settings)];
}

function limits(settings: SandboxSettings): string[] {
  const { memoryBytes, maxProcesses, cpuSeconds, maxFileBytes } = settings;
  return [
    "prlimit",
    `--data=${memoryBytes}`,
    // Bounds shared memory, which --data does not count; programs reserve far more address space than they use.
    `--as=${memoryBytes * 4}`,
    // One more for the first process.
    `--nproc=${maxProcesses + 1}`,
    `--fsize=${maxFileBytes}`,
    "--core=0",
    ...(cpuSeconds === undefined ? [] : [`--cpu=${cpuSeconds}`]),
    "--",
  ];
}

async function kindOf(file: string): Promise<"link" | "other" | null> {
  try {
    return (await lstat(file)).isSymbolicLink() ? "link" : "other";
  } catch (error) {
    if (hasIoCode(error, "ENOENT", "ENOTDIR", "EACCES")) return null;
    throw error;
  }
}
