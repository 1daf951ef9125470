import type { Tool } from "@holdfast/core";
import { failedResult, isWellFormed, YieldingClock } from "@holdfast/core/plugin-kit";
import * as s from "@holdfast/core/plugin-kit/schema";
import { type FileToolFactory, onPath } from "./file-tool.js";
import { decodeText, type FileView } from "./file-view.js";
import { literalMatches } from "./literal-matches.js";
import { changeKey, loneSurrogate, type WriteParts } from "./write-file.js";

/** Size limit of an edited file: replacing a short text everywhere by a long one must not exhaust memory. */
const MAX_RESULT_CHARS = 67_108_864;
/** Most occurrences that are replaced at once. */
const MAX_OCCURRENCES = 1_000_000;

const input = s.object({
  path: s.string().describe("Relative to the workspace"),
  old_string: s
    .string()
    .min(1)
    .describe("The exact text to replace, without line numbers; it must occur once"),
  new_string: s.string().describe("The replacement"),
  replace_all: s.boolean().optional().describe("Replace every occurrence; false by default"),
});

/** Creates the tool `edit_file`. */
export function editFileTool(
  fileTool: FileToolFactory,
  view: FileView,
  { filesystem, protectedPaths, changes }: WriteParts,
): Tool {
  return fileTool({
    name: "edit_file",
    description:
      "Replaces text in a file, exactly as given. The text must occur exactly once unless replace_all is set; line endings are kept.",
    input,
    permission: onPath,
    async run(request, { namespace, signal }) {
      const { path, old_string: from, new_string: to, replace_all: all = false } = request;
      const plain = protectedPaths.checkWritable(path);
      const name = JSON.stringify(plain);
      if (from === to) return failedResult("old_string and new_string are the same.");
      if (!isWellFormed(from)) return failedResult(loneSurrogate("old_string"));
      if (!isWellFormed(to)) return failedResult(loneSurrogate("new_string"));
      return changes.run(changeKey(namespace, plain), async () => {
        const file = await view.read(namespace, plain);
        if (file === null) return failedResult(`There is no file ${name}; write_file creates one.`);
        if (!file.isOwn)
          return failedResult(
            `${name} is shared by all users and cannot be edited; create a file of your own with write_file.`,
          );
        const text = decodeText(file.bytes);
        if (text === null) return failedResult(`${name} is not a text file.`);
        const { times, starts } = await occurrencesOf(text, from, signal);
        if (times === 0) return failedResult(notFound(name, text, from));
        if (times > 1 && !all)
          return failedResult(
            `old_string occurs ${times} times in ${name}. Add lines around it until it occurs once, or set replace_all.`,
          );
        if (times > MAX_OCCURRENCES)
          return failedResult(
            `old_string occurs ${times} times in ${name}; at most ${MAX_OCCURRENCES} are replaced at once.`,
          );
        if (text.length + times * (to.length - from.length) > MAX_RESULT_CHARS)
          return failedResult(`${name} would have more than ${MAX_RESULT_CHARS} characters.`);
        const bytes = new TextEncoder().encode(replaced(text, starts, from.length, to));
        await filesystem.write(namespace, plain, bytes);
        return `Replaced ${times} ${times === 1 ? "occurrence" : "occurrences"} in ${name}.`;
      });
    },
  });
}

/** Finds the occurrences of a text; of very many only the first are returned, but all are counted. */
async function occurrencesOf(
  text: string,
  from: string,
  signal: AbortSignal,
): Promise<{ readonly times: number; readonly starts: readonly number[] }> {
  const starts: number[] = [];
  const clock = new YieldingClock({ signal });
  let times = 0;
  for (const found of literalMatches(from, text)) {
    if (found === undefined) await clock.tick();
    else if (++times <= MAX_OCCURRENCES) starts.push(found.start);
  }
  return { times, starts };
}

function replaced(text: string, starts: readonly number[], length: number, to: string): string {
  const pieces = starts.map((start, index) =>
    text.slice(index === 0 ? 0 : (starts[index - 1] as number) + length, start),
  );
  pieces.push(text.slice((starts.at(-1) ?? -length) + length));
  return pieces.join(to);
}

function notFound(name: string, text: string, from: string): string {
  const hint =
    text.includes("\r\n") && from.includes("\n")
      ? " Its lines end in CR LF, and so must those of old_string."
      : " Read the file and copy the text without line numbers.";
  return `old_string occurs 0 times in ${name}.${hint}`;
}
