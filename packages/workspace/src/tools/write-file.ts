import type { Filesystem, Tool } from "@holdfast/core";
import { isWellFormed } from "@holdfast/core/plugin-kit";
import { z } from "zod";
import type { FileLocks } from "./file-locks.js";
import { type FileToolFactory, refused } from "./file-tool.js";
import type { ProtectedPaths } from "./protected-paths.js";

/** What the tools that change files work with. */
export interface WriteParts {
  readonly filesystem: Filesystem;
  readonly protectedPaths: ProtectedPaths;
  readonly locks: FileLocks;
}

const input = z.object({
  path: z.string().describe("Relative to the workspace; directories are made as needed"),
  content: z.string().describe("The whole new content"),
});

/** The tool `write_file`. */
export function writeFileTool(fileTool: FileToolFactory, parts: WriteParts): Tool {
  const { filesystem, protectedPaths, locks } = parts;
  return fileTool({
    name: "write_file",
    description:
      "Writes a file: makes it, or replaces all of it. To change part of a file use edit_file.",
    input,
    async run({ path, content }, { namespace }) {
      const plain = protectedPaths.checkWritable(path);
      if (!isWellFormed(content)) return refused(halfCharacter("content"));
      const bytes = new TextEncoder().encode(content);
      await locks.run(namespace, plain, () => filesystem.write(namespace, plain, bytes));
      return `Wrote ${bytes.length} bytes to ${JSON.stringify(plain)}.`;
    },
  });
}

/** Why text with a lone surrogate is not written: a file would hold something else. */
export function halfCharacter(field: string): string {
  return `${field} holds half of a surrogate pair, which no file can hold. Nothing was written.`;
}
