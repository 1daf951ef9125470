import { eventually, type SpawnedScript } from "@holdfast/testing";
import { expect, test } from "vitest";
import { memoryHome, times } from "./memory-home.js";

const windows = 3;
/** Of each process in each window: some thousand in all. */
const calls = process.env["HOLDFAST_LONG"] === "1" ? 1_000 : 170;

const flushesOf = (...children: SpawnedScript[]) =>
  children.flatMap(({ lines }) => lines.filter((line) => line.startsWith("flush ")));

test(`two processes with ${2 * windows * calls} calls on one session flush once per window, and everything`, {
  timeout: 120_000,
}, async () => {
  const home = await memoryHome();
  const children = await Promise.all([home.start(), home.start()]);
  for (let window = 0; window < windows; window++) {
    const names = ["a", "b"].map((name) => `${name}${"x".repeat(window)}`);
    for (const [index, child] of children.entries()) child.send(`calls ${names[index]} ${calls}`);
    await Promise.all(children.map((child, index) => child.line(`called ${names[index]}`)));
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
  for (let window = 0; window < windows; window++)
    for (const name of ["a", "b"])
      for (let call = 0; call < calls; call++)
        expect(times(flushes.join(" "), `fact-${name}${"x".repeat(window)}-${call};`)).toBe(1);
  expect(times(await home.notes(), "fact-last-0;")).toBe(1);
});
