import { AgentState, characterEstimate, type Slot, StateCorruptError } from "@holdfast/core";
import type { LoadedState } from "@holdfast/core/store-kit";
import { loadWhole } from "@holdfast/core/store-kit";
import { CommandError, exitCodes } from "../exit-code.js";
import { chooseStore } from "../store/choose-store.js";
import { formatBytes, formatCount, plural } from "../terminal/format.js";
import { safeLine, safeText } from "../terminal/safe-text.js";
import type { Terminal } from "../terminal/terminal.js";
import { findSlot } from "./find-slot.js";
import type { OwnerFlags } from "./session-options.js";
import { messageChars, messageText, readTranscript, type TranscriptEntry } from "./transcript.js";

/** Options of `sessions show`. */
export interface ShowFlags extends OwnerFlags {
  readonly limit: number;
  readonly cursor?: string | undefined;
  readonly full?: boolean | undefined;
}

/** Characters of one message that are printed without `--full`. */
const MAX_SHOWN_CHARS = 2_000;

/** Prints the size of a session's state and a page of its transcript. */
export async function showSession(
  terminal: Terminal,
  sessionId: string,
  flags: ShowFlags,
): Promise<void> {
  const { limit, cursor, full = false } = flags;
  if (cursor !== undefined && !/^\d{1,15}$/u.test(cursor))
    throw new CommandError(exitCodes.usage, "--cursor: show takes a number");
  await using store = await chooseStore(terminal, flags);
  const slot = await findSlot(store.parts, sessionId, flags);
  const state = await loadWhole(store.parts.stateStore, slot);
  const page = await readTranscript(store.parts, slot, state?.messages ?? [], {
    limit,
    before: cursor === undefined ? undefined : Number(cursor),
  });
  const summary = state && summaryOf(state);
  if (terminal.isJson) {
    terminal.json({
      store: store.url,
      session: slot,
      state: summary,
      records: page.entries.map(entryJson),
      cursor: page.before?.toString(),
    });
    return;
  }
  printHeader(terminal, slot, summary);
  if (page.before !== undefined)
    terminal.line(terminal.colors.dim(`There are older records: --cursor ${page.before}\n`));
  for (const entry of page.entries) printEntry(terminal, entry, full);
}

/** Figures of a session's state. */
interface StateSummary {
  readonly revision: string;
  /** Messages in the context, which the model sees. */
  readonly messages: number;
  readonly bytes: number;
  /** Estimated by characters. */
  readonly tokens: number;
  readonly summary: string | null;
  readonly openCalls: number;
  /** Problem of a state that agents cannot read; its messages and log are shown all the same. */
  readonly damage?: string | undefined;
}

function summaryOf(loaded: LoadedState): StateSummary {
  const { revision, head, messages } = loaded;
  const figures = {
    revision,
    messages: messages.length,
    bytes: Buffer.byteLength(JSON.stringify([head, messages])),
    tokens: characterEstimate().countMessages(messages),
  };
  try {
    const { summary, openCalls } = AgentState.fromParts(loaded);
    return { ...figures, summary, openCalls: Object.keys(openCalls).length };
  } catch (error) {
    if (!StateCorruptError.is(error)) throw error;
    return { ...figures, summary: null, openCalls: 0, damage: error.message };
  }
}

function entryJson({ record, outcome, visibility }: TranscriptEntry): object {
  const { seq, at, callId, kind, message, mark } = record;
  return {
    seq,
    at,
    callId,
    kind,
    outcome,
    visibility,
    chars: message && messageChars(message),
    message,
    mark,
  };
}

function printHeader(terminal: Terminal, slot: Slot, state: StateSummary | null): void {
  const { bold, dim } = terminal.colors;
  const user = slot.userId === null ? "anonymous" : `user ${slot.userId}`;
  terminal.line(
    `${bold(`session ${safeLine(slot.sessionId)}`)}, ${safeLine(`${user}, agent ${slot.agentId}`)}`,
  );
  if (state === null) {
    terminal.line("no state: the session was deleted, or its first call is not saved yet");
  } else {
    terminal.line(
      `the model sees ${plural(state.messages, "message")}, ${formatBytes(state.bytes)}, about ${formatCount(state.tokens)} tokens` +
        (state.openCalls > 0 ? `; ${plural(state.openCalls, "open tool call")}` : ""),
    );
    if (state.damage !== undefined)
      terminal.warn(
        `damaged: ${state.damage}. "sessions export" keeps a copy; updateAgentState(…, { salvage: true }) repairs it`,
      );
    if (state.summary !== null) {
      terminal.line(dim("summary of what was compacted:"));
      terminal.line(indented(state.summary));
    }
  }
  terminal.line();
}

function printEntry(
  terminal: Terminal,
  { record, outcome, visibility }: TranscriptEntry,
  isFull: boolean,
): void {
  const { dim, bold, yellow } = terminal.colors;
  const { seq, at, message, mark } = record;
  if (message === undefined) {
    const details = mark?.details === undefined ? "" : ` ${JSON.stringify(mark.details)}`;
    const text = `${mark?.name ?? "mark"}${mark?.outcome ? `: ${mark.outcome}` : ""}${details}`;
    terminal.line(dim(`#${seq} ${safeLine(at)} — ${safeLine(text)}`));
    return;
  }
  const notes: (string | null | undefined)[] = [visibility === "whole" ? null : visibility];
  if (outcome === "interrupted" || outcome === "error") notes.push(outcome);
  const note = notes.filter(Boolean).join(", ");
  terminal.line(
    `${dim(`#${seq} ${safeLine(at)}`)} ${bold(safeLine(message.role))} ${dim(`${formatCount(messageChars(message))} chars`)}${note && ` ${yellow(`[${note}]`)}`}`,
  );
  const text = messageText(message);
  const isCut = !isFull && text.length > MAX_SHOWN_CHARS;
  terminal.line(indented(isCut ? text.slice(0, MAX_SHOWN_CHARS) : text));
  if (isCut)
    terminal.line(dim(`  … ${formatCount(text.length - MAX_SHOWN_CHARS)} more, shown with --full`));
}

function indented(text: string): string {
  return safeText(text).replace(/^/gmu, "  ");
}
