// A process of its own, so that it can be killed: node worker.js <options as JSON>
import { type AgentEvent, characterEstimate, type Model, type ModelRequest } from "@holdfast/core";
import { demoSlot } from "../demo-files.js";
import { offlineModel } from "../offline/offline-model.js";
import { paced } from "../offline/paced.js";
import { isSummaryRequest } from "../offline/summary.js";
import { coderAgent } from "./coder-agent.js";
import type { WorkerCommand, WorkerMessage, WorkerOptions } from "./worker-protocol.js";

const PIECES = 4;
const SLOWLY_MS = 120;
const FOREVER_MS = 600_000;

const options = JSON.parse(process.argv[2] ?? "{}") as WorkerOptions;
const counter = characterEstimate();
let promptTokens = 0;
/** Pieces of the current reply to stream before it stalls; undefined for a reply that does not stall. */
let piecesLeft: number | undefined;

/** Returns the pause before the next piece: a reply to be killed streams slowly and then stalls until this process ends. */
function pauseMs(): number {
  if (piecesLeft === undefined) return 0;
  return piecesLeft-- > 0 ? SLOWLY_MS : FOREVER_MS;
}

/** Wraps the model to slow down replies to the user; requests for summaries and facts pass unchanged. */
function watched(model: Model): Model {
  const slow = paced(model, pauseMs);
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

function send(message: WorkerMessage): void {
  process.send?.(message);
}

function onEvent(event: AgentEvent): void {
  // One message per piece of text would cost more than the work itself; a killed reply has only a few pieces.
  if (event.type === "text_delta" && piecesLeft === undefined) return;
  send({ type: "event", event });
}

const { contextWindow, triggerTokens, store, workspace } = options;
const model = watched(offlineModel({ contextWindow }));
const agent = coderAgent({ model, store, workspace, triggerTokens, onEvent });

async function handle(command: WorkerCommand): Promise<void> {
  if (command.type === "end") {
    await agent.close();
    process.disconnect();
    return;
  }
  piecesLeft = command.isKilled ? PIECES : undefined;
  const { callId, says } = command;
  const { userId, sessionId } = demoSlot;
  const { text } = await agent.call(says, { userId, sessionId, callId });
  send({ type: "reply", callId, text, promptTokens });
}

process.on("message", (command) => {
  handle(command as WorkerCommand).catch((error: unknown) => {
    send({ type: "failed", message: error instanceof Error ? error.message : String(error) });
  });
});
// Ctrl-C reaches every process of a terminal; the parent decides when this one ends.
process.on("SIGINT", () => undefined);
// The parent is gone.
process.on("disconnect", () => process.exit());
send({ type: "ready" });
