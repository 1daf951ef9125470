// Part of make-fixtures.mjs: calls that did not come to their end.
import { tool } from "@holdfast/core";
import { scriptedModel } from "@holdfast/testing";
import { any, bob, calls, clerk, talk, withUsage } from "./old-clerk.mjs";

/** Runs until its tool hangs; the process is killed then. */
export async function die(place, onHang) {
  const script = ["mark-quiet start", calls(["count"], ["look", { at: "death" }]), calls(["hang"])];
  const agent = clerk(place, script, { onHang, persistence: "step" });
  // A promise alone does not keep a process alive.
  setInterval(() => undefined, 1_000);
  await agent.call("mark-before", bob("killed"));
  await agent.call("mark-dying words", { ...bob("killed"), callId: "killed-1" });
}

/** A call that hangs in a tool, and what to do meanwhile. */
async function whileHanging(place, whose, script, meanwhile) {
  let reached = () => undefined;
  const hanging = new Promise((resolve) => {
    reached = resolve;
  });
  const agent = clerk(place, script, { onHang: reached });
  const running = agent.call("mark-hang on", { ...whose, callId: "hanging-1" });
  await hanging;
  await meanwhile(agent, whose);
  await running;
  await agent.close();
}

/** A tool that a shutdown waits for. */
async function shutDown(place, whose) {
  let reached = () => undefined;
  let release = () => undefined;
  const started = new Promise((resolve) => {
    reached = resolve;
  });
  const released = new Promise((resolve) => {
    release = resolve;
  });
  const slow = tool({
    name: "slow",
    description: "Takes its time.",
    input: any,
    execute: async () => {
      reached();
      await released;
      return "mark-slow but done";
    },
  });
  const model = scriptedModel([withUsage({ text: "mark-halfway", ...calls(["slow"]) })]);
  const agent = clerk(place, model, { tools: [slow] });
  const running = agent.call("mark-work until the end", { ...whose, callId: "shutdown-1" });
  await started;
  const down = agent.shutdown();
  release();
  const { reason } = await running;
  await down;
  if (reason !== "shutdown") throw new Error(`ended with ${reason}`);
  await agent.close();
}

/** Calls that were interrupted, taken back and shut down. */
export async function playCutShort(place) {
  await whileHanging(
    place,
    bob("interrupted"),
    [{ text: "mark-waiting", ...calls(["hang"], ["look", { at: "break" }]) }],
    (agent, { userId, sessionId }) => agent.interrupt(userId, sessionId, "mark-stop that"),
  );
  await talk(place, bob("taken back"), ["mark-first"], [["mark-one"]]);
  await whileHanging(
    place,
    bob("taken back"),
    [calls(["dump"]), calls(["hang"]), "mark-rather this"],
    (agent, whose) => agent.call("mark-instead", { ...whose, onBusy: "rollback" }),
  );
  await shutDown(place, bob("shutdown"));
}
