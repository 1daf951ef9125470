import {
  type AgentStateStore,
  CallAbortedError,
  InProcessSessionGate,
  type Message,
  type Model,
  type ReActAgent,
  textOf,
  tool,
} from "@holdfast/core";
import { scriptedModel } from "@holdfast/testing";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { agentOn } from "./agent-on.js";
import { expectPaired, keptInLog, outline, slotOf } from "./conversation.js";
import { door } from "./door.js";
import { keptStores, newStore } from "./kept-stores.js";
import { modelOf } from "./models.js";

const session = { sessionId: "s" };
const request = "transfer 100 to Bob";
const once = { ...session, callId: "transfer" };

/** Answers what a request ends with, as a model does, and keeps the requests. */
function answering() {
  return scriptedModel(({ messages }) => {
    const last = messages.at(-1);
    if (last?.role === "assistant") return `${textOf(last)}… continued`;
    const question = messages.findLast(isQuestion);
    return `answer to: ${question ? textOf(question) : "nothing"}`;
  });
}

function isQuestion({ role, content }: Message): boolean {
  return role === "user" && content.some(({ type }) => type === "text");
}

/** Says `text`, and then nothing any more. */
function speaking(text: string, reached: () => void): Model {
  return modelOf(async function* ({ signal }) {
    yield { type: "text_delta", text };
    reached();
    await new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal.reason)));
  });
}

/** A tool that moves money, and what it moved. */
function bank() {
  const paid: string[] = [];
  const pay = tool({
    name: "pay",
    description: "Pays.",
    input: z.object({}),
    execute: () => {
      paid.push("pay");
      return "paid";
    },
  });
  return { paid, tools: [pay] };
}

/** First runs of the request that come to no reply, and what each leaves in the session behind its input. */
const endings: Readonly<
  Record<
    string,
    {
      readonly leaves: readonly unknown[];
      run(store: AgentStateStore, account: ReturnType<typeof bank>): Promise<void>;
    }
  >
> = {
  "whose model failed": {
    leaves: [],
    async run(store) {
      const model = scriptedModel([{ error: new Error("no model") }]);
      await expect(agentOn(store, { model }).call(request, once)).rejects.toThrow("no model");
    },
  },
  "whose model failed after a tool": {
    leaves: ["assistant: call pay", "tool: success paid"],
    async run(store, { tools }) {
      const model = scriptedModel([
        { toolCalls: [{ name: "pay", input: {} }] },
        { error: new Error("no model") },
      ]);
      const agent = agentOn(store, { model, tools });
      await expect(agent.call(request, once)).rejects.toThrow("no model");
    },
  },
  "that was aborted in mid-sentence": {
    leaves: ["assistant: The transfer to"],
    async run(store) {
      const [reached, abort] = [door(), new AbortController()];
      const agent = agentOn(store, { model: speaking("The transfer to", reached.open) });
      const running = agent.call(request, { ...once, signal: abort.signal });
      await reached.opened;
      abort.abort();
      await expect(running).rejects.toSatisfy(CallAbortedError.is);
    },
  },
  "that a shutdown cut in mid-sentence": {
    leaves: ["assistant: The transfer to"],
    async run(store) {
      const reached = door();
      const agent = agentOn(store, { model: speaking("The transfer to", reached.open) });
      const running = agent.call(request, once);
      await reached.opened;
      expect(await agent.shutdown({ timeoutMs: 0 })).toEqual({ calls: 1, cut: 1 });
      expect(await running).toMatchObject({ reason: "shutdown", text: "The transfer to" });
    },
  },
  "whose process died after a saved step": {
    leaves: ["assistant: call pay", "tool: success paid"],
    async run(store, { tools }) {
      const reached = door();
      const model = modelOf((asked, index) =>
        index === 0
          ? scriptedModel([{ toolCalls: [{ name: "pay", input: {} }] }]).stream(asked)
          : speaking("…", reached.open).stream(asked),
      );
      // A gate of its own: nobody else waits for a holder that is gone.
      const gate = new InProcessSessionGate();
      const dying = agentOn(store, { model, tools, gate, persistence: "step" });
      dying.call(request, once).catch(() => undefined);
      await reached.opened;
    },
  },
  "whose process died before any step": {
    leaves: [],
    async run(store) {
      const reached = door();
      const gate = new InProcessSessionGate();
      const dying = agentOn(store, { model: speaking("…", reached.open), gate });
      dying.call(request, once).catch(() => undefined);
      await reached.opened;
    },
  },
};

describe.each(keptStores)("on %s: a repeated request", (kind) => {
  describe.each(Object.keys(endings))("%s", (name) => {
    const { run, leaves } = endings[name] as (typeof endings)[string];
    const own = [`user: ${request}`, ...leaves];
    const isCutOff = String(leaves.at(-1)).startsWith("assistant:");

    async function expectAnsweredOnce(
      store: AgentStateStore,
      agent: ReActAgent,
      before: readonly string[],
    ): Promise<void> {
      const said = [...before, ...own, `assistant: answer to: ${request}`];
      const state = await agent.getAgentState(null, "s");
      expect(outline(state)).toEqual(said);
      expectPaired(state?.context ?? []);
      // Readers of the log see the same messages; in the order in which they were said.
      expect((await keptInLog(store, slotOf())).sort()).toEqual([...said].sort());
    }

    function expectAsked(model: ReturnType<typeof answering>, before: readonly string[]): void {
      const asked = outline(model.requests.at(-1)?.messages);
      const tail = isCutOff ? [expect.stringMatching(/^user: hint .*cut off/s)] : [];
      expect(asked).toEqual([...before, ...own, ...tail]);
    }

    test("goes on with its own input and steps, and is answered once", async () => {
      const store = await newStore(kind);
      const account = bank();
      await run(store, account);
      const model = answering();
      const agent = agentOn(store, { model, tools: account.tools });
      const reply = await agent.call(request, once);
      expect(reply).toMatchObject({ reason: "stop", text: `answer to: ${request}` });
      expectAsked(model, []);
      expect((await agent.call(request, once)).message).toEqual(reply.message);
      expect(model.requests).toHaveLength(1);
      expect(account.paid).toHaveLength(leaves.includes("assistant: call pay") ? 1 : 0);
      await expectAnsweredOnce(store, agent, []);
    });

    test("is not answered with what others asked in between", async () => {
      const store = await newStore(kind);
      const account = bank();
      await run(store, account);
      const model = answering();
      const agent = agentOn(store, { model, tools: account.tools });
      await agent.call("what is the weather", { ...session, callId: "weather" });
      const reply = await agent.call(request, once);
      expect(reply).toMatchObject({ reason: "stop", text: `answer to: ${request}` });
      const between = ["user: what is the weather", "assistant: answer to: what is the weather"];
      expectAsked(model, between);
      expect((await agent.call(request, once)).message).toEqual(reply.message);
      const weather = await agent.call("what is the weather", { ...session, callId: "weather" });
      expect(weather.text).toBe("answer to: what is the weather");
      expect(model.requests).toHaveLength(2);
      expect(account.paid).toHaveLength(leaves.includes("assistant: call pay") ? 1 : 0);
      await expectAnsweredOnce(store, agent, between);
    });

    test.each(["whose model failed", "whose process died before any step"])(
      "goes on from the same place after a repeat %s",
      async (how) => {
        const store = await newStore(kind);
        const account = bank();
        await run(store, account);
        await endings[how]?.run(store, account);
        const model = answering();
        const agent = agentOn(store, { model, tools: account.tools });
        await agent.call("what is the weather", { ...session, callId: "weather" });
        await agent.call(request, once);
        const between = ["user: what is the weather", "assistant: answer to: what is the weather"];
        expectAsked(model, between);
        await expectAnsweredOnce(store, agent, between);
      },
    );
  });
});
