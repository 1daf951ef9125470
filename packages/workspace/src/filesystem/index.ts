export { DEFAULT_MAX_FILE_BYTES } from "./limits.js";
export * from "./local/local-filesystem.js";
export * from "./local/local-filesystem-spec.js";
export { ProjectFilesystem, type ProjectFilesystemOptions } from "./local/project-filesystem.js";
export { SharedDirectory, type SharedDirectoryOptions } from "./local/shared-directory.js";
export * from "./remote/remote-filesystem.js";
export * from "./remote/remote-filesystem-spec.js";
export { DEFAULT_OUTPUT_BYTES, type LimitedRun, runLimited } from "./run-limited.js";
