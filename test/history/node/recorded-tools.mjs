// The tools of a node. Each run is recorded with the lease it ran under.
import { tool } from "@holdfast/core";
import { z } from "zod";
import { pause } from "./answering-model.mjs";
import { flow } from "./record-store.mjs";
import { now } from "./trace-file.mjs";

/** A tool with so much left to do still runs when a process is killed a moment later. */
const longMs = 1_500;

const input = z.object({ question: z.string(), nonce: z.string(), ms: z.number() });

/**
 * @param {import("./trace-file.mjs").TraceFile} trace
 * @param {import("./crash-points.mjs").CrashPoints} points
 */
export function recordedTools(trace, points) {
  /** Times at which tool calls came to their hook, by nonce: a process may be stopped between the engine's last look and the tool. */
  const cameAt = new Map();
  /** Tools that are running: their operation, and when they will end. @type {Set<{ op?: string, endsAt: number }>} */
  const running = new Set();
  const run = async ({ question, nonce, ms }, ctx) => {
    const of = flow.getStore();
    const lease = of?.lease;
    trace.add({
      e: "tool",
      s: ctx.sessionId,
      op: of?.op,
      question,
      nonce,
      cameAt: cameAt.get(nonce),
      token: lease?.token,
      leftMs: lease === undefined ? null : Math.min(lease.validUntil - Date.now(), 1e9),
    });
    cameAt.delete(nonce);
    points.reach("tool");
    const own = { op: of?.op, endsAt: now() + ms };
    running.add(own);
    try {
      await pause(ms, ctx.signal);
    } finally {
      running.delete(own);
      trace.add({ e: "tool-end", s: ctx.sessionId, nonce, aborted: ctx.signal.aborted });
    }
    points.reach("tool-end");
    for (const { op, endsAt } of running)
      if (op === own.op && endsAt - now() > longMs) points.reach("tool-end-beside-another");
    return `done ${nonce}`;
  };
  return {
    tools: [
      tool({ name: "work", description: "Does some work.", input, execute: run }),
      tool({ name: "approve", description: "Needs approval.", input, execute: run }),
      tool({ name: "remote", description: "Runs elsewhere.", input }),
    ],
    /** @type {import("@holdfast/core").Middleware} */
    hook: {
      name: "recorded-tools",
      onToolCall(step, next) {
        cameAt.set(step.call.input.nonce, now());
        trace.add({
          e: "tool-call",
          s: step.slot.sessionId,
          id: step.call.id,
          nonce: step.call.input.nonce,
        });
        return next();
      },
    },
  };
}
