import { isUtf8 } from "node:buffer";
import type { TextBlock, Tool } from "@holdfast/core";
import { countLines, failedResult } from "@holdfast/core/plugin-kit";
import * as s from "@holdfast/core/plugin-kit/schema";
import { countBase64Lines, pageBase64 } from "./base64-page.js";
import { type FileToolFactory, onPath } from "./file-tool.js";
import type { FileView } from "./file-view.js";
import { mediaTypeOf } from "./media-type.js";
import { lineChars, type Page, pageLines } from "./page-lines.js";

/** Limits of one call of a reading tool. */
export interface ReadLimits {
  readonly maxReadLines: number;
  readonly maxReadBytes: number;
  readonly maxDataBytes: number;
}

/** Name, description and limits of a reading tool. */
export interface ReadToolOptions extends ReadLimits {
  readonly name: string;
  readonly description: string;
  /** Advice for the model when there is no such file. */
  readonly missingHint: string;
  /** Returns the reason why a path may not be read; null when it may. */
  refusal?(path: string): string | null;
}

/** Creates the tool `read_file`, or one like it under another name. */
export function readFileTool(
  fileTool: FileToolFactory,
  view: FileView,
  options: ReadToolOptions,
): Tool {
  const { maxReadLines, maxReadBytes, maxDataBytes } = options;
  const input = s.object({
    path: s.string().describe("Relative to the workspace"),
    offset: s.int().min(1).optional().describe("First line to read; 1 by default"),
    limit: s
      .int()
      .min(1)
      .optional()
      .describe(`Number of lines to read; at most ${maxReadLines}, which is the default`),
    char_offset: s
      .int()
      .min(0)
      .optional()
      .describe(
        "First character to read of the line `offset`; only for lines that are longer than a page",
      ),
    base64: s
      .boolean()
      .optional()
      .describe("Read the bytes of a binary file as lines of base64; false by default"),
  });
  return fileTool({
    name: options.name,
    description: `${options.description} A page has at most ${maxReadLines} lines and ${maxReadBytes} bytes; each line starts with its number and a tab. The note after a page says how to go on. Images and PDF files are shown as they are.`,
    input,
    permission: onPath,
    readOnly: true,
    async run(request, ctx) {
      const { path, offset = 1, limit = maxReadLines, char_offset: charOffset = 0 } = request;
      const refusal = options.refusal?.(path) ?? null;
      if (refusal !== null) return failedResult(refusal);
      const file = await view.read(ctx.namespace, path);
      if (file === null) {
        const isDirectory = (await view.files(ctx.namespace, path)).length > 0;
        const problem = isDirectory ? "is a directory" : "does not exist";
        return failedResult(`The file ${JSON.stringify(path)} ${problem}. ${options.missingHint}`);
      }
      const { bytes } = file;
      const maxLines = Math.min(limit, maxReadLines);
      if (request.base64 === true) {
        const page = pageBase64(bytes, { offset, maxLines, maxBytes: maxReadBytes });
        return page === null
          ? failedResult(noLine(path, countBase64Lines(bytes), offset))
          : pageBlocks(page, bytes.length, 0);
      }
      const mediaType = mediaTypeOf(path, bytes);
      if (mediaType !== null && bytes.length <= maxDataBytes) {
        const data = Buffer.from(bytes).toString("base64");
        return [{ type: "data", mediaType, source: { kind: "base64", data }, name: path }];
      }
      if (mediaType !== null || !isUtf8(bytes))
        return `${JSON.stringify(path)} is a binary file${mediaType === null ? "" : ` (${mediaType})`} of ${bytes.length} bytes${mediaType === null ? "" : `, more than the ${maxDataBytes} that can be shown`}; it has no text to read. Its bytes can be read with base64 set to true.`;
      const page = pageLines(bytes, { offset, charOffset, maxLines, maxBytes: maxReadBytes });
      return page === null
        ? failedResult(outside(path, bytes, offset))
        : pageBlocks(page, bytes.length, charOffset);
    },
  });
}

/** Returns the page as a block of its own, so that pages make up the file, and a note about it in a second block. */
function pageBlocks(page: Page, bytes: number, charOffset: number): TextBlock[] {
  const { firstLine, lastLine, totalLines, cutAt, next } = page;
  const shown =
    cutAt !== undefined
      ? `Line ${firstLine} of ${totalLines}, characters ${charOffset} to ${cutAt}`
      : firstLine === lastLine
        ? `Line ${firstLine} of ${totalLines}${charOffset > 0 ? `, from character ${charOffset} on` : ""}`
        : `Lines ${firstLine} to ${lastLine} of ${totalLines}`;
  const more =
    next === undefined
      ? "End of file."
      : next.charOffset > 0
        ? `Go on with offset ${next.offset} and char_offset ${next.charOffset}.`
        : `Go on with offset ${next.offset}.`;
  return [
    { type: "text", text: page.text },
    { type: "text", text: `[${shown}; the file has ${bytes} bytes. ${more}]` },
  ];
}

function outside(path: string, bytes: Uint8Array, offset: number): string {
  const chars = lineChars(bytes, offset);
  return chars === null
    ? noLine(path, countLines(bytes), offset)
    : `Line ${offset} of ${JSON.stringify(path)} has ${chars} characters; char_offset must not be greater.`;
}

function noLine(path: string, lines: number, offset: number): string {
  return `${JSON.stringify(path)} has ${lines} lines; there is no line ${offset}.`;
}
