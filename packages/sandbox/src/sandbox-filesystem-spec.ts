import type { Filesystem, FilesystemSpec } from "@holdfast/core";
import { type FilesystemParts, parseOptions } from "@holdfast/core/plugin-kit";
import * as s from "@holdfast/core/plugin-kit/schema";
import { RemoteFilesystemSpec } from "@holdfast/workspace";
import { type SandboxOptions, sandboxSettings } from "./options.js";
import { SandboxFilesystem } from "./sandbox-filesystem.js";

/** Options of a {@link SandboxFilesystemSpec}. */
export interface SandboxFilesystemSpecOptions extends SandboxOptions {
  /** Tells workspaces on one store apart: agents with the same name share a user's files. @default "workspace" */
  readonly name?: string | undefined;
}

const nameSchema: s.Schema<string> = s.string().min(1).max(255).default("workspace");

/**
 * Creates a `SandboxFilesystem` whose files are stored in the agent's key-value store, so that every node has them. The
 * files that all users share are read from the workspace directory of the deployment; commands see them at `/shared`.
 *
 * @example
 * HarnessAgent.builder().name("coder").model(model).filesystem(new SandboxFilesystemSpec()).build();
 */
export class SandboxFilesystemSpec implements FilesystemSpec {
  readonly kind = "sandbox";
  readonly needs = "distributed";
  readonly #name: string;
  readonly #options: SandboxOptions;

  /** @throws ConfigurationError */
  constructor({ name, ...options }: SandboxFilesystemSpecOptions = {}) {
    const parsed = parseOptions(s.object({ name: nameSchema }), { name }, "SandboxFilesystemSpec");
    this.#name = parsed.name;
    this.#options = sandboxSettings(options, "SandboxFilesystemSpec");
  }

  create(parts: FilesystemParts): Filesystem {
    const { maxFileBytes } = this.#options;
    const remote = new RemoteFilesystemSpec({ name: this.#name, maxFileBytes });
    return new SandboxFilesystem({
      ...this.#options,
      files: remote.create(parts),
      sharedDirectory: parts.workspace,
    });
  }
}
