import type { Filesystem, FilesystemSpec } from "@holdfast/core";
import { type FilesystemParts, parseOptions } from "@holdfast/core/plugin-kit";
import { z } from "zod";
import { RemoteFilesystemSpec } from "../filesystem/remote/remote-filesystem-spec.js";
import { type SandboxOptions, sandboxSettings } from "./options.js";
import { SandboxFilesystem } from "./sandbox-filesystem.js";

/** How a {@link SandboxFilesystemSpec} makes its filesystem. */
export interface SandboxFilesystemSpecOptions extends SandboxOptions {
  /** Tells workspaces on one store apart: agents with the same name share a user's files. @default "workspace" */
  readonly name?: string | undefined;
}

const nameSchema: z.ZodType<string> = z.string().min(1).max(255).default("workspace");

/**
 * Lets commands work on the users' files in a sandbox (bubblewrap), and keeps the files in the agent's key-value store,
 * so that every node has them. What all users share is read from the workspace directory of the deployment; commands see
 * it at `/shared`.
 */
export class SandboxFilesystemSpec implements FilesystemSpec {
  readonly kind = "sandbox";
  readonly needs = "distributed";
  readonly #name: string;
  readonly #options: SandboxOptions;

  /** @throws ConfigurationError */
  constructor({ name, ...options }: SandboxFilesystemSpecOptions = {}) {
    const parsed = parseOptions(z.object({ name: nameSchema }), { name }, "SandboxFilesystemSpec");
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
