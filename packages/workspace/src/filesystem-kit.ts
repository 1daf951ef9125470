/**
 * Building blocks for authors of a `Filesystem` on a local disk.
 *
 * @module
 */

export { CappedOutput } from "./filesystem/capped-output.js";
export { hasIoCode, ioCode, ioReason } from "./filesystem/io-error.js";
export { MAX_PATH_DEPTH, maxFileBytesSchema } from "./filesystem/limits.js";
export {
  type ChainProblem,
  closeDirectoryChain,
  type DirectoryChainOptions,
  openDirectoryChain,
  statEntry,
} from "./filesystem/local/directory-chain.js";
export { DirectoryTree, type DirectoryTreeOptions } from "./filesystem/local/directory-tree.js";
export type { ListingOptions } from "./filesystem/local/list-below.js";
export type { OpenDirectory } from "./filesystem/local/open-directory.js";
export { SHARED_NAMES } from "./filesystem/local/shared-directory.js";
export { isTemporaryName } from "./filesystem/local/temporary-name.js";
export {
  directoryTreePath,
  fileTreePath,
  type TreePath,
} from "./filesystem/local/tree-path.js";
export { namespaceNames } from "./filesystem/namespace-names.js";
export { parentsOf } from "./filesystem/remote/file-key.js";
export { LONGEST_TIMER_MS, startFailure } from "./filesystem/run-limited.js";
