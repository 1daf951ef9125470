import { checkDirectoryPath, type Tool } from "@holdfast/core";
import { z } from "zod";
import type { FileToolFactory } from "./file-tool.js";
import type { FileView } from "./file-view.js";
import { globMatcher } from "./glob-pattern.js";

/** Paths of one answer. */
const MAX_PATHS = 500;

const input = z.object({
  pattern: z.string().min(1).describe("For example **/*.md, notes/*.{txt,md}, report-?.csv"),
  path: z.string().optional().describe("Directory the pattern begins in; the top by default"),
});

/** The tool `glob_files`. */
export function globFilesTool(fileTool: FileToolFactory, view: FileView): Tool {
  return fileTool({
    name: "glob_files",
    description: `Finds files by name: * is any text within a name, ** any directories, ? one character, [a-z] a set, {a,b} alternatives. A pattern is matched against the whole path below \`path\`, so *.md finds files at the top only. At most ${MAX_PATHS} paths.`,
    input,
    readOnly: true,
    async run({ pattern, path = "" }, { namespace }) {
      const matches = globMatcher(pattern);
      const found: string[] = [];
      for (const file of await view.files(namespace, path))
        if (matches(relativeTo(checkDirectoryPath(path), file.path))) found.push(file.path);
      if (found.length === 0) return "No file matches.";
      const rows = found.slice(0, MAX_PATHS);
      const rest = found.length - rows.length;
      if (rest > 0) rows.push(`… and ${rest} more; narrow the pattern.`);
      return rows.join("\n");
    },
  });
}

/** A path below a directory, without it; of the directory itself, its last name. */
export function relativeTo(directory: string, path: string): string {
  if (path === directory) return path.slice(path.lastIndexOf("/") + 1);
  return directory === "" ? path : path.slice(directory.length + 1);
}
