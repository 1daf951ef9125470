import { createHash } from "node:crypto";
import { readFile, rename, stat } from "node:fs/promises";
import { join } from "node:path";
import { StateCorruptError } from "@holdfast/core";
import type { Disk } from "../io/disk.js";
import { isMissing } from "../io/io-error.js";
import { sweepTemporaries } from "../io/stale-temporaries.js";
import type { ReportSink } from "../report.js";
import type { LogPlace } from "./log-place.js";

const REF = /^sha256:([0-9a-f]{64})$/;

/** Returns the file of a blob; null for an invalid reference, so that none can name another file. */
export function blobFile(place: LogPlace, ref: string): string | null {
  const hash = REF.exec(ref)?.[1];
  return hash === undefined ? null : join(place.blobs, `sha256-${hash}`);
}

/** Stores the blobs that are not there yet. When it resolves, they and their names are durable. */
export async function storeBlobs(
  disk: Disk,
  place: LogPlace,
  blobs: ReadonlyMap<string, string>,
  report: ReportSink,
): Promise<void> {
  if (blobs.size === 0) return;
  await disk.makeDirectory(place.blobs, place.root);
  await sweepTemporaries(place.blobs, report);
  for (const [ref, text] of blobs) await storeBlob(disk, place, ref, Buffer.from(text, "utf8"));
  // Also for existing ones: the process that wrote them may have died before the names were durable.
  await disk.syncDirectories(place.blobs, place.directory);
}

/**
 * Returns a blob by its reference; null when there is none.
 *
 * @throws StateCorruptError when its contents do not match the reference
 */
export async function readBlob(place: LogPlace, ref: string): Promise<string | null> {
  const file = blobFile(place, ref);
  if (file === null) return null;
  try {
    const bytes = await readFile(file);
    if (`sha256:${createHash("sha256").update(bytes).digest("hex")}` === ref)
      return bytes.toString("utf8");
  } catch (error) {
    if (isMissing(error)) return null;
    throw error;
  }
  throw new StateCorruptError(
    `${ref} in ${place.label} does not match its hash; the file is left as it is: restore it from a backup`,
  );
}

async function storeBlob(disk: Disk, place: LogPlace, ref: string, bytes: Buffer): Promise<void> {
  const file = blobFile(place, ref) as string;
  const stored = await sizeOf(file);
  if (stored === bytes.length) return;
  if (stored === undefined) await disk.publish(place.blobs, `sha256-${ref.slice(7)}`, bytes);
  // After a power loss, an unsynced file may have lost its contents.
  else await disk.withTemporary(place.blobs, bytes, (temporary) => rename(temporary, file));
}

async function sizeOf(file: string): Promise<number | undefined> {
  try {
    return (await stat(file)).size;
  } catch (error) {
    if (isMissing(error)) return undefined;
    throw error;
  }
}
