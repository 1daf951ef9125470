// An agent that answers "re: <question>", after the tools that the question names: "use pay, look: <question>". The same in
// every process of a test; tells what it is about to do.
import { setTimeout as delay } from "node:timers/promises";
import { definePlugin, listGuard, ReActAgent, textOf, tool } from "@holdfast/core";
import { scriptedModel } from "@holdfast/testing";
import { z } from "zod";

/**
 * @param {import("@holdfast/core").DistributedStore} store
 * @param {Partial<import("@holdfast/core").ReActAgentOptions> & {
 *   delayMs?: number, tell?: (what: string, sessionId: string) => unknown }} options
 */
export function keeper(store, { delayMs = 0, tell = () => undefined, ...options } = {}) {
  return new ReActAgent({
    name: "keeper",
    model: answeringModel(delayMs),
    distributedStore: store,
    tools: [...tools(delayMs, tell), outside],
    plugins: [guard],
    middleware: [
      {
        name: "tell",
        async *onModelCall({ request, slot: { sessionId } }, next) {
          const tail = tailOf(request.messages);
          await tell(`asked ${tail}`, sessionId);
          let isFirst = true;
          for await (const chunk of next()) {
            if (isFirst) await tell(`answers ${tail}`, sessionId);
            isFirst = false;
            yield chunk;
          }
        },
      },
    ],
    ...options,
  });
}

function answeringModel(delayMs) {
  return scriptedModel(async ({ messages, signal }) => {
    if (delayMs > 0) await delay(delayMs, undefined, { signal });
    const last = messages.at(-1);
    const question = questionOf(messages);
    const [, names] = last.role === "user" ? (question.match(/^use ([\w, ]+):/) ?? []) : [];
    if (!names) return { text: `re: ${question}`, usage: { inputTokens: 1, outputTokens: 1 } };
    return { toolCalls: names.split(", ").map((name) => ({ name, input: {} })) };
  });
}

/** What the request is to answer: the last words of a person in it. */
function questionOf(messages) {
  const isQuestion = ({ role, content }) =>
    role === "user" && content.some(({ type }) => type === "text");
  return textOf(messages.findLast(isQuestion));
}

function tailOf(messages) {
  return messages.at(-1).role === "user" ? questionOf(messages) : "again";
}

/** `hang` never ends; `approve` has to be approved. */
function tools(delayMs, tell) {
  return ["pay", "look", "hang", "approve"].map((name) =>
    tool({
      name,
      description: "Does something.",
      input: z.object({}),
      execute: async (_, ctx) => {
        await tell(`tool ${name}`, ctx.sessionId);
        if (name === "hang") await new Promise(() => undefined);
        if (delayMs > 0) await delay(delayMs);
        await tell(`did ${name}`, ctx.sessionId);
        return `${name} done`;
      },
    }),
  );
}

const outside = tool({ name: "outside", description: "Runs outside.", input: z.object({}) });

const guard = definePlugin({
  name: "guard",
  contract: 1,
  setup: (host) => host.provide("toolGuard", listGuard({ ask: ["approve"] })),
});
