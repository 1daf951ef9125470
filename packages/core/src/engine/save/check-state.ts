import { InvalidInputError } from "../../errors/errors.js";
import { messageOf } from "../../errors/message-of.js";
import { StateTooLargeError } from "../../errors/store-errors.js";
import type { JsonObject } from "../../json/json.js";
import { toolCallsOf, toolResultsOf } from "../../message/read-message.js";
import { describeSlot } from "../../slot/slot.js";
import type { LiveState } from "../../state/live-state.js";
import type { AgentParts } from "../assemble/agent-parts.js";
import { storedStateProblem } from "../assemble/plugin-state.js";
import type { OpenSession } from "../session/open-session.js";

/** Sections of a state that may be saved, as they were when they were checked: see {@link LiveState.head}. */
export type CheckedSections = JsonObject;

/** The part of a session that is checked. */
type CheckedSession = Pick<OpenSession, "state" | "slot" | "baseHead">;

/** Writers of a state while a call runs, as errors name them. */
const writersOfCall = "a tool, hook or guard of the call";

/**
 * Checks that what is about to be saved can be loaded again: sections may be edited in place, past the checks of their
 * setters.
 *
 * @param writer - party that is to blame for a bad value
 * @throws InvalidInputError that names the section or plugin, the field and what is accepted
 * @throws StateTooLargeError past `limits.headBytes`
 */
export function checkState(
  { settings, pluginStates }: Pick<AgentParts, "settings" | "pluginStates">,
  session: CheckedSession,
  writer: string = writersOfCall,
): CheckedSections {
  const { state, slot } = session;
  let sections: JsonObject;
  try {
    sections = state.sections();
  } catch (error) {
    throw badState(session, writer, messageOf(error), error);
  }
  for (const [plugin, problem] of badPluginStates(pluginStates, state, session.baseHead))
    throw badState(session, writer, `the state of plugin "${plugin}" ${problem}`);
  const { headBytes } = settings.limits;
  const bytes = sectionBytes(state, sections);
  if (bytes > headBytes)
    throw new StateTooLargeError(
      `the state of ${describeSlot(slot)} has ${bytes} bytes beside its messages; limits.headBytes allows ${headBytes}`,
    );
  return sections;
}

/** Returns the error of a call, an edit or a plugin that put something into the state which cannot be stored. */
export function badState(
  { slot }: Pick<OpenSession, "slot">,
  writer: string,
  problem: string,
  cause?: unknown,
): InvalidInputError {
  return new InvalidInputError(
    `${problem}: ${writer} put a value into ${describeSlot(slot)} that cannot be stored. It was not saved, and the session goes on without it`,
    { cause },
  );
}

/**
 * Puts back what cannot be saved of the changes of a failed call, so that the rest of it can be.
 *
 * @returns the problem, if there was one
 */
export function restoreSound(parts: AgentParts, session: CheckedSession): Error | undefined {
  const { state, baseHead } = session;
  try {
    checkState(parts, session);
    return undefined;
  } catch (error) {
    if (state.restoreBadSections(baseHead).includes("openCalls")) relistCalls(state);
    const plugins = [...badPluginStates(parts.pluginStates, state, baseHead).keys()];
    state.restoreSections(baseHead, plugins);
    if (StateTooLargeError.is(error)) {
      state.restoreSections(baseHead);
      relistCalls(state);
    }
    return error as Error;
  }
}

/** Lists the unanswered calls of the last assistant message, so that they are closed with the call. */
function relistCalls(state: LiveState): void {
  const { context } = state;
  const at = context.findLastIndex(({ role }) => role === "assistant");
  const answered = new Set(
    context.slice(at + 1).flatMap((message) => toolResultsOf(message).map((one) => one.toolCallId)),
  );
  const calls = context[at] ? toolCallsOf(context[at]) : [];
  state.openCalls = Object.fromEntries(
    calls.filter(({ id }) => !answered.has(id)).map(({ id }) => [id, "started"] as const),
  );
}

/** Returns what declared states of plugins do not fit, if they were changed: what was stored before is left to its plugin. */
function badPluginStates(
  declared: AgentParts["pluginStates"],
  state: LiveState,
  base: JsonObject,
): ReadonlyMap<string, string> {
  const bad = new Map<string, string>();
  const { extensions } = state;
  const before = base["extensions"] as JsonObject;
  for (const [plugin, options] of declared) {
    const stored = Object.hasOwn(extensions, plugin) ? extensions[plugin] : undefined;
    if (stored === undefined || JSON.stringify(stored) === textOf(before, plugin)) continue;
    const problem = storedStateProblem(options, stored);
    if (problem !== null) bad.set(plugin, problem);
  }
  return bad;
}

function textOf(extensions: JsonObject, plugin: string): string | undefined {
  return Object.hasOwn(extensions, plugin) ? JSON.stringify(extensions[plugin]) : undefined;
}

/**
 * Returns the bytes of a head without the engine's own records: they are bounded by themselves, and no state that was accepted
 * may be too large because of them.
 */
function sectionBytes(
  state: LiveState,
  { openCalls: _calls, questions: _questions, ...sections }: CheckedSections,
): number {
  const { sessionId, userId, unknownFields } = state;
  return Buffer.byteLength(JSON.stringify({ ...unknownFields, sessionId, userId, ...sections }));
}
