import { afterEach, expect, test, vi } from "vitest";
import { RunMarks } from "../../src/engine/recovery/run-marks.js";
import { InMemoryKeyValueStore } from "../../src/in-memory/in-memory-key-value-store.js";

afterEach(() => vi.useRealTimers());

test("a mark that is stored again after its removal failed is not removed by the next heartbeat", async () => {
  vi.useFakeTimers();
  const values = new InMemoryKeyValueStore();
  const remove = vi.spyOn(values, "delete").mockRejectedValueOnce(new Error("away"));
  const marks = new RunMarks(values, "a");
  const mark = { userId: "u", sessionId: "s", callId: "c", attempts: 0 };
  await marks.put("run", mark);
  marks.end("run");
  await vi.advanceTimersByTimeAsync(0);
  expect(remove).toHaveBeenCalledOnce();
  await marks.put("run", { ...mark, attempts: 1 });
  await vi.advanceTimersByTimeAsync(10_000);
  expect(await marks.marksOf(marks.nodeId)).toMatchObject([{ key: "run", mark: { attempts: 1 } }]);
  marks.end("run");
  await marks.close();
});
