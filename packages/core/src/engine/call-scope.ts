import type { RuntimeContext } from "../context/runtime-context.js";
import type { EventBody } from "../events/agent-event.js";
import { checkEvent } from "../events/check-event.js";
import type { Message, Usage } from "../message/message.js";
import type { Step } from "../middleware/middleware.js";
import { addUsage, noUsage } from "../plugin-kit/ask-model.js";
import type { Slot } from "../slot/slot.js";
import type { AgentState } from "../state/agent-state.js";
import type { AgentParts } from "./assemble/agent-parts.js";
import type { FeedWriter } from "./feed/feed-writer.js";
import type { Prefetch } from "./loop/reasoning.js";
import type { RunName } from "./save/log-batch.js";
import type { OpenSession } from "./session/open-session.js";
import type { StopSwitch } from "./session/stop-switch.js";
import type { Steering } from "./session/take-steered.js";

/** Everything the steps of one running call share, from the moment it holds its session. */
export interface CallScope {
  readonly parts: AgentParts;
  readonly session: OpenSession;
  readonly slot: Slot;
  readonly ctx: RuntimeContext;
  readonly callId: string;
  /** This run of the call. */
  readonly run: RunName;
  /** The caller chose the `callId`: then the call is remembered, and a repeat is recognised. */
  readonly named: boolean;
  /** Hash of the input, when the call is named; that of the run it goes on with, when it says nothing itself. */
  inputHash: string | undefined;
  /** Ids of the messages that the run answers: those of its input, or of the run that it goes on with. */
  inputIds: readonly string[];
  readonly stop: StopSwitch;
  readonly steering: Steering;
  readonly prefetch: Prefetch;
  readonly usage: UsageMeter;
  /** Present when the events of the call are kept for `attach`. */
  readonly feed?: FeedWriter | undefined;
  /** Ids of tool calls that this run is about to start and has not started. */
  readonly notBegun: Set<string>;
  /** Messages of the input that are new to the session; known once the call has looked at its state. */
  newInput: readonly Message[];
  emit(event: EventBody): void;
  /** Throws when the call has to end here: stopped, lease lost, or the agent is draining. */
  checkpoint(): void;
  /** Waits while the lease is in doubt, until the call is stopped at the latest; then as `checkpoint`. */
  settled(): Promise<void>;
}

/** Returns the part of a hook's argument that is the same everywhere. */
export function stepOf(scope: CallScope): Step {
  return {
    slot: scope.slot,
    runId: scope.run.runId,
    ctx: scope.ctx,
    get state(): AgentState {
      return scope.session.state;
    },
    signal: scope.stop.signal,
    emit: (body) => {
      const event = checkEvent(body, `a hook of agent "${scope.parts.settings.name}"`);
      // A helper call's tokens are the call's too.
      if (event.type === "model_call_end") scope.usage.add(event.usage);
      scope.emit(event);
    },
    mark: (mark) => scope.session.mark(mark),
  };
}

/** Adds up what the model calls of one call used. */
export class UsageMeter {
  #total: Usage = noUsage;

  add(usage: Usage): void {
    this.#total = addUsage(this.#total, usage);
  }

  total(): Usage {
    return this.#total;
  }
}
