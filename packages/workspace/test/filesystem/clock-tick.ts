import { stat, writeFile } from "node:fs/promises";
import { join } from "node:path";

/** Resolves once a change of a file in the directory gets another time, in milliseconds, than one made before. */
export async function clockTick(directory: string): Promise<void> {
  const probe = join(directory, ".probe");
  const change = async () => {
    await writeFile(probe, "");
    return Math.floor((await stat(probe)).mtimeMs);
  };
  const before = await change();
  while ((await change()) === before);
}
