export type { SandboxOptions, SandboxUser } from "./options.js";
export * from "./sandbox-filesystem.js";
export * from "./sandbox-filesystem-spec.js";
