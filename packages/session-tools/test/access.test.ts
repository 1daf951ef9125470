import type { Slot } from "@holdfast/core";
import fc from "fast-check";
import { expect, test } from "vitest";
import { ada, bench, proposed } from "./bench.js";

const secret = "the secret of somebody else";

/** Sessions that are not Ada's, with ids that look like hers. */
const others: readonly Slot[] = [
  { agentId: "agent", userId: "eve", sessionId: "one" },
  { agentId: "agent", userId: "eve", sessionId: "eve's" },
  { agentId: "agent", userId: null, sessionId: "one" },
  { agentId: "agent", userId: null, sessionId: "nobody's" },
  { agentId: "other", userId: "eve", sessionId: "one" },
  { agentId: "agent", userId: "ad", sessionId: "a/one" },
  { agentId: "agent", userId: "ADA", sessionId: "one" },
  { agentId: "agent", userId: "ada/..", sessionId: "one" },
];

async function crowded() {
  const tools = bench();
  for (const slot of others) await tools.say(secret, slot);
  await tools.say("Ada's own words");
  return tools;
}

const wildId = fc.oneof(
  fc.constantFrom(
    ...[
      "..",
      "../eve",
      "*",
      "%",
      "eve",
      "eve's",
      "nobody's",
      "other",
      "agent",
      "one",
      "a/one",
      "/",
    ],
    ...["", "\ud800", "\u0000", "x".repeat(300), "../../eve/one", "eve/one", "__proto__", "null"],
  ),
  fc.string({ unit: "binary" }),
);
const maybe = fc.option(wildId, { nil: undefined });

test("whatever ids, positions and cursors are passed, nobody else's words appear", async () => {
  const tools = await crowded();
  await fc.assert(
    fc.asyncProperty(
      fc.record({
        agentId: maybe,
        sessionId: maybe,
        cursor: fc.option(
          fc.oneof(
            wildId,
            fc.tuple(fc.nat({ max: 30 }), wildId).map(([seq, id]) => `${seq}@${id}`),
          ),
          { nil: undefined },
        ),
        at: fc.option(fc.nat({ max: 20 }), { nil: undefined }),
        before: fc.option(fc.nat({ max: 20 }), { nil: undefined }),
        query: fc.constantFrom("secret", "the", ".*", "secretive somebody's secrets"),
        regex: fc.boolean(),
        exact: fc.boolean(),
        includeDiscarded: fc.boolean(),
      }),
      fc.constantFrom("list", "history", "search"),
      fc.constantFrom<Slot>(ada, { ...ada, userId: null, sessionId: "fresh" }),
      async (input, name, caller) => {
        const { text } = await tools.use(name, input, caller);
        expect(text).not.toContain("secret of");
      },
    ),
    { numRuns: 500 },
  );
});

test.each([
  ["", "must not be empty"],
  ["x".repeat(300), "at most 255"],
  ["a\udc00", "lone surrogate"],
])("an id that no session can have is refused in words (%#)", async (id, words) => {
  const tools = await crowded();
  for (const [name, input] of [
    ["list", { agentId: id }],
    ["history", { agentId: id }],
    ["history", { sessionId: id }],
    ["search", { query: "x", agentId: id }],
    ["search", { query: "x", sessionId: id, regex: true }],
  ] as const) {
    const { text, isError } = await tools.use(name, input);
    expect([isError, text]).toEqual([true, expect.stringContaining(words)]);
  }
});

test("a session of another user looks like one that never was", async () => {
  const tools = await crowded();
  for (const name of ["history", "search"]) {
    const answers = await Promise.all(
      ["eve's", "never"].map(async (sessionId) => {
        const { text, isError } = await tools.use(name, { sessionId, query: "secret" });
        return { text: text.replaceAll(sessionId, "…"), isError };
      }),
    );
    expect(answers[0]).toEqual(answers[1]);
  }
});

test("without a user there is only this session, and nothing tells whether another exists", async () => {
  const tools = bench();
  const mine: Slot = { agentId: "agent", userId: null, sessionId: "mine" };
  await tools.say("my own words", mine);
  await tools.say(secret, { ...mine, sessionId: "theirs" });
  await tools.say(secret, { ...mine, agentId: "other" });
  for (const wish of [{ sessionId: "theirs" }, { sessionId: "never" }, { agentId: "other" }])
    for (const name of ["history", "search", "list"]) {
      if (name === "list" && !("agentId" in wish)) continue;
      const { text, isError } = await tools.use(name, { query: "x", ...wish }, mine);
      expect(isError).toBe(true);
      expect(text).toBe(
        `session_${name}: without a user only this session can be read; leave out sessionId and agentId.`,
      );
    }
  const own = { sessionId: "mine", agentId: "agent" };
  expect((await tools.use("history", own, mine)).text).toContain("my own words");
  expect((await tools.use("list", {}, mine)).text).toMatch(
    /^"mine" \(this session\), .*: my own words\n/,
  );
  for (const kind of [{ exact: true }, { regex: true }]) {
    const { text } = await tools.use("search", { query: "words", ...kind }, mine);
    expect(text).toContain("»words«");
    expect(proposed(text, "read it: ")).toEqual({ at: 1, offset: 0 });
  }
  const { text } = await tools.use("search", { query: "words" }, mine);
  expect(text).toContain("> [1] user: my own »words«");
});

test("a session of another agent must be named", async () => {
  const tools = await crowded();
  await tools.say("with another agent", { ...ada, agentId: "other" });
  const answer = await tools.use("history", { agentId: "other" });
  expect([answer.isError, answer.text]).toEqual([true, expect.stringContaining("sessionId too")]);
  const named = await tools.use("history", { agentId: "other", sessionId: "one" });
  expect(named.text).toContain("with another agent");
});
