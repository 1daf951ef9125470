// The agent of a node: answers from scripts, asks before some tools, compacts on demand, and records what it is asked.
import {
  definePlugin,
  keepLastCompactor,
  listGuard,
  ModelError,
  ReActAgent,
  textOf,
  toolResultsOf,
} from "@holdfast/core";
import { answeringModel, lastQuestion } from "./answering-model.mjs";
import { flow } from "./record-store.mjs";
import { recordedTools } from "./recorded-tools.mjs";
import { requestProblem } from "./request-problem.mjs";

/**
 * @param {{ name: string, persistence: "call" | "step", saveDeadlineMs: number,
 *   store: import("@holdfast/core").DistributedStore, trace: import("./trace-file.mjs").TraceFile,
 *   points: import("./crash-points.mjs").CrashPoints }} options
 */
export function nodeAgent({ name, persistence, saveDeadlineMs, store, trace, points }) {
  const { tools, hook } = recordedTools(trace, points);
  return new ReActAgent({
    name: "history",
    model: answeringModel({ name, reach: (point) => points.reach(point) }),
    distributedStore: store,
    persistence,
    saveDeadlineMs,
    tools,
    modelRetry: { attempts: 1 },
    middleware: [hook, recordedRequests(trace)],
    plugins: [
      definePlugin({
        name: "parts",
        contract: 1,
        setup(host) {
          host.provide("compactor", keepLastCompactor({ keepMessages: 6 }));
          host.provide("toolGuard", listGuard({ ask: ["approve"] }));
        },
      }),
    ],
  });
}

/** Records every model request, and fails those of operations that say so. */
function recordedRequests(trace) {
  return {
    name: "recorded-requests",
    onModelCall(step, next) {
      const { messages } = step.request;
      const { op, fail } = flow.getStore() ?? {};
      trace.add({
        e: "asked",
        s: step.slot.sessionId,
        op,
        callId: step.ctx.callId,
        question: lastQuestion(messages)?.id ?? null,
        results: toolResultsOf(messages.at(-1)).map(({ output }) => textOf({ content: output })),
        problem: requestProblem(messages),
        tail: messages
          .slice(-4)
          .map((message) => `${message.role}: ${textOf(message).slice(0, 60)}`),
      });
      if (fail === true) throw new ModelError("the history wants this request to fail");
      return next();
    },
  };
}
