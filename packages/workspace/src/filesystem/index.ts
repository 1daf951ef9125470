export * from "./local/local-filesystem.js";
export * from "./local/local-filesystem-spec.js";
export * from "./local/shared-directory.js";
export { DEFAULT_MAX_FILE_BYTES } from "./max-file-bytes.js";
export * from "./remote/remote-filesystem.js";
export * from "./remote/remote-filesystem-spec.js";
export * from "./run-limited.js";
