import { scaled } from "@holdfast/testing";
import { expect, test } from "vitest";
import { expectWholeState, runSaver } from "./saver-process.js";
import { temporaryRoot } from "./temporary-root.js";

const rounds = scaled(6, 320);

// Two chains of crashes side by side: one of small saves, one whose saves are long enough to be torn.
test.concurrent.each([
  { name: "small saves", bytes: 50 },
  { name: "saves of up to 300 KB", bytes: 100_000 },
])(
  "killed at any moment, a session is what was last acknowledged, or that and the whole next save ($name)",
  async ({ bytes }) => {
    const root = temporaryRoot();
    let stored = "deleted";
    let acknowledged = 0;
    for (let round = 0; round < rounds / 2; round++) {
      const fatal = 1 + Math.floor(Math.random() * 12);
      const run = await runSaver({
        root,
        turns: 1_000,
        bytes,
        seed: round,
        onLine: (line, kill) => {
          // At a random moment of a random save: 0 to 3 ms after it was announced.
          if (line.startsWith(`intent ${fatal} `)) setTimeout(kill, Math.random() * 3);
        },
      });
      expect(run.lines).not.toContain("end");
      acknowledged += run.lines.filter((line) => line.startsWith("ack")).length;
      stored = await expectWholeState(root, run.lines, stored);
    }
    expect(acknowledged).toBeGreaterThan(rounds / 2);
  },
);
