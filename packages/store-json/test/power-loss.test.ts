import { readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { scaled } from "@holdfast/testing";
import { beforeAll, describe, expect, test } from "vitest";
import { type DiskOp, powerLoss, type SyncKind } from "./disk-images.js";
import { expectUsable, expectWholeState, runSaver } from "./saver-process.js";
import { temporaryRoot } from "./temporary-root.js";

const recorder = new URL("./children/record-disk.mjs", import.meta.url);
const seed = Number(process.env["HOLDFAST_POWER_SEED"] ?? Date.now() % 1_000_000);

/** Turns with first saves, edits, a rotation, a delete and a new start after it. */
const scenario = { turns: scaled(14, 60), bytes: 12_000, seed: 8 };
const root = temporaryRoot();
let ops: readonly DiskOp[] = [];

beforeAll(async () => {
  const output = join(temporaryRoot(), "ops.json");
  const variables = [
    `NODE_OPTIONS=--import=${recorder}`,
    `RECORD_ROOT=${root}`,
    `RECORD_TO=${output}`,
  ];
  const { lines } = await runSaver({ ...scenario, root, wrapper: ["env", ...variables] });
  expect(lines).toContain("end");
  ops = JSON.parse(readFileSync(output, "utf8"));
});

// mulberry32: the same images for the same seed.
function numbers(from: number): () => number {
  let state = from;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  };
}

/** Looks at the disk that a power loss behind the first `count` operations leaves. */
async function look(count: number, draw: number, without?: SyncKind): Promise<void> {
  const target = temporaryRoot();
  const before = ops.slice(0, count);
  try {
    powerLoss(before, { root, target, random: numbers(seed + draw), without });
    const lines = before.flatMap((op) => (op.kind === "say" ? [op.line] : []));
    await expectWholeState(target, lines, "deleted");
    if (draw % 10 === 0) await expectUsable(target);
  } catch (cause) {
    throw new Error(
      `HOLDFAST_POWER_SEED=${seed}: power lost behind operation ${count}, draw ${draw}`,
      { cause },
    );
  } finally {
    rmSync(target, { recursive: true, force: true });
  }
}

test("after a power loss at any time a session is what was last acknowledged, or that and the whole next save", async () => {
  const images = scaled(150, 6_000);
  for (let draw = 0; draw < images; draw++) await look(1 + (draw % ops.length), draw);
});

describe("the test above would notice", () => {
  test.each(["directory", "file", "journal"] as const)(
    "if the sync of a %s were missing",
    async (what) => {
      expect(ops.some((op) => op.kind === "sync" && op.what === what)).toBe(true);
      let noticed = 0;
      for (let draw = 0; draw < 3_000 && noticed === 0; draw++)
        await look(1 + (draw % ops.length), draw, what).catch(() => noticed++);
      expect(noticed).toBe(1);
    },
  );
});
