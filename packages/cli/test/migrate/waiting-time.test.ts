import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { SessionBusyError } from "@holdfast/core";
import { expect, test } from "vitest";
import { underLease } from "../../src/transfer/under-lease.js";
import { memoryParts } from "./memory-parts.js";

const slot = { agentId: "agent", userId: "user", sessionId: "session" };

test("the waiting for a session ends in its time, also when garbage is collected meanwhile", async () => {
  setFlagsFromString("--expose-gc");
  const collecting = setInterval(runInNewContext("gc") as () => void, 20);
  const parts = memoryParts();
  const lease = await parts.gate.acquire(slot, { callId: "long" });
  try {
    const stop = new AbortController();
    const options = { waitMs: 300, holder: "test", signal: stop.signal };
    const waiting = underLease(parts, slot, options, async () => undefined);
    await expect(waiting).rejects.toSatisfy(SessionBusyError.is);
  } finally {
    clearInterval(collecting);
    await lease.release();
  }
});

test("a caller that is told to stop, now or before, does not wait", async () => {
  const parts = memoryParts();
  const lease = await parts.gate.acquire(slot, { callId: "long" });
  const stop = new AbortController();
  const options = { waitMs: 600_000, holder: "test", signal: stop.signal };
  const waiting = underLease(parts, slot, options, async () => undefined);
  stop.abort();
  await expect(waiting).rejects.toThrow("the wait was ended");
  const late = underLease(parts, slot, options, async () => undefined);
  await expect(late).rejects.toThrow("the wait was ended");
  await lease.release();
});
