import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { WireServer } from "@holdfast/provider-rigs";
import { describe, expect, onTestFinished, test } from "vitest";
import {
  type Finished,
  firstExample,
  readmes,
  runExample,
  weatherProvider,
} from "./readme-example.js";

const root = fileURLToPath(new URL("..", import.meta.url));

/** Runs a module where the workspace's packages resolve. */
async function run(source: string, provider: WireServer): Promise<Finished> {
  const base = join(root, "test", ".holdfast");
  mkdirSync(base, { recursive: true });
  const directory = mkdtempSync(join(base, "readme-"));
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
  return runExample(source, directory, provider);
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
