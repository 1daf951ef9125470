import { lstat, readlink } from "node:fs/promises";
import { ConfigurationError } from "@holdfast/core";
import { hasIoCode } from "../filesystem/io-error.js";
import type { SandboxSettings } from "./options.js";
import { INNER_ID, INNER_NAME, USER_FILES } from "./user-files.js";

const systemDirectories = ["/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32"];

/** What programs need of `/etc`; no accounts, no keys, no addresses. */
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
 * The first process: runs the command and ends after it. When it ends the kernel ends all others and waits for them, so
 * nothing that the command left behind is still at work when its result is there.
 */
const firstProcess =
  'cd -- "$1" || exit 1; unset OLDPWD; line=$2; shift 2; "$@" /bin/sh -c "$line"; exit "$?"';

/** The number of the pipe on which bubblewrap tells the id of the first process and how it ended. */
export const STATUS_FD = 3;

/** Where things are on this machine. */
export interface SandboxPlaces {
  /** Arguments that show the machine's programs. */
  readonly system: readonly string[];
  readonly readOnlyPaths: readonly string[];
  /** The directory of the files that {@link USER_FILES} names. */
  readonly userFiles: string;
  /** Paths to show below `/shared`, by their name there. */
  readonly shared?: readonly (readonly [name: string, path: string])[] | undefined;
}

/** Arguments that show the machine's programs, read-only. */
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

/** @throws ConfigurationError that names every path that is not there */
export async function checkReadOnlyPaths(paths: readonly string[]): Promise<void> {
  const problems: string[] = [];
  for (const path of paths)
    if ((await kindOf(path)) === null)
      problems.push(`sandbox: option readOnlyPaths names ${path}, which is not there`);
  if (problems.length > 0) throw new ConfigurationError(problems);
}

/** One command line, and where it runs. */
export interface SandboxedLine {
  /** The working directory, relative to `/workspace`. */
  readonly directory: string;
  /** For `sh -c`. */
  readonly line: string;
}

/**
 * What bubblewrap is told through a pipe, where other users of the machine do not see it as they see arguments.
 *
 * @param root - the directory of this machine that is `/workspace`
 */
export function bwrapOptions(
  settings: SandboxSettings,
  places: SandboxPlaces,
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
    ...places.system,
    ...USER_FILES.flatMap((name) => ["--ro-bind", `${places.userFiles}/${name}`, `/etc/${name}`]),
    ...["--proc", "/proc", "--dev", "/dev"],
    ...[...memoryDirectory, "--tmpfs", "/dev/shm", "--remount-ro", "/dev"],
    ...[...memoryDirectory, "--tmpfs", "/tmp", "--symlink", "../tmp", "/var/tmp"],
    ...places.readOnlyPaths.flatMap((each) => ["--ro-bind", each, each]),
    ...(places.shared ?? []).flatMap(([name, from]) => ["--ro-bind-try", from, `/shared/${name}`]),
    ...["--bind", root, "/workspace", "--remount-ro", "/"],
    ...variables.flatMap(([name, value]) => ["--setenv", name, value]),
    ...["--chdir", "/", "--json-status-fd", String(STATUS_FD)],
  ];
}

/** The program that bubblewrap starts, and its arguments. */
export function firstCommand(
  settings: SandboxSettings,
  { directory, line }: SandboxedLine,
): string[] {
  const workingDirectory = `/workspace/${directory}`;
  return ["/bin/sh", "-c", firstProcess, "sh", workingDirectory, line, ...limits(settings)];
}

function limits(settings: SandboxSettings): string[] {
  const { memoryBytes, maxProcesses, cpuSeconds, maxFileBytes } = settings;
  return [
    "prlimit",
    `--data=${memoryBytes}`,
    // Programs reserve far more addresses than they use; this bounds shared memory, which --data does not count.
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
