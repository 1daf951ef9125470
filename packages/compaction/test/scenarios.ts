import type { AgentState } from "@holdfast/core";
import type { CompactionRequest } from "@holdfast/core/plugin-kit";
import fc from "fast-check";
import type { CompactionOptions } from "../src/index.js";
import { Bench } from "./bench.js";
import { type ConversationKind, conversations, stateOf } from "./conversations.js";
import { optionSets, windows } from "./option-sets.js";
import type { Conversation } from "./script.js";
import { anyKind, Summariser, type SummariserKind, waits } from "./summarisers.js";

/** A conversation, a compactor for it, and why it is asked. */
export interface Scenario {
  readonly conversation: Conversation;
  readonly options: CompactionOptions;
  readonly summariser: SummariserKind;
  readonly window: number | undefined;
  readonly hasOwnModel: boolean;
  readonly asked: Pick<CompactionRequest, "cause" | "force" | "limitTokens">;
}

/** What a scenario may be like. */
export interface ScenarioKind extends ConversationKind {
  readonly summarisers?: fc.Arbitrary<SummariserKind> | undefined;
  readonly options?: fc.Arbitrary<CompactionOptions> | undefined;
}

/** Scenarios of every kind. */
export function scenarios(kind: ScenarioKind = {}): fc.Arbitrary<Scenario> {
  return fc.record({
    conversation: conversations(kind),
    options: kind.options ?? optionSets,
    summariser: kind.summarisers ?? anyKind,
    window: windows,
    hasOwnModel: fc.constantFrom(false, false, true),
    asked: fc.constantFrom(
      { cause: "step", force: false } as const,
      { cause: "step", force: false } as const,
      { cause: "manual", force: true } as const,
      { cause: "overflow", force: true, limitTokens: 2_000 } as const,
    ),
  });
}

/** A scenario, ready to run. */
export interface Stage {
  readonly bench: Bench;
  readonly state: AgentState;
  readonly model: Summariser;
}

/** Sets a scenario up. A summariser that waits for its signal times out after a millisecond. */
export function stage(scenario: Scenario): Stage {
  const { options, summariser, window, hasOwnModel } = scenario;
  const model = new Summariser(summariser, window);
  const bench = new Bench(hasOwnModel ? new Summariser("failing", window) : model, {
    ...options,
    ...(hasOwnModel && { model }),
    ...(waits(summariser) && { timeoutMs: 1 }),
  });
  return { bench, state: stateOf(scenario.conversation), model };
}
