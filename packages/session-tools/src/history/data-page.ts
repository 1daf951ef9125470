import {
  type DataBlock,
  type DataSource,
  InvalidInputError,
  type LogRecord,
  type Message,
  type TextBlock,
} from "@holdfast/core";
import { cutIndex } from "@holdfast/core/plugin-kit";
import { messageProblem } from "@holdfast/core/store-kit";
import { BlobPaths, type Path } from "../render/blob-paths.js";
import { BlobReader } from "../render/blob-reader.js";
import { type FoundMessage, historyCall, pastEnd, type Reading } from "./reading.js";

/** A request for a data block of a message. */
export interface DataRequest {
  readonly data: number;
  readonly offset?: number | undefined;
  readonly includeDiscarded?: boolean | undefined;
}

/**
 * Returns a data block or, when it is too large or an offset is given, a page of its base64 (or URL) in a separate block.
 *
 * @throws InvalidInputError when there is no such block, or the offset is past its end
 */
export async function dataPage(
  reading: Reading,
  { record }: FoundMessage,
  { data: index, offset, includeDiscarded }: DataRequest,
): Promise<readonly (TextBlock | DataBlock)[]> {
  const { maxPageChars, maxDataBytes } = reading.settings;
  const found = dataBlocks(record.message)[index];
  const what = `data ${index} of the message at ${record.seq}`;
  if (found === undefined)
    throw new InvalidInputError(`there is no ${what}; the message shows which data it has`);
  const { source } = found.block;
  const content = await contentOf(reading, record, found);
  const isUrl = source.kind === "url";
  const bytes = Buffer.byteLength(content, isUrl ? "utf8" : "base64");
  const about = `[${what}: ${bytes} bytes${isUrl ? " of URL" : ""}`;
  if (offset === undefined && bytes <= maxDataBytes) {
    const whole: DataSource = isUrl ? { ...source, url: content } : { ...source, data: content };
    return [
      { ...found.block, source: whole },
      { type: "text", text: `${about}.]` },
    ];
  }
  const start = cutIndex(content, offset ?? 0);
  if (start >= content.length) throw pastEnd(what, content.length, start);
  // Whole groups of four characters, so that each page can be decoded by itself.
  const end = cutIndex(content, start + Math.floor(maxPageChars / 4) * 4);
  const args = { at: record.seq, data: index, offset: end };
  const next =
    end === content.length
      ? "This is the end."
      : `Go on: ${historyCall(reading, args, includeDiscarded)}.`;
  const shown = `characters ${start} to ${end} of ${content.length} as ${source.kind}`;
  return [
    { type: "text", text: content.slice(start, end) },
    { type: "text", text: `${about}, ${shown}. ${next}]` },
  ];
}

interface PlacedData {
  readonly block: DataBlock;
  readonly path: Path;
}

/** Returns the base64 or the URL of a block, from the record or from a blob. */
async function contentOf(
  { log, slot, clock }: Reading,
  record: LogRecord,
  { block: { source }, path }: PlacedData,
): Promise<string> {
  const [field, value] = source.kind === "url" ? ["url", source.url] : ["data", source.data];
  const blob = new BlobPaths(record).at([...path, "source", field]);
  return blob === undefined ? value : new BlobReader(log, slot, clock).read(blob.ref);
}

/** Lists the data blocks of a message, in the order in which they are numbered, with their paths. */
function dataBlocks(message: Message): readonly PlacedData[] {
  if (messageProblem(message) !== null) return [];
  return message.content.flatMap((block, index) => {
    const path = ["content", index];
    if (block.type === "data") return [{ block, path }];
    if (block.type !== "tool_result") return [];
    return block.output.flatMap((part, at) =>
      part.type === "data" ? [{ block: part, path: [...path, "output", at] }] : [],
    );
  });
}
