import { spawn } from "node:child_process";
import { readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { anthropicServer, type WireRequest, type WireServer } from "@holdfast/provider-rigs";
import { inject } from "vitest";

const root = fileURLToPath(new URL("..", import.meta.url));

/** Every README whose first example runs as it stands. */
export const readmes: readonly string[] = [
  "README.md",
  ...readdirSync(join(root, "packages")).map((name) => `packages/${name}/README.md`),
];

/** Returns the first TypeScript example of a text, or null. */
export function firstExample(text: string): string | null {
  return /^```ts\n(.*?)^```$/ms.exec(text)?.[1] ?? null;
}

/** Output of a program that has ended. */
export interface Finished {
  readonly status: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/**
 * Runs an example in a directory, with a state home of its own and servers at hand. A provider's client finds `provider` by
 * its environment variables, so that an example with a real provider runs word for word.
 */
export async function runExample(
  source: string,
  directory: string,
  provider: WireServer,
): Promise<Finished> {
  writeFileSync(join(directory, "example.mjs"), source);
  // The example is a plain program.
  const { VITEST: _, ...env } = process.env;
  const child = spawn(process.execPath, ["example.mjs"], {
    cwd: directory,
    env: {
      ...env,
      HOLDFAST_STATE_HOME: join(directory, "state"),
      REDIS_URL: inject("redisUrl"),
      MYSQL_URL: inject("mysqlUrl"),
      ANTHROPIC_BASE_URL: provider.url,
      ANTHROPIC_API_KEY: "key",
    },
    stdio: ["ignore", "pipe", "pipe"],
    timeout: 300_000,
  });
  const status = new Promise<number | null>((resolve, reject) => {
    child.once("error", reject);
    child.once("close", resolve);
  });
  const [stdout, stderr] = await Promise.all([text(child.stdout), text(child.stderr)]);
  return { status: await status, stdout, stderr };
}

/** Starts a provider on loopback that calls the tool of the front page once and then answers. */
export function weatherProvider(): Promise<WireServer> {
  return anthropicServer((request) =>
    hasToolResult(request)
      ? { text: "Yes, take an umbrella: it rains in Oslo." }
      : { toolCalls: [{ name: "weather", input: { city: "Oslo" } }] },
  );
}

function hasToolResult({ body }: WireRequest): boolean {
  return JSON.stringify(body).includes('"type":"tool_result"');
}
