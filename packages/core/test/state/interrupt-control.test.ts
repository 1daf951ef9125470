import { expect, test } from "vitest";
import { InterruptTrigger, userMessage } from "../values.js";

test("a trigger is cleared until it is triggered, then aborts its signal", () => {
  const trigger = new InterruptTrigger();
  expect([trigger.isInterrupted(), trigger.message, trigger.signal.aborted]).toEqual([
    false,
    null,
    false,
  ]);
  trigger.trigger();
  expect([trigger.isInterrupted(), trigger.message, trigger.signal.aborted]).toEqual([
    true,
    null,
    true,
  ]);
});

test("the first interrupt wins: a second one changes neither message nor signal", () => {
  const trigger = new InterruptTrigger();
  const first = userMessage("stop");
  let aborts = 0;
  trigger.signal.addEventListener("abort", () => aborts++);
  trigger.trigger(first);
  trigger.trigger(userMessage("really"));
  trigger.trigger(null);
  expect(trigger.message).toBe(first);
  expect(aborts).toBe(1);
});

test("the message is there before the signal's listeners run", () => {
  const trigger = new InterruptTrigger();
  const message = userMessage("stop");
  let seen: unknown;
  trigger.signal.addEventListener("abort", () => {
    seen = trigger.message;
  });
  trigger.trigger(message);
  expect(seen).toBe(message);
});
