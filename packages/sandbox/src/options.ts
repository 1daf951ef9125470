import { tmpdir } from "node:os";
import { isAbsolute } from "node:path";
import { parseOptions } from "@holdfast/core/plugin-kit";
import * as s from "@holdfast/core/plugin-kit/schema";
import { maxFileBytesSchema } from "@holdfast/workspace/filesystem-kit";
import type { SandboxBounds } from "./sandbox-bounds.js";

/** User that a command is outside of the sandbox: the owner of its files, with that user's permissions. */
export interface SandboxUser {
  readonly uid: number;
  readonly gid: number;
}

/** Confinement of commands, and the resources they may use. */
export interface SandboxOptions {
  /** Bubblewrap program, 0.8 or newer: a name on the `PATH` or a path. @default "bwrap" */
  readonly bwrap?: string | undefined;
  /** Directory for files while a call works on them; on a local disk of this machine. @default the system's temporary directory */
  readonly scratch?: string | undefined;
  /**
   * Medium of the files while a call works on them. `"memory"`: a filesystem of fixed size in memory for each namespace,
   * twice `maxTotalBytes`, which the kernel bounds; refused where it cannot be mounted. `"disk"`: the scratch directory,
   * measured while commands run. `"auto"`: memory where it can be mounted and takes at most a quarter of the machine's
   * memory, else the disk.
   * @default "auto"
   */
  readonly storage?: "auto" | "memory" | "disk" | undefined;
  /**
   * Memory of all processes of a command together, in bytes, and address space for data of each. `/tmp` and `/dev/shm` may
   * hold a quarter of it each, in addition.
   * @default 1 GB
   */
  readonly memoryBytes?: number | undefined;
  /** Processes and threads of a command at a time. @default 128 */
  readonly maxProcesses?: number | undefined;
  /** Processor time of each process, in seconds. @default bounded only by the command's timeout */
  readonly cpuSeconds?: number | undefined;
  /** Bytes of a command's stdout, and of its stderr, that are returned. @default 1 MB */
  readonly outputBytes?: number | undefined;
  /** Largest file. @default 64 MB */
  readonly maxFileBytes?: number | undefined;
  /** Size of all files of a namespace together, checked when a call ends. @default 256 MB */
  readonly maxTotalBytes?: number | undefined;
  /** Number of files and directories of a namespace, checked when a call ends. @default 10_000 */
  readonly maxFiles?: number | undefined;
  /** Further paths of this machine that commands may read, mounted at the same path. @default [] */
  readonly readOnlyPaths?: readonly string[] | undefined;
  /** Variables added to `PATH`, `HOME`, `LANG`, `TMPDIR` and `USER`; nothing is inherited. @default {} */
  readonly environment?: Readonly<Record<string, string>> | undefined;
  /**
   * User that commands run as when this process is root; ignored otherwise. The kernel does not limit the processes of
   * root: for `{ uid: 0, gid: 0 }` they are counted, and a command with more than `maxProcesses` is ended.
   * @default { uid: 65534, gid: 65534 }, "nobody"
   */
  readonly user?: SandboxUser | undefined;
  /** Listener for how resources are bounded on this machine, called when that has been found out at the start. */
  readonly onBounds?: ((bounds: SandboxBounds) => void) | undefined;
}

/** {@link SandboxOptions} with every default filled in. */
export interface SandboxSettings {
  readonly bwrap: string;
  readonly scratch: string;
  readonly storage: "auto" | "memory" | "disk";
  readonly memoryBytes: number;
  readonly maxProcesses: number;
  readonly cpuSeconds?: number | undefined;
  readonly outputBytes: number;
  readonly maxFileBytes: number;
  readonly maxTotalBytes: number;
  readonly maxFiles: number;
  readonly readOnlyPaths: readonly string[];
  readonly environment: Readonly<Record<string, string>>;
  readonly user: SandboxUser;
  readonly onBounds?: ((bounds: SandboxBounds) => void) | undefined;
}

const megabyte = 1_048_576;
const count = s.number().int().positive();
const id = s.number().int().min(0).max(4_294_967_294);
const text = s
  .string()
  .refine((value) => !value.includes("\0"), "must not contain a NUL character");
const path = text.refine(isAbsolute, "must be an absolute path");
const sandboxDirectories = ["/", "/proc", "/dev", "/tmp", "/workspace", "/shared"];
const readOnlyPath = path.refine(
  (value) => !sandboxDirectories.includes(value.replace(/(?<=.)\/+$/, "")),
  "is a directory of the sandbox itself",
);

const listener = s.custom<(bounds: SandboxBounds) => void>(
  (value) => typeof value === "function",
  "must be a function",
);

const settingsSchema: s.Schema<SandboxSettings> = s.strictObject({
  bwrap: text.min(1).default("bwrap"),
  scratch: path.default(tmpdir),
  storage: s.enum(["auto", "memory", "disk"]).default("auto"),
  memoryBytes: count.min(16 * megabyte).default(1024 * megabyte),
  maxProcesses: count.min(4).default(128),
  cpuSeconds: count.optional(),
  outputBytes: count.default(megabyte),
  maxFileBytes: maxFileBytesSchema,
  maxTotalBytes: count.default(256 * megabyte),
  maxFiles: count.default(10_000),
  readOnlyPaths: s.array(readOnlyPath).default([]),
  environment: s
    .record(text.regex(/^[A-Za-z_][A-Za-z0-9_]*$/, "must be the name of a variable"), text)
    .default({}),
  user: s.strictObject({ uid: id, gid: id }).default({ uid: 65_534, gid: 65_534 }),
  onBounds: listener.optional(),
});

/**
 * Checks options and fills in defaults.
 *
 * @param where - name of the caller, for errors
 * @throws ConfigurationError that names every wrong option
 */
export function sandboxSettings(options: SandboxOptions, where: string): SandboxSettings {
  return parseOptions(settingsSchema, options, where);
}
