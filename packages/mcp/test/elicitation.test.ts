import { readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import {
  type AgentReply,
  InMemoryAgentStateStore,
  type PendingCall,
  textOf,
  toolResultsOf,
} from "@holdfast/core";
import type { QuestionAnswer } from "@holdfast/core/plugin-kit";
import { eventually, spawnScript, tempDirectory } from "@holdfast/testing";
import { freePort } from "@holdfast/testing/servers";
import { describe, expect, test } from "vitest";
import type { McpServerOptions, McpToolsOptions } from "../src/index.js";

import { said, say, type ToolUser, toolUser } from "./support/tool-user.js";

const server = fileURLToPath(new URL("./fixtures/asking-server.mjs", import.meta.url));
const sessionId = "trip";

function pendingOf(reply: AgentReply): readonly PendingCall[] {
  return "pending" in reply ? reply.pending : [];
}

/** Runs `use` with a server that asks, and an agent of it. */
async function withServer(
  kind: "stdio" | "http",
  use: (
    user: ToolUser,
    about: {
      lines(): Promise<string[]>;
      another(): ToolUser;
    },
  ) => Promise<void>,
  more: Partial<McpServerOptions> = {},
): Promise<void> {
  await using directory = await tempDirectory();
  const journal = `${directory.path}/journal`;
  const port = kind === "http" ? await freePort() : 0;
  await using process_ = kind === "http" ? spawnScript(server, [journal, String(port)]) : null;
  await process_?.line("listening");
  const options: McpServerOptions =
    kind === "http"
      ? { url: `http://127.0.0.1:${port}/` }
      : { command: process.execPath, args: [server, journal] };
  const stateStore = new InMemoryAgentStateStore();
  const another = () =>
    toolUser({ servers: { hotel: { ...options, ...more } } } as McpToolsOptions, { stateStore });
  await using user = another();
  const lines = async () => (await readFile(journal, "utf8").catch(() => "")).split("\n");
  await use(user, { lines, another });
}

function answer(user: ToolUser, ...answers: readonly QuestionAnswer[]): Promise<AgentReply> {
  return user.agent.call({ answers }, { sessionId });
}

async function results(user: ToolUser): Promise<string[]> {
  const state = await user.agent.getAgentState({ sessionId });
  return (state?.context ?? []).flatMap(toolResultsOf).map(said);
}

describe.each(["stdio", "http"] as const)("a server that asks, over %s", (kind) => {
  test("is answered in the call that it asked in, question after question", () =>
    withServer(kind, async (user, { lines }) => {
      const first = await say(user.agent, [{ name: "hotel_book", input: { questions: 3 } }], {
        sessionId,
      });
      expect(first.reason).toBe("tool_suspended");
      const [asked] = pendingOf(first) as [PendingCall];
      expect(asked.reason).toBe("the MCP server hotel asks");
      expect(asked.question?.message).toBe("Where to? (1)");
      expect(asked.question?.schema?.["properties"]).toMatchObject({ nights: { default: 2 } });
      const { toolCallId } = asked;
      const content = { city: "Oslo", room: "d" };
      const second = await answer(user, { toolCallId, action: "accept", content });
      expect(pendingOf(second)[0]?.question?.message).toBe("Where to? (2)");
      await answer(user, { toolCallId, action: "decline" });
      const end = await answer(user, { toolCallId, action: "cancel" });
      expect(end.reason).toBe("stop");
      const told = [
        { action: "accept", content: { city: "Oslo", room: "d", nights: 2 } },
        { action: "decline" },
        { action: "cancel" },
      ];
      expect(JSON.parse((await results(user))[0] as string)).toEqual(told);
      const noted = await lines();
      // One call at the server, however often it asked.
      expect(noted.filter((line) => line === "call book")).toHaveLength(1);
      expect(noted[0]).toContain('"elicitation":{"form":{},"url":{}}');
    }));

  test("asks for two calls at once, and each gets its own answers", () =>
    withServer(kind, async (user) => {
      const book = (message: string) => ({ name: "hotel_book", input: { questions: 2, message } });
      // Known to ask from now on, so that calls over stdio are kept apart.
      const warm = await say(user.agent, [book("Warm?")], { sessionId });
      const [{ toolCallId: warmId }] = pendingOf(warm) as [PendingCall];
      await answer(user, { toolCallId: warmId, action: "decline" });
      await answer(user, { toolCallId: warmId, action: "decline" });
      const first = await say(user.agent, [book("A?"), book("B?")], { sessionId });
      const [a, b] = pendingOf(first) as [PendingCall, PendingCall];
      expect([a.question?.message, b.question?.message]).toEqual(["A? (1)", "B? (1)"]);
      const one = await answer(user, {
        toolCallId: b.toolCallId,
        action: "accept",
        content: { city: "B1" },
      });
      expect(pendingOf(one).map(({ question }) => question?.message)).toEqual(["A? (1)", "B? (2)"]);
      await answer(
        user,
        { toolCallId: a.toolCallId, action: "accept", content: { city: "A1" } },
        { toolCallId: b.toolCallId, action: "accept", content: { city: "B2" } },
      );
      await answer(user, { toolCallId: a.toolCallId, action: "accept", content: { city: "A2" } });
      const cities = (await results(user))
        .slice(1)
        .map((text) =>
          (JSON.parse(text) as { content: { city: string } }[]).map((one) => one.content.city),
        );
      expect(cities.sort()).toEqual([
        ["A1", "A2"],
        ["B1", "B2"],
      ]);
    }));

  test("is called anew, with the recorded answers, by a process that does not hold its question", () =>
    withServer(kind, async (user, { lines, another }) => {
      const first = await say(user.agent, [{ name: "hotel_book", input: { questions: 2 } }], {
        sessionId,
      });
      const [{ toolCallId }] = pendingOf(first) as [PendingCall];
      const second = await answer(user, {
        toolCallId,
        action: "accept",
        content: { city: "Rome" },
      });
      expect(pendingOf(second)[0]?.question?.message).toBe("Where to? (2)");
      await using other = another();
      const end = await answer(other, { toolCallId, action: "decline" });
      expect(end.reason).toBe("stop");
      const told = [
        { action: "accept", content: { city: "Rome", nights: 2 } },
        { action: "decline" },
      ];
      expect(JSON.parse((await results(other))[0] as string)).toEqual(told);
      const noted = await lines();
      expect(noted.filter((line) => line === "call book")).toHaveLength(2);
      expect(noted.filter((line) => line === "ran book")).toHaveLength(1);
    }));

  test("may ask to open an address", () =>
    withServer(kind, async (user) => {
      const first = await say(user.agent, [{ name: "hotel_open", input: { message: "Pay" } }], {
        sessionId,
      });
      const [asked] = pendingOf(first) as [PendingCall];
      expect(asked.question).toEqual({ message: "Pay", url: "https://pay.example/1" });
      await answer(user, { toolCallId: asked.toolCallId, action: "accept" });
      expect(await results(user)).toEqual(['[{"action":"accept"}]']);
    }));
});

test("a question outside of a tool call is declined, and one that is given up reaches nobody", () =>
  withServer("stdio", async (user, { lines }) => {
    await user.agent.ready();
    await eventually(async () => (await lines()).includes('outside {"action":"decline"}'));
    const first = await say(user.agent, [{ name: "hotel_book", input: {} }], { sessionId });
    expect(pendingOf(first)).toHaveLength(1);
    expect(await user.agent.interrupt(null, sessionId)).toBe("closed_asks");
    const state = await user.agent.getAgentState({ sessionId });
    expect(state?.context.map(textOf).join()).not.toContain("Where to?");
    expect((await lines()).filter((line) => line === "ran book")).toHaveLength(0);
  }));

test("a question that waits too long is ended at the server, and its answer makes the call anew", () =>
  withServer(
    "stdio",
    async (user, { lines }) => {
      const first = await say(user.agent, [{ name: "hotel_book", input: {} }], { sessionId });
      const [{ toolCallId }] = pendingOf(first) as [PendingCall];
      await eventually(async () => (await lines()).includes('answer {"action":"cancel"}'));
      const end = await answer(user, { toolCallId, action: "accept", content: { city: "Rome" } });
      expect(end.reason).toBe("stop");
      expect((await results(user))[0]).toContain('"city":"Rome"');
      expect((await lines()).filter((line) => line === "call book")).toHaveLength(2);
    },
    { questionTimeoutMs: 1 },
  ));

describe("a server over stdio that goes on with an interrupted call", () => {
  const alice = { sessionId: "alice" };
  const bob = { sessionId: "bob" };

  /** Makes a call that asks once the next one has come, and interrupts it. */
  async function interrupted(user: ToolUser, lines: () => Promise<string[]>): Promise<void> {
    const before = (await lines()).filter((line) => line === "call book").length;
    const input = { message: "Alice, confirm", after: "call" };
    const call = say(user.agent, [{ name: "hotel_book", input }], alice);
    await eventually(
      async () => (await lines()).filter((line) => line === "call book").length > before,
    );
    await user.agent.interrupt(null, alice.sessionId);
    expect((await call).reason).toBe("interrupted");
  }

  test.each([["another session", bob] as const, ["the same session", alice] as const])(
    "has its question cancelled and shown to nobody, not to the next call of %s",
    (_, ctx) =>
      withServer(
        "stdio",
        async (user, { lines }) => {
          await interrupted(user, lines);
          const input = { questions: 0, after: "answer" };
          const reply = await say(user.agent, [{ name: "hotel_book", input }], ctx);
          expect(pendingOf(reply)).toEqual([]);
          expect(reply.reason).toBe("stop");
          expect(await lines()).toContain('answer {"action":"cancel"}');
          // Now that the call has been answered, questions are shown again, and nothing had to be started anew.
          const next = await say(user.agent, [{ name: "hotel_book", input: {} }], bob);
          expect(pendingOf(next)[0]?.question?.message).toBe("Where to? (1)");
          expect(user.changes.map(({ type }) => type)).toEqual(["connected"]);
        },
        { env: { ASKS_IN_CALLS_ONLY: "1" } },
      ),
  );

  test("and is known to ask is started anew, and the next call asks in a process of its own", () =>
    withServer("stdio", async (user, { lines }) => {
      const warm = await say(user.agent, [{ name: "hotel_book", input: {} }], bob);
      const [{ toolCallId }] = pendingOf(warm) as [PendingCall];
      const answers = [{ toolCallId, action: "decline" as const }];
      await user.agent.call({ answers }, bob);
      await interrupted(user, lines);
      const reply = await say(user.agent, [{ name: "hotel_book", input: {} }], bob);
      expect(pendingOf(reply).map(({ question }) => question?.message)).toEqual(["Where to? (1)"]);
      await eventually(
        () => user.changes.at(-1)?.type === "connected" && user.changes.length === 3,
      );
      expect(user.changes[1]).toMatchObject({
        type: "away",
        reason: "has not answered a call that it was told to stop",
      });
    }));
});
