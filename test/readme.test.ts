import { spawn } from "node:child_process";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { anthropicServer, type WireRequest, type WireServer } from "@holdfast/provider-rigs";
import { describe, expect, inject, onTestFinished, test } from "vitest";

const root = fileURLToPath(new URL("..", import.meta.url));
const readmes = [
  "README.md",
  ...readdirSync(join(root, "packages")).map((name) => `packages/${name}/README.md`),
];

/** The first TypeScript example of a text, or null. */
function firstExample(text: string): string | null {
  return /^```ts\n(.*?)^```$/ms.exec(text)?.[1] ?? null;
}

interface Finished {
  readonly status: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/**
 * Runs a module where the workspace's packages resolve, with a state home of its own and servers at hand. A provider's
 * client finds `provider` by its environment variables, so that an example with a real provider runs word for word.
 */
async function run(source: string, provider: WireServer): Promise<Finished> {
  const base = join(root, "test", ".holdfast");
  mkdirSync(base, { recursive: true });
  const directory = mkdtempSync(join(base, "readme-"));
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
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

/** A provider on loopback that calls the tool of the front page once and then answers. */
function weatherProvider(): Promise<WireServer> {
  return anthropicServer((request) =>
    hasToolResult(request)
      ? { text: "Yes, take an umbrella: it rains in Oslo." }
      : { toolCalls: [{ name: "weather", input: { city: "Oslo" } }] },
  );
}

function hasToolResult({ body }: WireRequest): boolean {
  return JSON.stringify(body).includes('"type":"tool_result"');
}

describe.each(readmes)("the first example of %s", (name) => {
  const file = join(root, name);
  const example = existsSync(file) ? firstExample(readFileSync(file, "utf8")) : null;

  test("is there and has under 20 lines", () => {
    expect(example).not.toBeNull();
    expect((example ?? "").trimEnd().split("\n").length).toBeLessThan(20);
  });

  test("runs as it stands and prints something", async () => {
    await using provider = await weatherProvider();
    const { status, stdout, stderr } = await run(example ?? "", provider);
    expect({ status, stderr }).toEqual({ status: 0, stderr: "" });
    expect(stdout.trim()).not.toBe("");
  });
});

test("the front page's example asks a real provider, whose answer it prints", async () => {
  await using provider = await weatherProvider();
  const example = firstExample(readFileSync(join(root, "README.md"), "utf8"));
  const { stdout } = await run(example ?? "", provider);
  expect(provider.requests).toHaveLength(2);
  expect(JSON.stringify(provider.requests[1]?.body)).toContain("4 degrees and rain in Oslo");
  expect(stdout).toBe("Yes, take an umbrella: it rains in Oslo.\n");
});
