import type { RuntimeContext } from "../../context/runtime-context.js";
import type { EventBody } from "../../events/agent-event.js";
import type { Usage } from "../../message/message.js";
import type { Step } from "../../middleware/middleware.js";
import type { Slot } from "../../slot/slot.js";
import type { AgentState } from "../../state/agent-state.js";
import type { AgentParts } from "../assemble/agent-parts.js";
import type { OpenSession } from "../session/open-session.js";
import type { StopSwitch } from "../session/stop-switch.js";

/** What the steps of one running call share. */
export interface CallScope {
  readonly parts: AgentParts;
  readonly session: OpenSession;
  readonly slot: Slot;
  readonly ctx: RuntimeContext;
  readonly callId: string;
  readonly stop: StopSwitch;
  readonly usage: UsageMeter;
  emit(event: EventBody): void;
  /** Throws when the call has to end here: stopped, lease lost, or the agent is draining. */
  checkpoint(): void;
  /** Saves the steps so far, with `persistence: "step"`. */
  stepDone(): Promise<void>;
}

/** The part of a hook's argument that is the same everywhere. */
export function stepOf(scope: CallScope): Step {
  return {
    slot: scope.slot,
    ctx: scope.ctx,
    get state(): AgentState {
      return scope.session.state;
    },
    signal: scope.stop.signal,
    emit: (event) => {
      // A helper call's tokens are the call's too.
      if (event.type === "model_call_end") scope.usage.add(event.usage);
      scope.emit(event);
    },
    mark: (mark) => scope.session.mark(mark),
  };
}

/** Adds up what the model calls of one call used. */
export class UsageMeter {
  #inputTokens = 0;
  #outputTokens = 0;
  #cachedInputTokens: number | undefined;

  add(usage: Usage): void {
    this.#inputTokens += usage.inputTokens;
    this.#outputTokens += usage.outputTokens;
    if (usage.cachedInputTokens !== undefined)
      this.#cachedInputTokens = (this.#cachedInputTokens ?? 0) + usage.cachedInputTokens;
  }

  total(): Usage {
    return {
      inputTokens: this.#inputTokens,
      outputTokens: this.#outputTokens,
      ...(this.#cachedInputTokens !== undefined && { cachedInputTokens: this.#cachedInputTokens }),
    };
  }
}
