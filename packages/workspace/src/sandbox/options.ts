import { tmpdir } from "node:os";
import { isAbsolute } from "node:path";
import { parseOptions } from "@holdfast/core/plugin-kit";
import { z } from "zod";
import { maxFileBytesSchema } from "../filesystem/max-file-bytes.js";

/** Who a command is outside the sandbox: whose files it makes and whose rights it has there. */
export interface SandboxUser {
  readonly uid: number;
  readonly gid: number;
}

/** How commands are confined and how much they may use. */
export interface SandboxOptions {
  /** The bubblewrap program, 0.8 or newer: a name on the `PATH` or a path. @default "bwrap" */
  readonly bwrap?: string | undefined;
  /** Where files live while a call works on them; a local disk of this machine. @default the system's temporary directory */
  readonly scratch?: string | undefined;
  /** Memory of each process, in bytes; `/tmp` and `/dev/shm` hold a quarter of it. @default 1 GB */
  readonly memoryBytes?: number | undefined;
  /** Processes and threads of a command at a time. @default 128 */
  readonly maxProcesses?: number | undefined;
  /** Processor time of each process, in seconds. @default the command's time-out alone bounds it */
  readonly cpuSeconds?: number | undefined;
  /** How much of a command's stdout is returned, and how much of its stderr. @default 1 MB */
  readonly outputBytes?: number | undefined;
  /** Largest file. @default 64 MB */
  readonly maxFileBytes?: number | undefined;
  /** All files of a namespace together, checked when a call ends. @default 256 MB */
  readonly maxTotalBytes?: number | undefined;
  /** Files and directories of a namespace together, checked when a call ends. @default 10_000 */
  readonly maxFiles?: number | undefined;
  /** Paths of this machine that commands may read, at the same place; system directories are always there. @default [] */
  readonly readOnlyPaths?: readonly string[] | undefined;
  /** Variables added to `PATH`, `HOME`, `LANG`, `TMPDIR` and `USER`; nothing is inherited. @default {} */
  readonly environment?: Readonly<Record<string, string>> | undefined;
  /**
   * Who commands run as when this process is root (nobody else can choose). The kernel does not count root's processes,
   * so `maxProcesses` means nothing for `{ uid: 0, gid: 0 }`.
   * @default { uid: 65534, gid: 65534 }, "nobody"
   */
  readonly user?: SandboxUser | undefined;
}

/** {@link SandboxOptions} with every default filled in. */
export interface SandboxSettings {
  readonly bwrap: string;
  readonly scratch: string;
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
}

const megabyte = 1_048_576;
const count = z.number().int().positive();
const id = z.number().int().min(0).max(4_294_967_294);
const text = z.string().refine((value) => !value.includes("\0"), "must not hold a NUL character");
const path = text.refine(isAbsolute, "must be an absolute path");
const ownPlaces = ["/", "/proc", "/dev", "/tmp", "/workspace", "/shared"];
const outsidePath = path.refine(
  (value) => !ownPlaces.includes(value.replace(/(?<=.)\/+$/, "")),
  "is a place of the sandbox's own",
);

const settingsSchema: z.ZodType<SandboxSettings> = z.strictObject({
  bwrap: text.min(1).default("bwrap"),
  scratch: path.default(tmpdir),
  memoryBytes: count.min(16 * megabyte).default(1024 * megabyte),
  maxProcesses: count.min(4).default(128),
  cpuSeconds: count.optional(),
  outputBytes: count.default(megabyte),
  maxFileBytes: maxFileBytesSchema,
  maxTotalBytes: count.default(256 * megabyte),
  maxFiles: count.default(10_000),
  readOnlyPaths: z.array(outsidePath).default([]),
  environment: z
    .record(text.regex(/^[A-Za-z_][A-Za-z0-9_]*$/, "must be the name of a variable"), text)
    .default({}),
  user: z.strictObject({ uid: id, gid: id }).default({ uid: 65_534, gid: 65_534 }),
});

/**
 * Options with their defaults.
 *
 * @throws ConfigurationError that names every wrong option
 */
export function sandboxSettings(options: SandboxOptions, where: string): SandboxSettings {
  return parseOptions(settingsSchema, options, where);
}
