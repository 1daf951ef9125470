import type { Tool } from "@holdfast/core";
import {
  checkDirectoryPath,
  type FileInfo,
  failedResult,
  YieldingClock,
} from "@holdfast/core/plugin-kit";
import * as s from "@holdfast/core/plugin-kit/schema";
import { answerRows } from "./answer-rows.js";
import { type FileToolFactory, onPath } from "./file-tool.js";
import type { FileView } from "./file-view.js";
import { globMatcher } from "./glob-pattern.js";

/** Most paths of one answer. */
const MAX_PATHS = 500;
/** Longest time a pattern may take. */
const TIMEOUT_MS = 20_000;

const input = s.object({
  pattern: s.string().min(1).describe("For example **/*.md, notes/*.{txt,md}, report-?.csv"),
  path: s
    .string()
    .optional()
    .describe("Directory that the pattern is relative to; the top of the workspace by default"),
});

/** Creates the tool `glob_files`. */
export function globFilesTool(fileTool: FileToolFactory, view: FileView): Tool {
  return fileTool({
    name: "glob_files",
    description: `Finds files by name: * matches any text within a name, ** any directories, ? one character, [a-z] a set, {a,b} alternatives. The pattern is matched against the whole path below \`path\`, so *.md finds files at the top only. Returns at most ${MAX_PATHS} paths.`,
    input,
    permission: onPath,
    readOnly: true,
    async run({ pattern, path = "" }, { namespace, signal }) {
      const matches = globMatcher(pattern);
      const directory = checkDirectoryPath(path);
      const files = await view.files(namespace, directory);
      const isMatch = (file: string): boolean => matches(relativeTo(directory, file));
      const clock = new YieldingClock({ timeoutMs: TIMEOUT_MS, signal });
      const { found, isComplete } = await matchingFiles(files, isMatch, clock);
      if (!isComplete)
        return failedResult(`The pattern took more than ${TIMEOUT_MS} ms; simplify it.`);
      if (found.length === 0) return "No file matches.";
      return answerRows(
        found.map((file) => file.path),
        MAX_PATHS,
        (rest) => `… and ${rest} more; narrow the pattern.`,
      );
    },
  });
}

/** Files chosen by their path. */
interface MatchingFiles {
  readonly found: readonly FileInfo[];
  /** False when the time was up before all files were checked. */
  readonly isComplete: boolean;
}

/** Filters files by path and lets other work run meanwhile, because a pattern may take long for each. */
export async function matchingFiles(
  files: readonly FileInfo[],
  matches: (path: string) => boolean,
  clock: YieldingClock,
): Promise<MatchingFiles> {
  const found: FileInfo[] = [];
  for (const file of files) {
    if (matches(file.path)) found.push(file);
    if (!clock.isDue) continue;
    await clock.tick();
    if (clock.isUp) return { found, isComplete: false };
  }
  return { found, isComplete: true };
}

/** Returns a path relative to a directory above it; for the directory itself, its last name. */
export function relativeTo(directory: string, path: string): string {
  if (path === directory) return path.slice(path.lastIndexOf("/") + 1);
  return directory === "" ? path : path.slice(directory.length + 1);
}
