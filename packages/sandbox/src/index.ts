export type { SandboxOptions, SandboxUser } from "./options.js";
export type { SandboxBounds } from "./sandbox-bounds.js";
export * from "./sandbox-filesystem.js";
export * from "./sandbox-filesystem-spec.js";
