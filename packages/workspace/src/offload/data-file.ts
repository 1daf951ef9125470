import { createHash } from "node:crypto";
import type { DataBlock, Filesystem } from "@holdfast/core";
import type { FileNamespace } from "@holdfast/core/plugin-kit";
import { extensionOf } from "../tools/media-type.js";

/** File with the content of a data block. */
export interface DataFile {
  readonly path: string;
  readonly bytes: number;
}

/**
 * Writes the bytes of a data block to `data/<sha256>.<extension>`; the same content is always the same file. A block
 * without bytes of its own (a URL, or text that is not base64) is stored as JSON.
 */
export async function keepData(
  filesystem: Filesystem,
  namespace: FileNamespace,
  block: DataBlock,
): Promise<DataFile> {
  const { source, mediaType } = block;
  const decoded = source.kind === "base64" ? decodeBase64(source.data) : null;
  const bytes = decoded ?? new TextEncoder().encode(JSON.stringify(block));
  const hash = createHash("sha256").update(bytes).digest("hex");
  const path = `data/${hash}.${decoded === null ? "json" : extensionOf(mediaType)}`;
  await filesystem.write(namespace, path, bytes);
  return { path, bytes: bytes.length };
}

/** Decodes base64; null when encoding the bytes again gives something else, because decoding lost something. */
function decodeBase64(data: string): Uint8Array | null {
  const bytes = Buffer.from(data, "base64");
  return bytes.toString("base64url") === plainBase64(data) ? bytes : null;
}

/** Removes line breaks, padding and the choice of alphabet, which do not affect the bytes. */
function plainBase64(data: string): string {
  return data
    .replace(/[\s=]+/g, "")
    .replaceAll("+", "-")
    .replaceAll("/", "_");
}

/** Describes a data block in a few words. */
export function describeData({ mediaType, name }: DataBlock): string {
  return name === undefined ? mediaType : `${mediaType} ${JSON.stringify(name)}`;
}
