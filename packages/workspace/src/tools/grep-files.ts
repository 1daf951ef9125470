import type { Tool } from "@holdfast/core";
import { checkDirectoryPath, failedResult, YieldingClock } from "@holdfast/core/plugin-kit";
import * as s from "@holdfast/core/plugin-kit/schema";
import { type FileToolFactory, onPath } from "./file-tool.js";
import type { FileView } from "./file-view.js";
import { matchingFiles, relativeTo } from "./glob-files.js";
import { globMatcher } from "./glob-pattern.js";
import { type SearchLimits, type SearchReport, searchFiles, searchLimits } from "./search-files.js";

const input = s.object({
  pattern: s.string().min(1).describe("Text to search for; case-sensitive"),
  path: s.string().optional().describe("A directory or a file; the whole workspace by default"),
  glob: s
    .string()
    .min(1)
    .optional()
    .describe(
      "Searches only files whose path below `path` matches; without a / only the name is compared",
    ),
  regex: s
    .boolean()
    .optional()
    .describe("The pattern is an RE2 regular expression; begin it with (?i) to ignore case"),
});

/** Creates the tool `grep_files`. */
export function grepFilesTool(
  fileTool: FileToolFactory,
  view: FileView,
  limits: SearchLimits = searchLimits,
): Tool {
  return fileTool({
    name: "grep_files",
    description: `Finds text in files, line by line. Returns rows \`path:line: text\`, at most ${limits.maxMatches}. For a long line, a row has the text around the match and the char_offset at which read_file shows it. agents/ (logs and tasks) is searched only when given as path.`,
    input,
    permission: onPath,
    readOnly: true,
    async run({ pattern, path = "", glob, regex = false }, { namespace, signal }) {
      const directory = checkDirectoryPath(path);
      const matches = glob === undefined ? () => true : pathTest(glob);
      const { found: files, isComplete } = await matchingFiles(
        await view.files(namespace, directory),
        (file) =>
          (directory !== "" || !file.startsWith("agents/")) && matches(relativeTo(directory, file)),
        new YieldingClock({ timeoutMs: limits.timeoutMs, signal }),
      );
      if (!isComplete)
        return failedResult(`The glob took more than ${limits.timeoutMs} ms; simplify it.`);
      const request = { namespace, pattern, regex, files, limits, signal };
      return describeReport(await searchFiles(view, request));
    },
  });
}

function pathTest(glob: string): (path: string) => boolean {
  const matches = globMatcher(glob);
  return glob.includes("/") ? matches : (path) => matches(path.slice(path.lastIndexOf("/") + 1));
}

function describeReport({ rows, searched, skipped, stopped }: SearchReport): string {
  const files = `${searched} ${searched === 1 ? "file" : "files"} searched`;
  const others = skipped > 0 ? `, ${skipped} without text or unreadable` : "";
  const early =
    stopped === undefined
      ? ""
      : ` The search stopped ${stopped}; there may be more. Narrow it by path or glob.`;
  const found = rows.length === 0 ? "Nothing found" : `${rows.length} rows`;
  return [...rows, `[${found}; ${files}${others}.${early}]`].join("\n");
}
