import { readFile } from "node:fs/promises";

/** Bytes that a process has written so far, as Linux counts them; elsewhere undefined. */
export async function writtenBytes(pid: number | "self" = "self"): Promise<number | undefined> {
  const counts = await readFile(`/proc/${pid}/io`, "utf8").catch(() => "");
  const [, written] = /^wchar: (\d+)/m.exec(counts) ?? [];
  return written === undefined ? undefined : Number(written);
}
