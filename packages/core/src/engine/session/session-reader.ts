import { InvalidInputError } from "../../errors/errors.js";
import type { PendingCall } from "../../events/agent-reply.js";
import { checkOptions } from "../../plugin-kit/unknown-names.js";
import type { SlotPage, SlotQuery } from "../../ports/agent-state-store.js";
import { checkId } from "../../slot/slot.js";
import type { AgentState } from "../../state/agent-state.js";
import { LiveState } from "../../state/live-state.js";
import { kindOf } from "../../state/section-checks.js";
import type { AgentParts } from "../assemble/agent-parts.js";
import { historyRange, salvageOption } from "../method-options.js";
import { waitingCalls } from "../tools/waiting-calls.js";
import { type HistoryPage, readHistory } from "./read-history.js";
import type { NamedSession } from "./session-arguments.js";
import { matchFacts, type SessionFilter } from "./session-facts.js";
import { storedState } from "./stored-state.js";
import { pendingWords } from "./take-in.js";

/** Query of an agent's sessions. */
export type SessionsQuery = Omit<SlotQuery, "agentId"> & SessionFilter;

/** Reads sessions as they are stored, also while calls run: waits for none of them, and changes nothing. */
export class SessionReader {
  readonly #parts: AgentParts;

  constructor(parts: AgentParts) {
    this.#parts = parts;
  }

  /** Returns a copy of the state, with the words that wait for it at the end of its context; null when there is neither. */
  async state({ slot, rest }: NamedSession): Promise<AgentState | null> {
    const salvage = salvageOption(rest[0], "getAgentState");
    const state = await storedState(this.#parts, slot, salvage);
    const words = (await this.#parts.stateStore.inbox?.read(slot)) ?? [];
    if (!state && words.length === 0) return null;
    const found = state ?? LiveState.create(slot);
    found.contextMutable().push(...pendingWords(this.#parts, found, words));
    return found;
  }

  async history({ slot, rest }: NamedSession): Promise<HistoryPage> {
    return readHistory(this.#parts, slot, historyRange(rest[0]));
  }

  /** Returns the tool calls that wait for an answer. */
  async pending({ slot, ctx }: NamedSession): Promise<readonly PendingCall[]> {
    await this.#parts.lifecycle.start();
    const state = await storedState(this.#parts, slot);
    if (!state) return [];
    const call = ctx.child(slot);
    call.agentState = state;
    return waitingCalls({ parts: this.#parts, slot, session: { state }, ctx: call });
  }

  /** Returns a page of the agent's sessions. What stores do not select by is looked at here. */
  async list(query: SessionsQuery): Promise<SlotPage> {
    checkOptions<SessionsQuery>(
      query,
      [
        ...(["userId", "unfinished", "waiting", "limit", "cursor"] as const),
        ...(["metadata", "since", "until", "text"] as const),
      ],
      "sessions",
    );
    const { metadata, since, until, text, ...wanted } = query;
    // Stores and filters would take them as they are.
    for (const given of [query.cursor, query.text] as readonly unknown[])
      if (given !== undefined && typeof given !== "string")
        throw new InvalidInputError(
          `sessions: cursor and text must be strings, got ${kindOf(given)}`,
        );
    if (query.userId !== undefined && query.userId !== null) checkId(query.userId, "userId");
    const isSelected = matchFacts({ metadata, since, until, text });
    const { agentId } = this.#parts.settings;
    const page = await this.#parts.stateStore.list({ ...wanted, agentId });
    return { ...page, slots: page.slots.filter(isSelected) };
  }
}
