import type { Tool } from "@holdfast/core";
import { checkDirectoryPath } from "@holdfast/core/plugin-kit";
import { z } from "zod";
import { answerRows } from "./answer-rows.js";
import { type FileToolFactory, refused } from "./file-tool.js";
import type { FileView } from "./file-view.js";
import { globMatcher } from "./glob-pattern.js";
import { matchingFiles } from "./matching-files.js";
import { SearchClock } from "./search-clock.js";

/** Paths of one answer. */
const MAX_PATHS = 500;
/** Longest time a pattern may take. */
const TIMEOUT_MS = 20_000;

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
    async run({ pattern, path = "" }, { namespace, signal }) {
      const matches = globMatcher(pattern);
      const directory = checkDirectoryPath(path);
      const files = await view.files(namespace, directory);
      const isMeant = (file: string): boolean => matches(relativeTo(directory, file));
      const clock = new SearchClock(TIMEOUT_MS, signal);
      const { found, isComplete } = await matchingFiles(files, isMeant, clock);
      if (!isComplete) return refused(`The pattern took more than ${TIMEOUT_MS} ms; simplify it.`);
      if (found.length === 0) return "No file matches.";
      return answerRows(
        found.map((file) => file.path),
        MAX_PATHS,
        (rest) => `… and ${rest} more; narrow the pattern.`,
      );
    },
  });
}

/** A path below a directory, without it; of the directory itself, its last name. */
export function relativeTo(directory: string, path: string): string {
  if (path === directory) return path.slice(path.lastIndexOf("/") + 1);
  return directory === "" ? path : path.slice(directory.length + 1);
}
