import type { JsonObject, Slot, ToolResultBlock } from "@holdfast/core";
import { scaled } from "@holdfast/testing";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { logKinds, type OpenLog } from "./log-kinds.js";
import { ToolReader } from "./tool-reader.js";

const ada = { agentId: "agent", userId: "ada" };
const one: Slot = { ...ada, sessionId: "one" };
const two: Slot = { ...ada, sessionId: "two" };
const calls = 40;

/** 300 KB that no two pages share. */
const long = Array.from({ length: 30_000 }, (_, n) => `${n.toString(36).padStart(7, "ä")}\n☃`).join(
  "",
);
const result: ToolResultBlock = {
  type: "tool_result",
  toolCallId: "t",
  name: "work",
  output: [{ type: "text", text: `${long}needle 41\n` }],
  state: "success",
};

describe.each(scaled(["mysql", "encrypted"], Object.keys(logKinds)))(
  "the tools over the %s log",
  (kind) => {
    let open: OpenLog;
    let reader: ToolReader;
    beforeAll(async () => {
      open = (logKinds[kind] as () => OpenLog)();
      reader = new ToolReader(open.log);
      await reader.call({ ...ada, agentId: "other", sessionId: "three" }, "committed", "needle 42");
      await reader.call({ ...ada, userId: "eve", sessionId: "one" }, "committed", "needle of Eve");
      await reader.call(
        { ...ada, userId: null, sessionId: "one" },
        "committed",
        "needle of nobody",
      );
      await reader.call(two, "committed", "the second begins", result);
      for (let n = 0; n < calls; n++)
        await reader.call(one, "committed", `question ${n}`, `needle ${n}`);
      await reader.call(one, "conflict", "needle in a conflict");
      await reader.call(one, "rolled_back", "needle taken back");
      await reader.call(one, "error", "needle in a failure");
    });
    afterAll(() => open.close());

    test("list the user's sessions with this agent, page by page", async () => {
      const all = await reader.use("list", {}, ada);
      expect(sessionsIn(all.text)).toEqual(["one", "two"]);
      expect(all.text).toContain(": the second begins\n");
      const found: string[] = [];
      for (let input: JsonObject | null = { limit: 1 }; input; ) {
        const { text } = await reader.use("list", input, ada);
        found.push(...sessionsIn(text));
        input = argumentsIn(text, "More: ");
      }
      expect(found).toEqual(["one", "two"]);
    });

    test("page back to the beginning and forward to the end, each message once and in order", async () => {
      const expected = Array.from({ length: calls }, (_, n) => [
        `question ${n}`,
        `needle ${n}`,
      ]).flat();
      const all = [...expected, "needle in a failure"];
      const back: string[] = [];
      for (let input: JsonObject | null = { sessionId: "one" }; input; ) {
        const { text } = await reader.use("history", input, ada);
        back.unshift(...messagesIn(text));
        input = argumentsIn(text, "Earlier ones: ");
      }
      expect(back).toEqual(all);
      const forth: string[] = [];
      for (let input: JsonObject | null = { sessionId: "one", after: -1, lastN: 33 }; input; ) {
        const { text } = await reader.use("history", input, ada);
        forth.push(...messagesIn(text));
        input = argumentsIn(text, "Later ones: ");
      }
      expect(forth).toEqual(all);
    });

    test("show a result of 300 KB whole, page by page", async () => {
      const { text: page } = await reader.use("history", { sessionId: "two" }, ada);
      let input = argumentsIn(page, "[cut: ");
      expect(input).not.toBeNull();
      let whole = "";
      for (input = { ...input, offset: 0 }; input; ) {
        const { output } = await reader.use("history", input, ada);
        const [text, foot] = output.map((part) => (part.type === "text" ? part.text : ""));
        whole += text;
        input = argumentsIn(foot ?? "", "Go on: ") as JsonObject;
      }
      expect(whole.includes(long)).toBe(true);
    });

    test.each([
      ["literal", { query: "NEEDLE", exact: true }],
      ["regular expression", { query: "needle.*$", regex: true }],
    ])(
      "find a %s in all of the user's sessions, page by page, and nobody else's",
      async (_, query) => {
        const hits: string[] = [];
        for (let input: JsonObject | null = { ...query, maxResults: 7 }; input; ) {
          const { text } = await reader.use("search", input, ada);
          hits.push(
            ...[...text.matchAll(/^ {2}(?!read|around).*»(.*)«(.*)$/gm)].map(
              (hit) => `${hit[1]}${hit[2]}`,
            ),
          );
          input = argumentsIn(text, "Go on: ");
        }
        const newestFirst = Array.from({ length: calls }, (_, n) => `needle ${calls - 1 - n}`);
        const found = hits.map((hit) => hit.trimEnd());
        expect(found).toEqual(["needle in a failure", ...newestFirst, "needle 41"]);
      },
    );

    test("lead from a hit in a long result to the page that has it", async () => {
      const { text } = await reader.use("search", { query: "needle 41", exact: true }, ada);
      const read = argumentsIn(text, "read it: ") as JsonObject;
      expect((await reader.use("history", read, ada)).text).toContain("needle 41");
    });

    test("show what calls said that were discarded on request only", async () => {
      for (const [name, input] of [
        ["history", { sessionId: "one", lastN: 5 }],
        ["search", { query: "needle", exact: true }],
        ["search", { query: "needle conflict taken failure", maxResults: 50 }],
        ["search", { query: "needle", regex: true }],
      ] as const) {
        const hidden = await reader.use(name, input, ada);
        expect(hidden.text).not.toMatch(/in a conflict|taken back/);
        const { text } = await reader.use(name, { ...input, includeDiscarded: true }, ada);
        expect(text).toMatch(/\(discarded: conflict\)/);
        expect(text).toMatch(/\(discarded: rolled back\)/);
        expect(text).toMatch(/\(failed\)/);
      }
    });

    test("read another agent of the user by its name, and without a user only the session itself", async () => {
      const wish = { agentId: "other", sessionId: "three" };
      expect((await reader.use("history", wish, ada)).text).toContain("needle 42");
      expect((await reader.use("search", { agentId: "other", query: "needle" }, ada)).text).toMatch(
        /»needle« 42/,
      );
      const anonymous = { agentId: "agent", userId: null, sessionId: "one" };
      const own = await reader.use("search", { query: "needle of", exact: true }, anonymous);
      expect(own.text).toContain("»needle of« nobody");
      expect(own.text).not.toContain("Eve");
      const others = await reader.use("history", { sessionId: "two" }, anonymous);
      expect(others.isError).toBe(true);
    });

    test("take nobody for another whose ids look alike", async () => {
      const id = "Straße-é";
      const alike = [
        ...[
          "STRASSE-É",
          "straße-é",
          "Strasse-é",
          "Stra\u00dfe-e\u0301",
          "Straße-é ",
          "Straße-é\u200b",
        ],
        ...[encodeURIComponent(id), "Straße-é/..", "Straße-é/one", "Straße-é%00", "%53traße-é"],
      ];
      const me = { agentId: "agent", userId: id };
      for (const other of alike) {
        await reader.call({ ...me, userId: other, sessionId: id }, "committed", "their secret");
        await reader.call(
          { agentId: other, userId: id, sessionId: id },
          "committed",
          "with another",
        );
        await reader.call({ ...me, sessionId: other }, "committed", "in another");
      }
      await reader.call({ ...me, sessionId: id }, "committed", "mine, here");
      const { text } = await reader.use("history", { sessionId: id }, me);
      expect(messagesIn(text)).toEqual(["mine, here"]);
      for (const wish of [
        {},
        ...alike.flatMap((other) => [{ sessionId: other }, { agentId: other }]),
      ])
        for (const kind of [{ regex: true }, { exact: true }, {}]) {
          const found = await reader.use("search", { query: "their secret", ...kind, ...wish }, me);
          expect(found.text).not.toContain("their secret");
        }
      const listed = await reader.use("list", { limit: 100 }, me);
      expect(sessionsIn(listed.text).sort()).toEqual([id, ...alike].sort());
    });
  },
);

/** The sessions of a list, without that of the reader. */
function sessionsIn(text: string): string[] {
  const rows = text.match(/^"(?:[^"\\]|\\.)*"(?=( \(this session\))?, last active)/gm) ?? [];
  return rows.map((row) => JSON.parse(row) as string).filter((id) => id !== "reader");
}

/** The messages of an overview; none of them has an empty line in it. */
function messagesIn(text: string): string[] {
  return text
    .split("\n\n")
    .filter((item) => /^\[\d+\] user, /.test(item))
    .map((item) => item.slice(item.indexOf("\n") + 1));
}

/** The arguments of the call that an answer proposes behind `lead`. */
function argumentsIn(text: string, lead: string): JsonObject | null {
  const at = text.indexOf(lead);
  if (at < 0) return null;
  const [, given = ""] =
    /^session_\w+ with ((?:(?:, )?\w+: (?:"(?:[^"\\]|\\.)*"|-?\d+|true))*)/.exec(
      text.slice(at + lead.length),
    ) ?? [];
  const pairs = [...given.matchAll(/(\w+): ("(?:[^"\\]|\\.)*"|-?\d+|true)/g)];
  return Object.fromEntries(pairs.map(([, key, value]) => [key, JSON.parse(value ?? "null")]));
}
