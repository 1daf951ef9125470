import { InMemoryAgentStateStore } from "@holdfast/core";
import { HarnessAgent } from "@holdfast/harness";
import { scriptedModel } from "@holdfast/testing";
import { afterEach, expect, test, vi } from "vitest";
import { Stopper } from "../../src/chat/stopper.js";

const agent = (): HarnessAgent =>
  HarnessAgent.create({
    name: "tester",
    model: scriptedModel([]),
    stateStore: new InMemoryAgentStateStore(),
  });

afterEach(() => {
  vi.useRealTimers();
});

test("a terminal that goes away is noticed in many places, and still leaves time for the call", () => {
  using stopper = new Stopper(agent());
  stopper.hangUp();
  stopper.hangUp();
  expect([stopper.code, stopper.hurry.aborted]).toEqual([143, false]);
  stopper.drain();
  expect(stopper.hurry.aborted).toBe(true);
});

test("SIGTERM gives the call and everything behind it ten seconds", () => {
  vi.useFakeTimers();
  using stopper = new Stopper(agent());
  stopper.drain();
  vi.advanceTimersByTime(9_900);
  expect(stopper.hurry.aborted).toBe(false);
  vi.advanceTimersByTime(200);
  expect(stopper.hurry.aborted).toBe(true);
});
