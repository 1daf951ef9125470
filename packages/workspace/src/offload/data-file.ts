import { createHash } from "node:crypto";
import type { DataBlock, Filesystem } from "@holdfast/core";
import type { FileNamespace } from "@holdfast/core/plugin-kit";
import { extensionOf } from "../tools/media-type.js";

/** A data block that was put into a file. */
export interface DataFile {
  readonly path: string;
  readonly bytes: number;
}

/**
 * Puts the bytes of a data block into `data/<sha256>.<extension>`, once per content; the same content again writes the same.
 * A block without bytes of its own (a URL, or text that is no base64) is kept as the JSON it is.
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

/** The bytes, or null when base64 of them would be something else: then decoding has lost something. */
function decodeBase64(data: string): Uint8Array | null {
  const bytes = Buffer.from(data, "base64");
  return bytes.toString("base64url") === plainBase64(data) ? bytes : null;
}

/** Without line breaks, padding and the choice of alphabet, which say nothing about the bytes. */
function plainBase64(data: string): string {
  return data
    .replace(/[\s=]+/g, "")
    .replaceAll("+", "-")
    .replaceAll("/", "_");
}

/** How texts name a data block. */
export function describeData({ mediaType, name }: DataBlock): string {
  return name === undefined ? mediaType : `${mediaType} ${JSON.stringify(name)}`;
}
