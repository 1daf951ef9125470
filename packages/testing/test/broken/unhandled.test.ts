import { slotText } from "@holdfast/core/store-kit";
import { expect, onTestFinished, test } from "vitest";
import { sessionGateCases } from "../../src/session-gate/describe-session-gate.js";
import { ReferenceGate } from "../reference/reference-gate.js";
import { ReferenceStore } from "../reference/reference-store.js";
import { casesOf } from "./store-cases-of.js";

/** Refuses calls that wait some time later, when their case has failed already. */
class RefusesLater extends ReferenceGate {
  override async acquire(...[slot, request]: Parameters<ReferenceGate["acquire"]>) {
    if (!this.queues.has(slotText(slot))) return super.acquire(slot, request);
    await new Promise((resolve) => setTimeout(resolve, 5));
    throw new Error("refused");
  }

  override async calls(): Promise<readonly string[]> {
    throw new Error("out of reach");
  }
}

class RefusingStore extends ReferenceStore {
  constructor(backend?: ReferenceStore["backend"]) {
    super(backend);
    Object.setPrototypeOf(this.backend.gate, RefusesLater.prototype);
  }

  override save(): never {
    throw new Error("out of reach");
  }
}

test("a case that fails leaves no rejection behind that nobody handles", async () => {
  const unhandled: unknown[] = [];
  const take = (reason: unknown) => unhandled.push(reason);
  process.on("unhandledRejection", take);
  onTestFinished(() => void process.off("unhandledRejection", take));
  const cases = [
    ...sessionGateCases({
      create: () => new RefusesLater(),
      reopen: (gate) => gate,
      timeoutMs: 200,
    }),
    ...casesOf(RefusingStore, 200),
  ];
  for (const { run } of cases) await run().catch(() => undefined);
  await new Promise((resolve) => setTimeout(resolve, 50));
  expect(unhandled).toEqual([]);
});
