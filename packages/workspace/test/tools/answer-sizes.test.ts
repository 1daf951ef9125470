import { expect, test } from "vitest";
import { put, toolBench } from "./tool-bench.js";

/** Size of a page of `read_file`, plus a line about the rest. */
const most = 66_000;

test("answers are bounded in characters too: paths may be very long", async () => {
  const bench = toolBench();
  for (let index = 0; index < 100; index++)
    await put(bench.filesystem, `d/${"n".repeat(9_000)}-${index}`, "needle\n");
  const answers = {
    glob: await bench.use("glob_files", { pattern: "**" }),
    list: await bench.use("list_files", { path: "d" }),
    grep: await bench.use("grep_files", { pattern: "needle" }),
  };
  for (const { text } of Object.values(answers)) {
    expect(text.length).toBeLessThan(most);
    expect(text.split("\n").filter((row) => row.includes("nnnn"))).toHaveLength(7);
  }
  expect(answers.glob.text).toContain("… and 93 more");
  expect(answers.list.text).toContain("… and 93 more");
  expect(answers.grep.text).toContain("stopped after 65536 characters");
});

test("one path that fits no answer is counted, not shown", async () => {
  const bench = toolBench();
  await put(bench.filesystem, "n".repeat(100_000), "needle\n");
  expect((await bench.use("glob_files", { pattern: "**" })).text).toContain("… and 1 more");
  expect((await bench.use("list_files", {})).text).toContain("… and 1 more");
  const { text } = await bench.use("grep_files", { pattern: "needle" });
  expect(text).toContain("stopped after 65536 characters");
  expect(text.length).toBeLessThan(most);
});
