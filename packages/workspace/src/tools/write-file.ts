import type { Filesystem, Tool } from "@holdfast/core";
import {
  type FileNamespace,
  failedResult,
  isWellFormed,
  type KeyedQueue,
} from "@holdfast/core/plugin-kit";
import * as s from "@holdfast/core/plugin-kit/schema";
import { userTag } from "@holdfast/core/store-kit";
import { type FileToolFactory, onPath } from "./file-tool.js";
import { foldPath } from "./fold-path.js";
import type { ProtectedPaths } from "./protected-paths.js";

/** Parts of the tools that change files. */
export interface WriteParts {
  readonly filesystem: Filesystem;
  readonly protectedPaths: ProtectedPaths;
  /** Runs changes of one file one after another; see {@link changeKey}. */
  readonly changes: KeyedQueue;
}

const input = s.object({
  path: s.string().describe("Relative to the workspace; missing directories are created"),
  content: s.string().describe("The whole new content"),
});

/** Creates the tool `write_file`. */
export function writeFileTool(fileTool: FileToolFactory, parts: WriteParts): Tool {
  const { filesystem, protectedPaths, changes } = parts;
  return fileTool({
    name: "write_file",
    description:
      "Writes a file: creates it or replaces its whole content. To change part of a file, use edit_file.",
    input,
    permission: onPath,
    async run({ path, content }, { namespace }) {
      const plain = protectedPaths.checkWritable(path);
      if (!isWellFormed(content)) return failedResult(loneSurrogate("content"));
      const bytes = new TextEncoder().encode(content);
      await changes.run(changeKey(namespace, plain), () =>
        filesystem.write(namespace, plain, bytes),
      );
      return `Wrote ${bytes.length} bytes to ${JSON.stringify(plain)}.`;
    },
  });
}

/** Returns the key under which changes of a file are queued: the same for paths that some file system takes for one. */
export function changeKey({ userId, sessionId }: FileNamespace, path: string): string {
  return JSON.stringify([userTag(userId), userId === null ? sessionId : "", foldPath(path)]);
}

/** Explains why text with a lone surrogate is not written: UTF-8 cannot encode it. */
export function loneSurrogate(field: string): string {
  return `${field} contains half of a surrogate pair, which UTF-8 cannot encode. Nothing was written.`;
}
