import { assistantMessage, type Slot, userMessage } from "@holdfast/core";
import { expect, test } from "vitest";
import { ada, bench, proposed } from "./bench.js";

function session(sessionId: string): Slot {
  return { ...ada, sessionId };
}

test("sessions are listed with their times and how they began, most recently updated first", async () => {
  const tools = bench();
  await tools.say("Plan a trip\nto the sea", session("trip"));
  await tools.say(userMessage([{ type: "hint", text: "a summary", source: "summary" }]));
  await tools.say(assistantMessage("Welcome!"));
  await tools.say("  \n  And now this");
  await tools.say("more", session("trip"));
  expect((await tools.use("list")).text).toBe(
    `"trip", last active 2026-01-01T00:00:04.000Z, began 2026-01-01T00:00:00.000Z: Plan a trip
"one" (this session), last active 2026-01-01T00:00:03.000Z, began 2026-01-01T00:00:01.000Z: And now this
[These are all. session_history with a sessionId shows one.]`,
  );
});

test("what a discarded call said first is not shown", async () => {
  const tools = bench();
  await tools.say("taken back", ada, "a");
  await tools.end("rolled_back", ada, "a");
  await tools.say("said instead", ada, "b");
  const { text } = await tools.use("list");
  expect(text).toContain(": said instead");
  expect(text).not.toContain("taken back");
});

test("a long first line is cut between characters", async () => {
  const tools = bench();
  await tools.say("😀".repeat(40_000));
  await tools.say("x".repeat(120), session("just"));
  const { text } = await tools.use("list");
  expect(text).toContain(`: ${"😀".repeat(120)}…\n`);
  expect(text).toContain(`: ${"x".repeat(120)}\n`);
});

test("a session in which the user said nothing is listed with its times", async () => {
  const tools = bench();
  await tools.say(assistantMessage("Hello?"));
  expect((await tools.use("list")).text).toMatch(/, began 2026-01-01T00:00:00.000Z\n/);
});

test.each([
  ["by its limit", { limit: 7 }, 20_000],
  ["by the size of a page", { limit: 100 }, 1_000],
])(
  "a list that ends %s goes on with its cursor, and shows every session once",
  async (_, first, maxPageChars) => {
    const tools = bench({ maxPageChars });
    for (let index = 0; index < 45; index++)
      await tools.say(`begin ${index}`, session(`s${index} ${"i".repeat(index)}`));
    const seen: string[] = [];
    for (let input: object | null = first; input !== null; ) {
      const { text } = await tools.use("list", input);
      expect(text.length).toBeLessThanOrEqual(maxPageChars);
      seen.push(...[...text.matchAll(/^"s(\d+) /gm)].map(([, index]) => index ?? ""));
      input = proposed(text, "More: ");
    }
    expect(seen).toEqual(Array.from({ length: 45 }, (__, index) => String(44 - index)));
  },
);

test("the sessions with another agent of the user are listed when it is named", async () => {
  const tools = bench();
  for (let index = 0; index < 3; index++)
    await tools.say("elsewhere", { ...session(`s${index}`), agentId: "other" });
  expect((await tools.use("list")).text).toBe("No sessions.");
  const { text } = await tools.use("list", { agentId: "other", limit: 2 });
  expect(text).toContain('"s2", last active');
  const next = proposed(text, "More: ");
  expect(next).toMatchObject({ agentId: "other", limit: 2 });
  expect((await tools.use("list", next ?? {})).text).toContain('"s0", last active');
});

test.each([{ limit: 0 }, { limit: 101 }, { limit: 1.5 }, { cursor: "x".repeat(1_001) }])(
  "%j is refused",
  async (input) => {
    expect((await bench().use("list", input)).isError).toBe(true);
  },
);

test("when time is up the sessions are listed without how they began", async () => {
  const tools = bench({ timeoutMs: 1 });
  for (let index = 0; index < 60; index++)
    await tools.say("x".repeat(500_000), session(`s${index}`));
  const { text } = await tools.use("list", { limit: 100 });
  expect(text.match(/^"s/gm)).toHaveLength(60);
  expect(text).toMatch(/^"s0", last active \S+$/m);
});
