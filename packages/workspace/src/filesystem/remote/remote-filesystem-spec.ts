import type { Filesystem, FilesystemSpec } from "@holdfast/core";
import { type FilesystemParts, parseOptions } from "@holdfast/core/plugin-kit";
import * as s from "@holdfast/core/plugin-kit/schema";
import { maxFileBytesSchema } from "../limits.js";
import { SharedDirectory } from "../local/shared-directory.js";
import { RemoteFilesystem } from "./remote-filesystem.js";

/** Options of a {@link RemoteFilesystemSpec}. */
export interface RemoteFilesystemSpecOptions {
  /** Tells workspaces on one store apart: agents with the same name share a user's files. @default "workspace" */
  readonly name?: string | undefined;
  /** Largest file that is read or written. @default 67_108_864 */
  readonly maxFileBytes?: number | undefined;
}

const optionsSchema = s.strictObject({
  name: s.string().min(1).max(255).default("workspace"),
  maxFileBytes: maxFileBytesSchema,
});

/**
 * Creates a `RemoteFilesystem` in the agent's key-value store, so that every node has the users' files. The files that
 * all users share are read from the workspace directory of the deployment.
 */
export class RemoteFilesystemSpec implements FilesystemSpec {
  readonly kind = "remote";
  readonly needs = "distributed";
  readonly #options: s.Infer<typeof optionsSchema>;

  /** @throws ConfigurationError */
  constructor(options: RemoteFilesystemSpecOptions = {}) {
    this.#options = parseOptions(optionsSchema, options, "RemoteFilesystemSpec");
  }

  create(parts: FilesystemParts): Filesystem {
    const { name, maxFileBytes } = this.#options;
    const shared = new SharedDirectory({ root: parts.workspace, maxFileBytes });
    return new RemoteFilesystem({ keyValue: parts.keyValue, name, shared, maxFileBytes });
  }
}
