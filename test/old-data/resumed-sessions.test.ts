import { type AgentReply, toolResultsOf } from "@holdfast/core";
import type { StateWrite } from "@holdfast/core/store-kit";
import { HarnessAgent } from "@holdfast/harness";
import { memoryFlush } from "@holdfast/memory-flush";
import { scriptedModel } from "@holdfast/testing";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { z } from "zod";
import { keptRuns, outline } from "../engine/conversation.js";
import { answered, clerk, confirmed, pendingOf } from "./clerk.js";
import { kinds, normal, oldData, opensWithSave } from "./old-release.js";
import { type OpenedStore, type RestoredData, restore } from "./restore-stores.js";

const alice = (sessionId: string) => ({ userId: "alice", sessionId });
const bob = (sessionId: string) => ({ userId: "bob", sessionId });

describe.each(kinds)("a session that 0.1.0 left behind, %s,", (kind) => {
  const { replies, sessions } = oldData(kind, "plain");
  let data: RestoredData;
  let opened: OpenedStore;
  beforeAll(async () => {
    data = await restore(kind, "plain");
    opened = data.open();
  });
  afterAll(async () => {
    await opened.close();
    await data.cleanup();
  });
  /** Says again what was said with this `callId`; the model has nothing to answer with. */
  async function repeat(callId: string, sessionId: string, on: OpenedStore = opened) {
    const { agent, model } = clerk(on, []);
    const output = z.object({ city: z.string() });
    const reply = await agent.call("again", { ...alice(sessionId), callId, output });
    expect(model.requests).toEqual([]);
    await agent.close();
    return reply;
  }
  /**
   * Fails unless what was stored of a session was left as it was.
   *
   * @param closed - roles of messages that answer its open tool calls before the model is asked
   */
  function expectKept(
    writes: readonly StateWrite[],
    sessionId: string,
    closed: readonly "tool"[] = [],
  ): void {
    const { messages } = sessions.find(({ slot }) => slot.sessionId === sessionId) ?? {};
    const [length = 0, replace] = [messages?.length, []];
    const opening = { keep: length, replace, head: { unfinishedRun: {} } };
    const opened = [opening, { keep: length + closed.length, replace }];
    expect(writes).toMatchObject(opensWithSave(kind) ? opened : [{ keep: length, replace }]);
    if (opensWithSave(kind)) expect(writes[0]?.append.map(({ role }) => role)).toEqual(closed);
  }
  /** How the tool calls of a request ended. */
  const resultsIn = (model: ReturnType<typeof clerk>["model"]) =>
    (model.requests[0]?.messages ?? [])
      .flatMap(toolResultsOf)
      .map(({ name, state, output }) => [name, state, output.map(blockText).join()]);

  test("answers a repeated callId with the old reply, without a model", async () => {
    for (const [callId, sessionId] of [
      ["order-1", "tools"],
      ["typed-1", "typed"],
    ] as const)
      expect(normal(await repeat(callId, sessionId))).toEqual(oldReply(replies, callId));
    expect(replies["typed-1"]).toMatchObject({ output: { city: "Oslo" } });
  });

  test("runs what was asked about once it is approved", async () => {
    const asking = await repeat("asking-1", "asking");
    expectSame(asking, replies["asking-1"]);
    const { agent, model, ran, writes } = clerk(opened, ["Sent."]);
    const reply = await agent.call(confirmed(pendingOf(asking), true), alice("asking"));
    expect(reply).toMatchObject({ reason: "stop", text: "Sent." });
    expect(ran.toSorted()).toEqual(['look {"at":"post"}', 'send {"to":"ann"}']);
    expect(resultsIn(model)).toEqual([
      ["send", "success", "send done"],
      ["look", "success", "look done"],
    ]);
    // That the approved calls begin is saved by itself.
    const isStart = ({ head }: StateWrite) =>
      Object.values(head["openCalls"] ?? {}).includes("started");
    expect(writes.filter(isStart)).toMatchObject([{ append: [], replace: [] }]);
    expectKept(
      writes.filter((write) => !isStart(write)),
      "asking",
    );
    await agent.close();
  });

  test("does not run what is denied", async () => {
    const asking = await repeat("asking-2", "asking no");
    const { agent, model, ran, writes } = clerk(opened, ["Not sent."]);
    await agent.call(confirmed(pendingOf(asking), false), alice("asking no"));
    expect(ran).toEqual([]);
    expect(resultsIn(model)).toMatchObject([["send", "denied", expect.any(String)]]);
    expectKept(writes, "asking no", ["tool"]);
    await agent.close();
  });

  test("takes results from outside", async () => {
    const suspended = await repeat("suspended-1", "suspended");
    expectSame(suspended, replies["suspended-1"]);
    const { agent, model, ran, writes } = clerk(opened, ["Printed."]);
    await agent.call(answered(pendingOf(suspended), "3 pages"), alice("suspended"));
    expect(ran).toEqual([]);
    expect(resultsIn(model).toSorted()).toEqual([
      ["later", "success", "3 pages"],
      ["look", "success", "mark-seen-desk"],
      ["outside", "success", "3 pages"],
    ]);
    expectKept(writes, "suspended", ["tool"]);
    await agent.close();
  });

  test("goes on after a shutdown with what had been done", async () => {
    const { agent, model, ran, writes } = clerk(opened, ["On it."]);
    await agent.call([], bob("shutdown"));
    expect(outline(model.requests[0]?.messages)).toEqual([
      "user: mark-work until the end",
      "assistant: mark-halfway + call slow",
      "tool: success mark-slow but done",
    ]);
    expect(ran).toEqual([]);
    expectKept(writes, "shutdown");
    expect((await agent.getAgentState("bob", "shutdown"))?.shutdownInterrupted).toBe(false);
    await agent.close();
  });

  test("picks up the run of a process that was killed, when its call is made again", async () => {
    const { agent, model, writes } = clerk(opened, ["Done after all."]);
    const reply = await agent.call("mark-dying words", { ...bob("killed"), callId: "killed-1" });
    expect(reply.text).toBe("Done after all.");
    expect(outline(model.requests[0]?.messages)).toEqual([
      "user: mark-before",
      "assistant: mark-quiet start",
      "user: mark-dying words",
      "assistant: call count + call look",
      "tool: success counted 1 + success mark-seen-death",
      "assistant: call hang",
      expect.stringMatching(/^tool: interrupted .*unknown/),
    ]);
    expectKept(writes, "killed", ["tool"]);
    const state = await agent.getAgentState("bob", "killed");
    expect(keptRuns(state).unfinishedRun).toBeNull();
    expect(state?.openCalls).toEqual({});
    await agent.close();
  });

  test("takes the steps of a killed process back, head and messages, when told to", async () => {
    await using fresh = await freshCopy();
    const { agent, model } = clerk(fresh.opened, ["Anew."]);
    await agent.call("Something else.", { ...bob("killed"), onBusy: "rollback" });
    expect(outline(model.requests[0]?.messages)).toEqual([
      "user: mark-before",
      "assistant: mark-quiet start",
      "user: Something else.",
    ]);
    const state = await agent.getAgentState("bob", "killed");
    expect(state?.extensions["counter"]).toBeUndefined();
    await agent.close();
  });

  test("keeps its summary, and summarises it again", async () => {
    const { agent, model } = clerk(opened, [
      "Well, that is a long story. ".repeat(500),
      "Yes.",
      "A second summary.",
    ]);
    await agent.call("And?", bob("compacted"));
    await agent.call("Is that all?", bob("compacted"));
    expect(textOfAll(model.requests[0]?.messages)).toContain("mark-summarised");
    const { compacted } = await agent.compact("bob", "compacted", { force: true });
    expect(compacted).toBe(true);
    expect(textOfAll(model.requests[2]?.messages)).toContain("mark-summarised");
    const state = await agent.getAgentState("bob", "compacted");
    expect(state?.summary).toContain("A second summary.");
    await agent.close();
  });

  test("has plugins go on from their state", async () => {
    const { agent, model } = clerk(opened, [{ toolCalls: [{ name: "count", input: {} }] }, "3."]);
    await agent.call("Count.", alice("plugins"));
    expect(outline(model.requests[1]?.messages).at(-1)).toBe("tool: success counted 3");
    const state = await agent.getAgentState("alice", "plugins");
    expect(state?.extensions["elsewhere"]).toEqual({
      version: 3,
      value: ["of a plugin that is not here"],
    });
    await agent.close();
  });

  test("reads back what was evicted", async () => {
    const evicted = sessions.find(({ slot }) => slot.sessionId === "evicted");
    const marks = evicted?.records.flatMap(({ mark }) => mark?.details?.["reference"] ?? []);
    const input = { path: marks?.[0] ?? "" };
    const { agent, model } = clerk(opened, [
      { toolCalls: [{ name: "read_file", input }] },
      "Read.",
    ]);
    await agent.call("Read it.", alice("evicted"));
    const [before, after] = model.requests.map(({ messages }) => outline(messages).join("\n"));
    expect(before).toContain("mark-bulky");
    expect(before).not.toContain("mark-unseen");
    expect(after).toContain("mark-unseen");
    await agent.close();
  });

  test("is remembered, and flushed from where the last flush ended", async () => {
    const asked: string[] = [];
    const memoryModel = scriptedModel(({ messages }) => {
      const question = textOfAll(messages);
      asked.push(question);
      return question.startsWith("Today is") ? "- fact-new;" : question;
    });
    const model = scriptedModel(["Noted."]);
    const agent = HarnessAgent.create({
      name: "rememberer",
      model,
      plugins: [memoryFlush({ model: memoryModel, flushTrigger: "always" })],
      ...opened.options,
    });
    await agent.call("Remember fact-new;", alice("memory"));
    await agent.close();
    for (const fact of ["fact-green;", "fact-round;"])
      expect(model.requests[0]?.system).toContain(fact);
    const [flush = ""] = asked;
    const said = flush.slice(flush.indexOf("<conversation"));
    expect(said).toContain("fact-new;");
    expect(said).not.toMatch(/mark-note/);
  });

  test("encrypted, answers a repeated callId and goes on when approved", async () => {
    await using vault = await freshCopy("vault");
    const old = oldData(kind, "vault").replies;
    expect(normal(await repeat("secret-1", "secret", vault.opened))).toEqual(
      oldReply(old, "secret-1"),
    );
    const asking = await repeat("secret-asking", "secret asking", vault.opened);
    expectSame(asking, old["secret-asking"]);
    const { agent, ran } = clerk(vault.opened, ["Sent."]);
    await agent.call(confirmed(pendingOf(asking), true), alice("secret asking"));
    expect(ran).toEqual(['send {"to":"eve"}']);
    await agent.close();
  });

  async function freshCopy(part: "plain" | "vault" = "plain") {
    const copy = await restore(kind, part);
    const own = copy.open();
    return {
      opened: own,
      async [Symbol.asyncDispose]() {
        await own.close();
        await copy.cleanup();
      },
    };
  }
});

/** A reply as it is recalled: a run of that release had no id, so that its call's stands for it. */
function oldReply(replies: Readonly<Record<string, unknown>>, callId: string): object {
  return { ...(normal(replies[callId]) as object), runId: callId };
}

/** Fails unless a repeated reply waits as the first one did; why it waits is not stored. */
function expectSame(reply: AgentReply, old: unknown): void {
  const { pending, ...first } = normal(old) as { pending: readonly { state: string }[] };
  expect(normal(reply)).toMatchObject(first);
  const { state } = pending[0] ?? {};
  const waiting = pendingOf(reply).filter((call) => call.state === state);
  // That release suggested no rules.
  const told = waiting.map(({ suggestions: _, ...call }) => call);
  expect(pending).toMatchObject(normal(told) as object[]);
  expect(waiting).toHaveLength(pending.length);
}

function blockText(block: { readonly type: string; readonly text?: string }): string {
  return block.text ?? block.type;
}

function textOfAll(messages: Parameters<typeof outline>[0]): string {
  return outline(messages).join("\n");
}
