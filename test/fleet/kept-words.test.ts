import { type AgentReply, type ReActAgent, toolResultsOf } from "@holdfast/core";
import { eventually, scaled, spawnScript } from "@holdfast/testing";
import { describe, expect, test } from "vitest";
import { expectPaired, outline } from "../engine/conversation.js";
import { newPlace, sharedStores } from "./every-store.js";
import { keeper } from "./keeper.mjs";

const isLong = process.env["HOLDFAST_LONG"] === "1";
const rounds = isLong ? 20 : 1;
/** Sessions in which the node that dies has a call each. */
const perRound = isLong ? 40 : 12;

/** Forty calls at once have to renew theirs, in a long run beside other tests. */
const leaseMs = isLong ? 15_000 : 5_000;

const modes = ["call", "step"] as const;

/** What is done about the words of a node that died. */
const ways = ["next call", "repeat", "resume", "resume by callId"] as const;

interface DeadCall {
  readonly sessionId: string;
  readonly words: string;
  readonly way: (typeof ways)[number];
  readonly callId: string | undefined;
}

describe.concurrent.each(scaled(["mysql"], sharedStores))("on %s", (kind) => {
  test.sequential.each(modes)(
    `saved per %s: of ${rounds * perRound} calls that died after their model was asked, all words are kept and answered once`,
    async (persistence) => {
      await using place = await newPlace(kind, leaseMs);
      const store = place.open();
      const agent = keeper(store);
      await agent.call("hello", { userId: "u", sessionId: "ready-too" });
      for (let round = 0; round < rounds; round++) {
        const node = [JSON.stringify(place.choice), JSON.stringify({ persistence, delayMs: 30 })];
        await using dying = spawnScript(new URL("keeper-node.mjs", import.meta.url), node);
        const calls = Array.from({ length: perRound }, (_, n): DeadCall => {
          const way = ways[n % ways.length] ?? "repeat";
          const sessionId = `s-${round}-${n}`;
          const needsId = way === "repeat" || way === "resume by callId" || n % 8 < 4;
          const words = n % 3 === 0 ? `question ${n}` : `use pay, look: question ${n}`;
          return { sessionId, words, way, callId: needsId ? `call-${n}` : undefined };
        });
        await dying.line("ready");
        for (const { sessionId, words, callId } of calls) {
          dying.send(JSON.stringify({ input: words, ctx: { userId: "u", sessionId, callId } }));
        }
        const isAsked = ({ sessionId, words }: DeadCall) =>
          dying.lines.includes(`${sessionId} asked ${words}`);
        await eventually(() => calls.every(isAsked), { intervalMs: 1 });
        await new Promise((resolve) => setTimeout(resolve, Math.random() * 60));
        await dying.kill9();
        const isAnswered = ({ sessionId }: DeadCall) =>
          dying.lines.some((line) => line.startsWith(`${sessionId} reply`));
        await expectListed(agent, calls, isAnswered);
        await Promise.all(calls.map((call) => expectKept(agent, call)));
      }
    },
  );

  test.sequential.each(modes)(
    "saved per %s: an answer to a tool call that asks or waits is kept when its node dies",
    async (persistence) => {
      await using place = await newPlace(kind, 5_000);
      const agent = keeper(place.open());
      await agent.call("hello", { userId: "u", sessionId: "ready-too" });
      const node = [
        JSON.stringify(place.choice),
        JSON.stringify({ persistence, holdAt: "asked again" }),
      ];
      await using dying = spawnScript(new URL("keeper-node.mjs", import.meta.url), node);
      const calls = await Promise.all(
        (["approve", "outside"] as const).flatMap((tool) =>
          (["repeat", "resume"] as const).map(async (way) => {
            const ctx = { userId: "u", sessionId: `${tool}-${way}`, callId: "answer" };
            const toolCallId = openCall(
              await agent.call(`use ${tool}: x`, { ...ctx, callId: undefined }),
            );
            const input =
              tool === "approve"
                ? { confirm: [{ toolCallId, approve: true }] }
                : { results: [{ toolCallId, output: "from outside" }] };
            return {
              ctx,
              way,
              input,
              result: tool === "approve" ? "approve done" : "from outside",
            };
          }),
        ),
      );
      await dying.line("ready");
      for (const { input, ctx } of calls) dying.send(JSON.stringify({ input, ctx }));
      await eventually(
        () => calls.every(({ ctx }) => dying.lines.includes(`${ctx.sessionId} asked again`)),
        { intervalMs: 1 },
      );
      await dying.kill9();
      await Promise.all(
        calls.map(async ({ input, ctx, way, result }) => {
          const reply =
            way === "repeat"
              ? await agent.call(input, ctx)
              : await agent.resume(ctx.userId, ctx.sessionId);
          expect(reply, ctx.sessionId).toMatchObject({ reason: "stop" });
          const state = await agent.getAgentState(ctx.userId, ctx.sessionId);
          expectPaired(state?.context ?? []);
          const results = state?.context.flatMap((message) => toolResultsOf(message)) ?? [];
          expect(results).toHaveLength(1);
          const [only] = results;
          // A tool that had started and was not saved is not run a second time.
          const isUnknown = persistence === "call" && only?.state === "interrupted";
          if (!isUnknown || result !== "approve done")
            expect(only, ctx.sessionId).toMatchObject({
              state: "success",
              output: [{ text: result }],
            });
          expect(outline(state).filter((line) => line.startsWith("assistant: re:"))).toHaveLength(
            1,
          );
          expect(await agent.resume(ctx.userId, ctx.sessionId)).toBeNull();
        }),
      );
    },
  );
});

function openCall(reply: AgentReply): string {
  const [call] = "pending" in reply ? reply.pending : [];
  if (!call) throw new Error("no tool call waits");
  return call.toolCallId;
}

/** A listing names every session whose call came to no reply, and none that has its reply. */
async function expectListed(
  agent: ReActAgent,
  calls: readonly DeadCall[],
  isAnswered: (call: DeadCall) => boolean,
): Promise<void> {
  const listed = new Set<string>();
  for (let cursor: string | undefined; ; ) {
    const page = await agent.sessions({ userId: "u", unfinished: true, cursor });
    for (const { slot, info } of page.slots) {
      expect(info?.unfinished).toBe(true);
      listed.add(slot.sessionId);
    }
    cursor = page.cursor;
    if (cursor === undefined) break;
  }
  const mine = calls.filter(({ sessionId }) => listed.has(sessionId));
  // A reply may have been saved that the node did not live to tell.
  for (const call of calls.filter((each) => !mine.includes(each))) {
    const state = await agent.getAgentState("u", call.sessionId);
    expect(outline(state)).toContain(`assistant: re: ${call.words}`);
  }
  expect(mine.filter(isAnswered)).toEqual([]);
}

/** The words are there before anybody does anything, and once, with one answer, after the next. */
async function expectKept(
  agent: ReActAgent,
  { sessionId, words, way, callId }: DeadCall,
): Promise<void> {
  const ctx = { userId: "u", sessionId };
  const found = outline(await agent.getAgentState("u", sessionId));
  expect(found.filter((line) => line === `user: ${words}`)).toHaveLength(1);
  const wasAnswered = found.includes(`assistant: re: ${words}`);
  if (way === "next call") {
    expect((await agent.call("next", ctx)).text).toBe("re: next");
    const after = outline(await agent.getAgentState("u", sessionId));
    expect(after.slice(-2)).toEqual(["user: next", "assistant: re: next"]);
    expect(after.filter((line) => line === `user: ${words}`)).toHaveLength(1);
    if (callId !== undefined)
      expect((await agent.call(words, { ...ctx, callId })).text).toBe(`re: ${words}`);
  } else if (way === "repeat") {
    expect((await agent.call(words, { ...ctx, callId })).text).toBe(`re: ${words}`);
  } else {
    const options = way === "resume" ? {} : { callId };
    // Two who want to help at once.
    const replies = await Promise.all([
      agent.resume("u", sessionId, options),
      agent.resume("u", sessionId, options),
    ]);
    const texts = replies.flatMap((reply) => reply?.text ?? []);
    if (way === "resume by callId") expect(texts).toEqual([`re: ${words}`, `re: ${words}`]);
    else expect([...new Set(texts)]).toEqual(wasAnswered ? [] : [`re: ${words}`]);
  }
  expect(await agent.resume("u", sessionId)).toBeNull();
  const state = await agent.getAgentState("u", sessionId);
  expectPaired(state?.context ?? []);
  const after = outline(state);
  expect(after.filter((line) => line === `user: ${words}`)).toHaveLength(1);
  const answers = after.filter((line) => line === `assistant: re: ${words}`);
  expect(answers).toHaveLength(way === "next call" && callId === undefined && !wasAnswered ? 0 : 1);
}
