import { InMemoryAgentStateStore } from "@holdfast/core";
import { HarnessAgent } from "@holdfast/harness";
import { scriptedModel } from "@holdfast/testing";
import { afterEach, expect, test, vi } from "vitest";
import { GracefulExit } from "../../src/chat/graceful-exit.js";

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
  using exit = new GracefulExit(agent());
  exit.hangUp();
  exit.hangUp();
  expect([exit.code, exit.hurry.aborted]).toEqual([143, false]);
  exit.drain();
  expect(exit.hurry.aborted).toBe(true);
});

test("SIGTERM gives the call and everything behind it ten seconds", () => {
  vi.useFakeTimers();
  using exit = new GracefulExit(agent());
  exit.drain();
  vi.advanceTimersByTime(9_900);
  expect(exit.hurry.aborted).toBe(false);
  vi.advanceTimersByTime(200);
  expect(exit.hurry.aborted).toBe(true);
});
