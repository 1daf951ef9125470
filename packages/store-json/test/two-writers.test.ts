import { spawn } from "node:child_process";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { textOf } from "@holdfast/core";
import { loadWhole } from "@holdfast/core/store-kit";
import { JsonFileAgentStateStore } from "@holdfast/store-json";
import { scaled } from "@holdfast/testing";
import { expect, test } from "vitest";
import { savedSlot } from "./saver-process.js";
import { temporaryRoot } from "./temporary-root.js";

const script = fileURLToPath(new URL("./children/appender.mjs", import.meta.url));

test("two processes on one session, killed and started again, lose and double nothing, through many rotations", async () => {
  const root = temporaryRoot();
  const last = scaled(60, 2_000);
  const acknowledged = await Promise.all(
    ["left", "right"].map((name) => appendUntil(root, name, last, scaled(2, 40))),
  );
  const loaded = await loadWhole(new JsonFileAgentStateStore({ root }), savedSlot);
  if (loaded === null) throw new Error("the session is gone");
  const texts = loaded.messages.map(textOf);
  for (const [index, name] of ["left", "right"].entries()) {
    const own = texts.filter((text) => text.startsWith(name));
    expect(own).toEqual(Array.from({ length: last }, (_, number) => `${name} ${number + 1}`));
    expect(acknowledged[index]?.every((number) => number <= last)).toBe(true);
  }
  expect(generationIn(root)).toBeGreaterThan(2);
});

/** Runs a writer to its end, killing it `kills` times on the way; what was acknowledged. */
async function appendUntil(
  root: string,
  name: string,
  last: number,
  kills: number,
): Promise<number[]> {
  const acknowledged: number[] = [];
  for (let round = 0; ; round++) {
    const child = spawn(process.execPath, [script, root, name, String(last), "4000"], {
      stdio: ["ignore", "pipe", "inherit"],
    });
    const fatal = round < kills ? 3 + Math.floor((Math.random() * last) / kills) : Infinity;
    let count = 0;
    createInterface({ input: child.stdout }).on("line", (line) => {
      acknowledged.push(Number(line.split(" ")[1]));
      if (++count === fatal) setTimeout(() => child.kill("SIGKILL"), Math.random() * 2);
    });
    const [exitCode, signal] = await new Promise<[number | null, string | null]>((resolve) =>
      child.on("close", (...how) => resolve(how)),
    );
    if (signal === null) {
      expect(exitCode).toBe(0);
      return acknowledged;
    }
  }
}

function generationIn(root: string): number {
  const names = readdirSync(join(root, "agent", "user-user", "session"));
  return Math.max(...names.map((name) => Number(name.split(".")[1])));
}
