import { spawnSync } from "node:child_process";
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
import { fileURLToPath } from "node:url";
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

/** Runs a module where the workspace's packages resolve, with a state home of its own and servers at hand. */
function run(source: string): { status: number | null; stdout: string; stderr: string } {
  const base = join(root, "test", ".holdfast");
  mkdirSync(base, { recursive: true });
  const directory = mkdtempSync(join(base, "readme-"));
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
  writeFileSync(join(directory, "example.mjs"), source);
  // The conformance kit asks VITEST which runner it runs under; the example is a plain program.
  const { VITEST: _, ...env } = process.env;
  const { status, stdout, stderr } = spawnSync(process.execPath, ["example.mjs"], {
    cwd: directory,
    env: {
      ...env,
      HOLDFAST_STATE_HOME: join(directory, "state"),
      REDIS_URL: inject("redisUrl"),
      MYSQL_URL: inject("mysqlUrl"),
    },
    encoding: "utf8",
    timeout: 30_000,
  });
  return { status, stdout, stderr };
}

describe.each(readmes)("the first example of %s", (name) => {
  const file = join(root, name);
  const example = existsSync(file) ? firstExample(readFileSync(file, "utf8")) : null;

  test("is there and has under 20 lines", () => {
    expect(example).not.toBeNull();
    expect((example ?? "").trimEnd().split("\n").length).toBeLessThan(20);
  });

  test("runs as it stands and prints something", { timeout: 60_000 }, () => {
    const { status, stdout, stderr } = run(example ?? "");
    expect({ status, stderr }).toEqual({ status: 0, stderr: "" });
    expect(stdout.trim()).not.toBe("");
  });
});
