import {
  type AgentReply,
  ContextOverflowError,
  definePlugin,
  EmptyReplyError,
  InMemoryAgentStateStore,
  keepLastCompactor,
  listGuard,
  ModelError,
  type PendingCall,
  PendingConfirmationError,
  ReActAgent,
  suspend,
  textOf,
  tool,
} from "@holdfast/core";
import type { ScriptedReply } from "@holdfast/testing";
import fc from "fast-check";
import { expect, test } from "vitest";
import { z } from "zod";
import { pairedModel, stateProblem, takePairingProblems } from "./valid-pairing.js";

const numRuns = process.env["HOLDFAST_LONG"] === "1" ? 3_000 : 50;

const input = z.object({ n: z.number() });
const define = (name: string, execute?: () => unknown) =>
  tool({ name, description: name, input, ...(execute && { execute }) });
const tools = [
  define("works", () => "fine"),
  define("fails", () => {
    throw new Error("broken");
  }),
  define("asks", () => "approved"),
  define("asks_and_waits", () => suspend()),
  define("denied", () => "never"),
  define("outside"),
  define("waits", () => suspend("later")),
];
const plugin = definePlugin({
  name: "ports",
  contract: 1,
  setup(host) {
    host.provide("toolGuard", listGuard({ ask: ["asks", "asks_and_waits"], deny: ["denied"] }));
    host.provide("compactor", keepLastCompactor({ keepMessages: 3 }));
  },
});

/** What the model does next. */
const names = ["missing", ...tools.map(({ name }) => name)];
const calls = fc.array(
  fc.record({
    name: fc.constantFrom(...names),
    // Now and then not what the schema wants.
    input: fc.oneof(
      { weight: 5, arbitrary: fc.constant({ n: 1 }) },
      { weight: 1, arbitrary: fc.constant({}) },
    ),
  }),
  { minLength: 1, maxLength: 4 },
);
const modelReply: fc.Arbitrary<ScriptedReply> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({ text: fc.constantFrom("", "Let me see."), toolCalls: calls }),
  },
  { weight: 3, arbitrary: fc.constant("An answer.") },
  { weight: 1, arbitrary: fc.constant({ thinking: "Hm." }) },
  {
    weight: 1,
    arbitrary: calls.map((toolCalls) => ({
      toolCalls,
      error: new ModelError("cut", { retryable: true }),
    })),
  },
  { weight: 1, arbitrary: fc.constant({ error: new ModelError("down") }) },
  { weight: 1, arbitrary: fc.constant({ error: new ContextOverflowError("too long") }) },
);

/** What the caller does next. */
const action = fc.record({
  kind: fc.constantFrom("say", "answer", "answer", "answer", "interrupt", "compact"),
  restart: fc.boolean(),
  /** For each pending call in turn: leave it, approve, deny, approve with another input. */
  choices: fc.array(fc.constantFrom("leave", "approve", "deny", "edit"), {
    minLength: 4,
    maxLength: 4,
  }),
});

/** Errors a caller has to expect of such models. */
function isExpected(error: unknown): boolean {
  return [ModelError, EmptyReplyError, ContextOverflowError, PendingConfirmationError].some((one) =>
    one.is(error),
  );
}

test("whatever models, tools, guards and people do, every request is paired and every saved state valid", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(modelReply, { maxLength: 20 }),
      fc.array(action, { minLength: 1, maxLength: 12 }),
      fc.constantFrom("call", "step"),
      fc.boolean(),
      async (script, actions, persistence, fused) => {
        takePairingProblems();
        const stateStore = new InMemoryAgentStateStore({ fused });
        const started = new Map<string, number>();
        const model = pairedModel((_, index) => script[index] ?? "The end.");
        const make = () =>
          new ReActAgent({
            name: "a",
            model,
            tools,
            stateStore,
            persistence: persistence as "call" | "step",
            maxIterations: 4,
            modelRetry: { baseDelayMs: 0 },
            plugins: [plugin],
            middleware: [
              {
                name: "counting",
                onToolCall: ({ call }, next) => {
                  started.set(call.id, (started.get(call.id) ?? 0) + 1);
                  return next();
                },
              },
            ],
          });
        let agent = make();
        let reply: AgentReply | null = null;
        const said: string[] = [];
        const attempt = async (work: Promise<AgentReply>) => {
          try {
            reply = await work;
          } catch (error) {
            if (!isExpected(error)) throw error;
            if (!PendingConfirmationError.is(error)) reply = null;
          }
        };
        for (const [index, { kind, restart, choices }] of actions.entries()) {
          if (restart) agent = make();
          const pending = pendingOf(reply);
          if (kind === "interrupt") {
            expect(await agent.interrupt(null, "default", "stop")).toBe(
              pending.length > 0 && "closed_asks",
            );
            reply = null;
          } else if (kind === "compact") await agent.compact(null, "default", { force: true });
          else if (kind === "say" || pending.length === 0) {
            const words = `input ${index}`;
            if (pending.length === 0) said.push(words);
            await attempt(agent.call(words));
          } else {
            const answered = pending.filter((_, at) => choices[at % 4] !== "leave");
            const choiceOf = (callId: string) =>
              choices[pending.findIndex((one) => one.toolCallId === callId) % 4];
            if (answered.length === 0) continue;
            if (answered[0]?.state === "asking")
              await attempt(
                agent.call({
                  confirm: answered.map(({ toolCallId }) => ({
                    toolCallId,
                    approve: choiceOf(toolCallId) !== "deny",
                    ...(choiceOf(toolCallId) === "edit" && { input: { n: 2 } }),
                  })),
                }),
              );
            else
              await attempt(
                agent.call({
                  results: answered.map(({ toolCallId }) => ({
                    toolCallId,
                    output: "from outside",
                  })),
                }),
              );
          }
          const state = await make().getAgentState();
          expect(state ? stateProblem(state) : null).toBeNull();
          expect(Object.keys(state?.openCalls ?? {}).length > 0).toBe(pendingOf(reply).length > 0);
          expect(takePairingProblems()).toEqual([]);
        }
        for (const count of started.values()) expect(count).toBe(1);
        const slot = { agentId: "a", userId: null, sessionId: "default" };
        const records = await stateStore.companions().log.read(slot, { limit: 1_000 });
        const logged = records.flatMap(({ message }) => (message ? textOf(message) : []));
        expect(logged.filter((words) => words.startsWith("input"))).toEqual(said);
        await agent.interrupt(null, "default");
        script.length = 0;
        expect((await make().call("last words")).text).toBe("The end.");
        expect(takePairingProblems()).toEqual([]);
      },
    ),
    { numRuns },
  );
});

function pendingOf(reply: AgentReply | null): readonly PendingCall[] {
  return reply !== null && "pending" in reply ? reply.pending : [];
}
