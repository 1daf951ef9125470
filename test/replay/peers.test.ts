import { spawn } from "node:child_process";
import { fileURLToPath } from "node:url";
import { scaled } from "@holdfast/testing";
import { expect, test } from "vitest";
import type { ReplayResult } from "../../bench/src/replay/replay-result.js";

/** All of them, or enough for several compactions. */
const conversations = scaled(8, 100);
const program = fileURLToPath(new URL("../../bench/dist/replay/main.js", import.meta.url));

/** Runs the comparison in a process of its own, where the peers are installed. */
async function compare(): Promise<ReplayResult[]> {
  const { VITEST: _, ...env } = process.env;
  const child = spawn(
    process.execPath,
    [program, "--json", "--brief", "--conversations", String(conversations)],
    {
      env,
      stdio: ["ignore", "pipe", "inherit"],
    },
  );
  let output = "";
  for await (const chunk of child.stdout.setEncoding("utf8")) output += chunk;
  expect(child.exitCode ?? (await new Promise((ended) => child.once("exit", ended)))).toBe(0);
  return JSON.parse(output) as ReplayResult[];
}

test("no peer is billed fewer tokens for the same conversations in the same window", async () => {
  const results = await compare();
  const windows = [...new Set(results.map(({ window }) => window))];
  expect(windows).toContain(32_000);
  for (const window of windows) {
    const [ours, ...peers] = results.filter((result) => result.window === window);
    if (!ours) throw new Error("the comparison has no result");
    expect(ours).toMatchObject({ name: "holdfast", failure: null, invalid: 0, refused: 0 });
    expect(peers.map(({ name }) => name)).toEqual(["langchain", "deepagents"]);
    for (const { name, failure, reasoning, billed, billedAlike } of peers) {
      console.log(
        `window of ${window}: ${name} is billed ${(billedAlike / ours.billedAlike).toFixed(3)} x as many tokens as Holdfast`,
      );
      expect(failure, `${name} plays to the end`).toBeNull();
      expect(reasoning.requests, `requests of ${name}`).toBe(ours.reasoning.requests);
      expect(ours.billedAlike, `against ${name}, same system prompt`).toBeLessThanOrEqual(
        billedAlike,
      );
      expect(ours.billed, `against ${name}, as sent`).toBeLessThanOrEqual(billed);
    }
  }
});
