import { eventually, type SpawnedScript, scaled } from "@holdfast/testing";
import { expect, test } from "vitest";
import { memoryHome, times } from "./memory-home.js";

const windows = scaled(2, 15);
/**
 * Calls of each process in each part of a window: both at once where the window begins and ends, each
 * alone in between, where the other must not take it for a window of its own. A window has less than one request of a flush
 * holds.
 */
const parts = [
  { name: "i", together: true, calls: scaled(8, 35) },
  { name: "j", together: false, calls: scaled(12, 50) },
  { name: "k", together: true, calls: scaled(8, 35) },
];
const calls = parts.reduce((sum, part) => sum + part.calls, 0);

const nameOf = (process: number, window: number, part: string) =>
  `${process === 0 ? "a" : "b"}${part}${"x".repeat(window)}`;

const flushesOf = (...children: SpawnedScript[]) =>
  children.flatMap(({ lines }) => lines.filter((line) => line.startsWith("flush ")));

test(`two processes with ${2 * windows * calls} calls on one session flush once per window, and everything`, async () => {
  const home = await memoryHome();
  const children = await Promise.all([home.start(), home.start()]);
  for (let window = 0; window < windows; window++) {
    for (const part of parts) {
      const work = children.map((child, index) => async () => {
        const name = nameOf(index, window, part.name);
        child.send(`calls ${name} ${part.calls}`);
        await child.line(`called ${name}`, 120_000 + part.calls * 1_000);
      });
      if (part.together) await Promise.all(work.map((one) => one()));
      else for (const one of work) await one();
    }
    await eventually(() => flushesOf(...children).length > window);
    for (const child of children) child.send("advance 600001");
  }
  const [first] = children;
  first?.send("calls last 1");
  await eventually(() =>
    flushesOf(...children)
      .join()
      .includes("fact-last-0;"),
  );
  for (const child of children) child.send("close");
  for (const child of children) expect((await child.exited).code).toBe(0);
  const flushes = flushesOf(...children);
  expect(flushes).toHaveLength(windows + 1);
  const said = flushes.join(" ");
  for (let window = 0; window < windows; window++)
    for (const part of parts)
      for (const process of children.keys())
        for (let call = 0; call < part.calls; call++)
          expect(times(said, `fact-${nameOf(process, window, part.name)}-${call};`)).toBe(1);
  expect(times(await home.notes(), "fact-last-0;")).toBe(1);
});
