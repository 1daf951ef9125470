import {
  type AgentEvent,
  InMemoryConversationLog,
  ReActAgent,
  type ReActAgentOptions,
  tool,
  toolResultsOf,
} from "@holdfast/core";
import { sessionTools } from "@holdfast/session-tools";
import { type ScriptedReply, scriptedModel } from "@holdfast/testing";
import { expect, test } from "vitest";
import { z } from "zod";
import { proposed } from "./bench.js";

type Whose = { userId?: string | null; sessionId: string };

/** An agent whose model calls the tool it is told to, or says "done". */
function agentWith(options: Partial<ReActAgentOptions> = {}) {
  const calls: { name: string; input: object }[] = [];
  const model = scriptedModel(({ messages }): ScriptedReply => {
    const call = messages.at(-1)?.role === "tool" ? undefined : calls.shift();
    return call === undefined ? "done" : { text: "I look.", toolCalls: [call as never] };
  });
  const events: AgentEvent[] = [];
  const agent = new ReActAgent({
    name: "agent",
    model,
    plugins: [sessionTools()],
    onEvent: (event) => events.push(event),
    ...options,
  });
  const ask = async (name: string, input: object, whose: Whose): Promise<string> => {
    calls.push({ name, input });
    await agent.call("Look it up.", whose);
    const state = await agent.getAgentState(whose);
    const { output = [] } = (state?.context ?? []).flatMap(toolResultsOf).at(-1) ?? {};
    return output.map((part) => (part.type === "text" ? part.text : "(data)")).join("\n");
  };
  return { agent, ask, model };
}

test("a model that calls the tools sees its user's sessions and no others", async () => {
  const { agent, ask } = agentWith();
  await agent.call("I like green tea.", { userId: "ada", sessionId: "tea" });
  await agent.call("I like coffee.", { userId: "eve", sessionId: "coffee" });
  await agent.call("I like water.", { sessionId: "water" });
  const now = { userId: "ada", sessionId: "now" };
  expect(await ask("session_list", {}, now)).toMatch(
    /^"tea", last active \S+, began \S+: I like green tea\.\n/,
  );
  const found = await ask("session_search", { query: "i like", exact: true }, now);
  expect(found).toContain("»I like« green tea.");
  expect(found).not.toMatch(/coffee|water/);
  expect(await ask("session_history", proposed(found, "read it: ") ?? {}, now)).toContain(
    "I like green tea.",
  );
  const ranked = await ask("session_search", { query: "What does she like to drink?" }, now);
  expect(ranked).toMatch(/^session "tea", .*\n> \[\d+\] user: I »like« green »tea«\.\n/);
  expect(ranked).not.toMatch(/coffee|water/);
  expect(await ask("session_history", { sessionId: "coffee" }, now)).toContain(
    'there is no session "coffee" of this user',
  );
  expect(
    await ask("session_search", { query: "i like", exact: true }, { sessionId: "water" }),
  ).toContain("water");
  const refusal = await ask("session_history", { sessionId: "tea" }, { sessionId: "water" });
  expect(refusal).toContain("only this session");
  await agent.close();
});

test("a result that was cut for the context can be read back whole", async () => {
  const whole = Array.from({ length: 60_000 }, (_, index) => `line ${index} 😀`).join("\n");
  const fetch = tool({
    name: "fetch",
    description: "Makes output.",
    input: z.object({}),
    execute: () => whole,
  });
  const { agent, ask } = agentWith({ tools: [fetch], limits: { messageBytes: 100_000 } });
  const now = { userId: "ada", sessionId: "now" };
  const kept = await ask("fetch", {}, now);
  expect(kept.length).toBeLessThan(10_000);
  const found = await ask("session_search", { query: "line 31415 ", exact: true }, now);
  const jump = proposed(found, "read it: ");
  expect(await ask("session_search", { query: "which line is 31415" }, now)).toMatch(
    /^> \[3, offset \d+\] tool: .*»line 31415«/m,
  );
  expect(await ask("session_history", jump ?? {}, now)).toContain("line 31415 😀\nline 31416");
  let text = "";
  for (let input: object | null = { at: jump?.["at"] }; input !== null; ) {
    const answer = await ask("session_history", input, now);
    const note = answer.lastIndexOf("\n[Position ");
    text += answer.slice(0, note);
    input = proposed(answer.slice(note), "Go on: ");
  }
  expect(text.includes(whole)).toBe(true);
  await agent.close();
});

test("what a model searched for before is not found again, nor what it still has before its eyes", async () => {
  const { agent, ask } = agentWith({ persistence: "step" });
  const now = { userId: "ada", sessionId: "now" };
  for (const exact of [true, false, true])
    expect(await ask("session_search", { query: "zebra", exact }, now)).toMatch(/^\[Nothing found/);
  await agent.call("I saw a zebra.", now);
  expect(await ask("session_search", { query: "zebra", exact: true }, now)).toContain("[1 found;");
  const hidden = await ask("session_search", { query: "zebra" }, now);
  expect(hidden).toMatch(/^\[Nothing found.* in your context are left out; includeContext: true/);
  const all = await ask("session_search", { query: "zebra", includeContext: true }, now);
  expect(all).toContain("user: I saw a »zebra«.");
  const there = { userId: "ada", sessionId: "elsewhere" };
  expect(await ask("session_search", { query: "zebra" }, there)).toContain("I saw a »zebra«.");
  await agent.close();
});

test("sessions are listed with their titles, and found by words, times and metadata", async () => {
  const { agent, ask } = agentWith();
  await agent.call("I like green tea.", { userId: "ada", sessionId: "tea" });
  await agent.call("Where is Oslo?", { userId: "ada", sessionId: "trip" });
  const trip = { title: "Norway in spring", metadata: { project: "holiday" } };
  await agent.setSession("ada", "trip", trip);
  const now = { userId: "ada", sessionId: "now" };
  const all = await ask("session_list", {}, now);
  expect(all).toMatch(/^"trip", titled "Norway in spring", last active .*: Where is Oslo\?$/m);
  expect(all).toMatch(/^"tea", last active .*: I like green tea\.$/m);
  for (const input of [{ text: "norway" }, { metadata: { project: "holiday" } }]) {
    const found = await ask("session_list", input, now);
    expect(found).toContain('"trip"');
    expect(found).not.toContain('"tea"');
  }
  expect(await ask("session_list", { until: "2020-01-01" }, now)).toBe("No sessions like that.");
  expect(await ask("session_list", { since: "soon" }, now)).toContain("is not a time");
  await agent.close();
});

test("an agent sees the sessions of the same user with another agent on the same log", async () => {
  const log = new InMemoryConversationLog();
  const planner = agentWith({ name: "planner", log });
  const { agent, ask } = agentWith({ log });
  await planner.agent.call("Plan the trip.", { userId: "ada", sessionId: "trip" });
  const now = { userId: "ada", sessionId: "now" };
  expect(await ask("session_list", { agentId: "planner" }, now)).toContain('"trip", last active');
  const input = { agentId: "planner", sessionId: "trip" };
  expect(await ask("session_history", input, now)).toContain("Plan the trip.");
  await Promise.all([agent.close(), planner.agent.close()]);
});

test("with the state saved at every step, the running call is told apart from unfinished ones", async () => {
  const { agent, ask } = agentWith({ persistence: "step" });
  const now = { userId: "ada", sessionId: "now" };
  await agent.call("Hello.", now);
  const text = await ask("session_history", {}, now);
  expect(text).toMatch(/Z\nHello\./);
  expect(text).not.toContain("(unfinished)");
  await agent.close();
});

test("input that is wrong becomes an error the model can read", async () => {
  const { agent, ask } = agentWith();
  const now = { userId: "ada", sessionId: "now" };
  expect(await ask("session_history", { lastN: "many" }, now)).toContain("lastN");
  expect(await ask("session_history", { sessionId: "x".repeat(256) }, now)).toContain(
    "at most 255",
  );
  await agent.close();
});

test("a fork begins with the turns up to a position that a search has shown, and reads them as its own", async () => {
  const { agent, ask } = agentWith();
  const trip = { userId: "ada", sessionId: "trip" };
  await agent.call("I saw a zebra.", trip);
  await agent.call("I saw an okapi.", trip);
  const found = await ask(
    "session_search",
    { query: "zebra" },
    { userId: "ada", sessionId: "now" },
  );
  const at = Number(/\[(\d+)\][^[]*zebra/.exec(found)?.[1]);
  const fork = await agent.fork(trip, { at, as: "fork" });
  const history = await ask("session_history", { sessionId: "fork" }, trip);
  expect(history).toContain("I saw a zebra.");
  expect(history).toContain("(fork_end)");
  expect(history).not.toMatch(/okapi|unfinished|discarded/);
  expect(await ask("session_list", {}, trip)).toMatch(/"fork", titled "Fork of I saw a zebra\."/);
  expect(fork.sessionId).toBe("fork");
  await agent.close();
});
