import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { cp, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { scaled } from "@holdfast/testing";
import { expect, onTestFinished, test } from "vitest";
import { npm } from "./release/local-registry.js";
import { packedRegistry } from "./release/packed-registry.js";

const run = promisify(execFile);
const example = fileURLToPath(new URL("../examples/third-party-plugin", import.meta.url));
const { VITEST: _, NODE_TEST_CONTEXT: __, ...env } = process.env;

test.each(["redaction.ts", "token-budget.ts"])("%s has under 80 lines", (file) => {
  const lines = readFileSync(join(example, "src", file), "utf8")
    .trimEnd()
    .split("\n");
  expect(lines.length).toBeLessThan(80);
});

test("the example needs nothing but published packages", () => {
  const { peerDependencies, devDependencies } = JSON.parse(
    readFileSync(join(example, "package.json"), "utf8"),
  );
  expect(Object.keys(peerDependencies)).toEqual(["@holdfast/core"]);
  const own = Object.keys(devDependencies).filter((name) => name.startsWith("@holdfast/"));
  for (const name of own) {
    const file = fileURLToPath(
      new URL(`../packages/${name.slice(10)}/package.json`, import.meta.url),
    );
    expect(JSON.parse(readFileSync(file, "utf8"))).not.toHaveProperty("private");
  }
});

test("the example keeps an address out of what it sends and stores, and ends at the budget", async () => {
  await expectAnswers(example);
});

// The long run builds it as its author would, outside of this repository.
test.each(scaled([], ["packed packages"]))("the example is built and tested with %s", async () => {
  const registry = await packedRegistry();
  const directory = await registry.project();
  onTestFinished(() => rm(directory, { recursive: true, force: true }));
  for (const part of ["src", "test", "package.json"])
    await cp(join(example, part), join(directory, part), { recursive: true });
  const manifest = join(directory, "package.json");
  await writeFile(manifest, (await readFile(manifest, "utf8")).replaceAll(/workspace:[*^]/gu, "*"));
  const options = { strict: true, module: "nodenext", target: "es2023", types: ["node"] };
  const places = { rootDir: "src", outDir: "dist", declaration: true };
  const config = { compilerOptions: { ...options, ...places }, include: ["src"] };
  await writeFile(join(directory, "tsconfig.json"), JSON.stringify(config));
  const tools = ["typescript@7.0.2", "@types/node@20"];
  await npm(
    ["install", "--no-audit", "--no-fund", "--ignore-scripts", "--save-dev", ...tools],
    directory,
  );
  await run("npx", ["tsc"], { cwd: directory });
  await expectAnswers(directory);
  const { stdout } = await run(process.execPath, ["--test"], { cwd: directory, env });
  expect(stdout).toMatch(/^# fail 0$/mu);
  expect(stdout).toMatch(/^# pass [1-9]\d+$/mu);
});

async function expectAnswers(directory: string): Promise<void> {
  const { stdout } = await run(process.execPath, [join(directory, "dist/main.js")], { env });
  expect(stdout.split("\n")).toEqual([
    "She is a good customer.",
    "user grace has spent 1000 tokens",
    expect.stringMatching(/^[1-9]\d* files, with the address: 0$/u),
    expect.stringMatching(/^with \[e-mail\] instead: [1-9]/u),
    "the model saw the address: no",
    "",
  ]);
}
