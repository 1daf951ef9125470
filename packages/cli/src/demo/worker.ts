// A process of its own, so that it can be killed: node worker.js <options as JSON>
import { type AgentEvent, characterEstimate, type Model, type ModelRequest } from "@holdfast/core";
import { offlineModel } from "../offline/offline-model.js";
import { paced } from "../offline/paced.js";
import { isSummaryRequest } from "../offline/summary.js";
import { coder } from "./coder.js";
import { demoSlot } from "./stage.js";
import type { News, Order, WorkerOptions } from "./worker-protocol.js";

const PIECES = 4;
const SLOWLY_MS = 120;
const FOREVER_MS = 600_000;

const options = JSON.parse(process.argv[2] ?? "{}") as WorkerOptions;
const counter = characterEstimate();
let promptTokens = 0;
/** Pieces of a reply that are still shown before it stops for good; undefined: no such reply is wanted. */
let piecesLeft: number | undefined;

/** A reply that is to be killed comes slowly and then not at all: its middle lasts until the end of this process. */
function pace(): number {
  if (piecesLeft === undefined) return 0;
  return piecesLeft-- > 0 ? SLOWLY_MS : FOREVER_MS;
}

/** The model, with a look at what it is asked: summaries and facts are not what is to be cut off. */
function watched(model: Model): Model {
  const slow = paced(model, pace);
  return {
    ...model,
    stream(request) {
      if (request.tools.length === 0 || isSummaryRequest(request)) return model.stream(request);
      promptTokens = promptTokensOf(request);
      return slow.stream(request);
    },
  };
}

function promptTokensOf({ system, tools }: ModelRequest): number {
  return counter.countText(system) + counter.countTools(tools);
}

function tell(news: News): void {
  process.send?.(news);
}

function onEvent(event: AgentEvent): void {
  // Every piece of text in a message of its own would cost more than the work; of one that is killed they are few.
  if (event.type === "text_delta" && piecesLeft === undefined) return;
  tell({ type: "event", event });
}

const { contextWindow, triggerTokens, store, workspace } = options;
const model = watched(offlineModel({ contextWindow }));
const agent = coder({ model, store, workspace, triggerTokens, onEvent });

async function obey(order: Order): Promise<void> {
  if (order.type === "end") {
    await agent.close();
    process.disconnect();
    return;
  }
  piecesLeft = order.isKilled ? PIECES : undefined;
  const { callId, says } = order;
  const { userId, sessionId } = demoSlot;
  const { text } = await agent.call(says, { userId, sessionId, callId });
  tell({ type: "reply", callId, text, promptTokens });
}

process.on("message", (order) => {
  obey(order as Order).catch((error: unknown) => {
    tell({ type: "failed", message: error instanceof Error ? error.message : String(error) });
  });
});
// Ctrl-C reaches every process of a terminal; what becomes of this one is for the process that started it to say.
process.on("SIGINT", () => undefined);
// Whoever started this is gone: nobody is left to work for.
process.on("disconnect", () => process.exit());
tell({ type: "ready" });
