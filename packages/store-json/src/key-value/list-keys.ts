import { join } from "node:path";
import { StateCorruptError } from "@holdfast/core";
import { compareKeys, type KeyPage, type KeyQuery } from "@holdfast/core/store-kit";
import { documentTitle } from "../document/document-title.js";
import { sweepDeleted } from "../document/sweep-deleted.js";
import { namesIn } from "../io/disk.js";
import { inParallel } from "../io/in-parallel.js";
import { isMissing, unavailable } from "../io/io-error.js";
import { idInSegment } from "../layout.js";
import type { ReportSink } from "../report.js";
import { keySegment, namespaceDirectory, valuePlace } from "./value-place.js";

/**
 * Returns the keys of a namespace that have a value, in ascending order of code points; the cursor is the last key of the page.
 *
 * @throws StoreUnavailableError
 */
export async function listKeys(
  root: string,
  namespace: readonly string[],
  query: KeyQuery & { readonly limit: number },
  report: ReportSink,
): Promise<KeyPage> {
  const { prefix = "", cursor, limit } = query;
  const directory = namespaceDirectory(root, namespace);
  try {
    const names = (await namesIn(directory)).filter((name) => keySegment(name) !== null);
    const candidates = (await inParallel(names, 16, (name) => keyOf(directory, name)))
      .filter((key) => key !== null)
      .filter((key) => key.startsWith(prefix))
      .filter((key) => cursor === undefined || compareKeys(key, cursor) > 0)
      .sort(compareKeys);
    const keys: string[] = [];
    for (const key of candidates) {
      if (!(await hasValue(valuePlace(root, namespace, key).directory, report))) continue;
      const last = keys.at(-1);
      if (keys.length === limit && last !== undefined) return { keys, cursor: last };
      keys.push(key);
    }
    return { keys };
  } catch (error) {
    throw unavailable("list the keys of a namespace", error);
  }
}

/** Returns the key of a directory: from its name, or from its files when the key is long. */
async function keyOf(directory: string, name: string): Promise<string | null> {
  const key = idInSegment(keySegment(name) ?? "");
  if (key !== null) return key;
  const title = await documentTitle(join(directory, name)).catch(() => null);
  return title?.ids.at(-1) ?? null;
}

async function hasValue(directory: string, report: ReportSink): Promise<boolean> {
  try {
    if ((await documentTitle(directory)) !== null) return true;
    await sweepDeleted(directory);
  } catch (error) {
    if (isMissing(error)) return false;
    if (!StateCorruptError.is(error)) throw error;
    report({
      kind: "entry_skipped",
      message: "skipped a key: its files are damaged",
      cause: error,
    });
  }
  return false;
}
