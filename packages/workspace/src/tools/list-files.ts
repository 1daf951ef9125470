import type { Tool } from "@holdfast/core";
import { checkDirectoryPath, type FileInfo, failedResult } from "@holdfast/core/plugin-kit";
import * as s from "@holdfast/core/plugin-kit/schema";
import { answerRows } from "./answer-rows.js";
import { type FileToolFactory, onPath } from "./file-tool.js";
import type { FileView } from "./file-view.js";

/** Most entries of one answer. */
const MAX_ENTRIES = 500;

const input = s.object({
  path: s.string().optional().describe("A directory; the top of the workspace by default"),
});

/** Creates the tool `list_files`. */
export function listFilesTool(fileTool: FileToolFactory, view: FileView): Tool {
  return fileTool({
    name: "list_files",
    description: `Lists one level of a directory: files with their size in bytes, directories with the number of files below them. Returns at most ${MAX_ENTRIES} entries.`,
    input,
    permission: onPath,
    readOnly: true,
    async run({ path = "" }, { namespace }) {
      const directory = checkDirectoryPath(path);
      const entries = childrenOf(directory, await view.files(namespace, directory));
      if (entries.length === 0)
        return directory === ""
          ? "The workspace is empty."
          : failedResult(`There is nothing at ${JSON.stringify(path)}.`);
      return answerRows(
        entries,
        MAX_ENTRIES,
        (rest) => `… and ${rest} more; glob_files finds them by name.`,
      );
    },
  });
}

/** Returns one row per child of a directory, with the number of files below subdirectories. */
function childrenOf(directory: string, files: readonly FileInfo[]): string[] {
  const below = directory === "" ? 0 : directory.length + 1;
  const counts = new Map<string, number>();
  const rows: [name: string, row: string][] = [];
  for (const { path, bytes } of files) {
    const name = path === directory ? path : path.slice(below);
    const end = path === directory ? -1 : name.indexOf("/");
    if (end < 0) rows.push([name, `${name} (${bytes} bytes)`]);
    else counts.set(name.slice(0, end), (counts.get(name.slice(0, end)) ?? 0) + 1);
  }
  for (const [name, count] of counts)
    rows.push([name, `${name}/ (${count} ${count === 1 ? "file" : "files"})`]);
  return rows.sort(([a], [b]) => (a < b ? -1 : 1)).map(([, row]) => row);
}
