import { AgentState, type ToolResultState } from "@holdfast/core";
import fc from "fast-check";
import { type Conversation, type Layout, Script, type Turn, type UsageKind } from "./script.js";
import { textPlans } from "./texts.js";

const usages = fc.constantFrom<UsageKind>("none", "none", "plausible", "low", "high", "absurd");
const states = fc.constantFrom<ToolResultState>("success", "error", "interrupted", "denied");

const userTurn: fc.Arbitrary<Turn> = fc.record({
  kind: fc.constant("user" as const),
  texts: fc.array(textPlans, { minLength: 1, maxLength: 2 }),
  extra: fc.constantFrom("", "", "", "data", "hint"),
});
const assistantTurn: fc.Arbitrary<Turn> = fc.record({
  kind: fc.constant("assistant" as const),
  text: textPlans,
  thinks: fc.boolean(),
  usage: usages,
});

function toolsTurn(layout: fc.Arbitrary<Layout>): fc.Arbitrary<Turn> {
  return fc.record({
    kind: fc.constant("tools" as const),
    calls: fc.array(textPlans, { minLength: 1, maxLength: 5 }),
    layout,
    state: states,
    reusesIds: fc.boolean(),
    result: textPlans,
    usage: usages,
  });
}

const oddTurn: fc.Arbitrary<Turn> = fc.record({
  kind: fc.constantFrom("hint" as const, "orphan" as const),
  text: textPlans,
});

/** Which turns a conversation may have. */
export interface ConversationKind {
  /** Only what the engine writes: unique call ids, each answered right behind, unless open. */
  readonly tidy?: boolean | undefined;
  readonly minTurns?: number | undefined;
  readonly maxTurns?: number | undefined;
  readonly usage?: boolean | undefined;
}

/** Conversations of any shape, an earlier summary and open calls included. */
export function conversations(kind: ConversationKind = {}): fc.Arbitrary<Conversation> {
  const { tidy = false, minTurns = 0, maxTurns = 10 } = kind;
  const layouts: Layout[] = tidy
    ? ["one", "several"]
    : ["one", "one", "several", "nested", "from a user", "with a request", "missing"];
  const turn = fc.oneof(
    { weight: 3, arbitrary: userTurn },
    { weight: 3, arbitrary: assistantTurn },
    { weight: 4, arbitrary: toolsTurn(fc.constantFrom(...layouts)) },
    { weight: tidy ? 0 : 1, arbitrary: oddTurn },
  );
  return fc
    .record({
      turns: fc.array(turn, { minLength: minTurns, maxLength: maxTurns }),
      open: fc.option(toolsTurn(fc.constant("open")), { freq: 4 }),
      summary: fc.option(fc.record({ text: textPlans, places: fc.nat({ max: 3 }) }), { freq: 3 }),
    })
    .map(({ turns, open, summary }) =>
      new Script(tidy, kind.usage ?? true).write(open ? [...turns, open] : turns, summary),
    );
}

/** A state that holds a conversation, and sections that no compaction may touch. */
export function stateOf(conversation: Conversation): AgentState {
  const state = AgentState.create({ userId: "u", sessionId: "s" });
  state.permissionContext = {
    mode: "accept_edits",
    allow: [{ tool: "look", pattern: "$&" }],
    deny: [],
    ask: [{ tool: "write" }],
    workingDirectories: ["/project"],
  };
  state.planModeContext = { active: true, planFile: "plans/session.md" };
  state.tasksContext = { tasks: [{ content: "finish", status: "in_progress" }] };
  state.toolContext = { activatedGroups: ["files"] };
  state.extensions = { other: { count: 1, background: ["task-1"] } };
  state.openCalls = { ...conversation.openCalls };
  state.contextMutable().push(...conversation.messages);
  if (conversation.summary !== null) state.summary = conversation.summary;
  return state;
}
