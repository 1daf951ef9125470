import { join } from "node:path";
import { MemoryFiles } from "@holdfast/memory-flush";
import { type SpawnedScript, spawnScript, tempDirectory } from "@holdfast/testing";
import { LocalFilesystem } from "@holdfast/workspace";
import { onTestFinished } from "vitest";

const script = new URL("rememberer.mjs", import.meta.url);
export const user = { agentId: "rememberer", userId: "u", sessionId: "s" };

/** How a process differs from the plain one; see the script. */
export interface RemembererOptions {
  readonly throttleMs?: number;
  readonly minGapMs?: number;
  readonly hang?: "consolidation" | "watermark";
  readonly session?: string;
}

/** A state home and a workspace that several processes share. */
export async function memoryHome() {
  const directory = await tempDirectory();
  onTestFinished(() => directory.cleanup());
  const workspace = join(directory.path, "workspace");
  const env = { HOLDFAST_STATE_HOME: join(directory.path, "state"), WORKSPACE: workspace };
  const files = new MemoryFiles(new LocalFilesystem({ root: workspace }));
  return {
    files,
    async start(options: RemembererOptions = {}): Promise<SpawnedScript> {
      const child = spawnScript(script, [JSON.stringify(options)], { env });
      onTestFinished(async () => {
        await child[Symbol.asyncDispose]();
      });
      await child.line("ready");
      return child;
    },
    /** All notes, those of earlier memories left out. */
    async notes(): Promise<string> {
      const days = await files.days(user);
      return (await Promise.all(days.map(({ path }) => files.read(user, path)))).join("\n");
    },
  };
}

/** How often a text is in another. */
export function times(text: string, part: string): number {
  return text.split(part).length - 1;
}
