import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { spawnScript } from "@holdfast/testing";
import { expect, test } from "vitest";
import { temporaryRoot } from "./temporary-root.js";

test("the example in the README runs, twice: the second run goes on from the first", async () => {
  const text = readFileSync(new URL("../README.md", import.meta.url), "utf8");
  const example = /```js\n([\s\S]*?)```/.exec(text)?.[1] ?? "";
  expect(example.trim().split("\n").length).toBeLessThan(20);
  const source = example.replace('"./state"', JSON.stringify(temporaryRoot()));
  for (const number of [1, 2]) {
    const run = spawnScript(source, [], { cwd: fileURLToPath(new URL("..", import.meta.url)) });
    expect(await run.exited, run.stderr).toEqual({ code: 0, signal: null });
    expect(run.lines).toEqual([expect.stringMatching(new RegExp(`^${number}\\.[0-9a-f]{32} 1$`))]);
  }
});
