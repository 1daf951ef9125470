import type { Filesystem, FilesystemSpec } from "@holdfast/core";
import { type FilesystemParts, parseOptions } from "@holdfast/core/plugin-kit";
import * as s from "@holdfast/core/plugin-kit/schema";
import { maxFileBytesSchema } from "../limits.js";
import { LocalFilesystem } from "./local-filesystem.js";

/** Options of a {@link LocalFilesystemSpec}. */
export interface LocalFilesystemSpecOptions {
  /** Allows commands, which run as this process's user and are not confined. @default false */
  readonly shell?: boolean | undefined;
  /** Largest file that is read or written. @default 67_108_864 */
  readonly maxFileBytes?: number | undefined;
}

const optionsSchema = s.strictObject({
  shell: s.boolean().default(false),
  maxFileBytes: maxFileBytesSchema,
});

/** Creates a `LocalFilesystem` in the agent's workspace directory, on this host. */
export class LocalFilesystemSpec implements FilesystemSpec {
  readonly kind = "local";
  readonly needs = "process";
  readonly #options: s.Infer<typeof optionsSchema>;

  /** @throws ConfigurationError */
  constructor(options: LocalFilesystemSpecOptions = {}) {
    this.#options = parseOptions(optionsSchema, options, "LocalFilesystemSpec");
  }

  create(parts: FilesystemParts): Filesystem {
    return new LocalFilesystem({ ...this.#options, root: parts.workspace });
  }
}
