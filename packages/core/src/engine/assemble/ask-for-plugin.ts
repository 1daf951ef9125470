import { RuntimeContext } from "../../context/runtime-context.js";
import { InvalidInputError } from "../../errors/errors.js";
import type { EventBody } from "../../events/agent-event.js";
import type { ModelCallStep, Step } from "../../middleware/middleware.js";
import type { PluginQuestion } from "../../middleware/plugin-question.js";
import { askModelThrough, type ModelAnswer, openStream } from "../../plugin-kit/ask-model.js";
import type { Slot } from "../../slot/slot.js";
import { compose, type Hooks } from "./compose.js";

/** Parts of an agent that a plugin's question needs. */
export interface QuestionParts {
  readonly plugin: string;
  readonly hooks: Pick<Hooks, "onModelCall">;
  /** Emits an event of background work. */
  emit(slot: Slot, callId: string, event: EventBody): void;
}

/** Asks a model for a plugin, inside the `onModelCall` hooks; each attempt by itself. */
export function askForPlugin(
  { plugin, hooks, emit }: QuestionParts,
  { from, ...question }: PluginQuestion,
): Promise<ModelAnswer> {
  const { model, request, signal } = question;
  const missing = Object.entries({ model, request, signal, from }).filter(([, given]) => !given);
  if (missing.length > 0)
    throw new InvalidInputError(
      `plugin "${plugin}": host.askModel needs ${missing.map(([name]) => name).join(", ")}`,
    );
  const origin =
    "emit" in from
      ? ofCall(from)
      : inBackground(from, question.signal, (event) => emit(from.slot, from.callId, event));
  return askModelThrough({ ...question, emit: origin.emit }, (about, request) => {
    const step: ModelCallStep = { ...origin, ...about, signal: request.signal, request };
    return compose(hooks.onModelCall, step, () => openStream(question.model, step.request));
  });
}

/** Fields of a {@link ModelCallStep} that depend on where the question comes from. */
type Origin = Pick<ModelCallStep, "slot" | "ctx" | "state" | "runId" | "mark" | "emit">;

function ofCall(step: Extract<PluginQuestion["from"], Pick<Step, "emit">>): Origin {
  const { slot, ctx, state, runId = null } = step;
  return {
    ...{ slot, ctx, state, runId },
    mark: (mark) => step.mark(mark),
    emit: (event: EventBody) => step.emit(event),
  };
}

function inBackground(
  { slot, callId }: { readonly slot: Slot; readonly callId: string },
  signal: AbortSignal,
  emit: (event: EventBody) => void,
): Origin {
  const ctx = RuntimeContext.of({ ...slot, callId, signal });
  return { slot, ctx, state: null, runId: null, mark: null, emit };
}
