import type { AgentEvent, AgentReply, PendingCall } from "@holdfast/core";
import { type ExitCode, exitCodes } from "../exit-code.js";
import { plural } from "../terminal/format.js";
import type { Terminal } from "../terminal/terminal.js";
import { textLines } from "../terminal/text-lines.js";
import { GracefulExit } from "./graceful-exit.js";
import { chatStart, greeting } from "./greeting.js";
import {
  asksOf,
  asksPerson,
  type Chat,
  isHere,
  loginName,
  sessionOf,
  takeTurn,
} from "./open-chat.js";
import { pauseText } from "./running-tasks.js";
import { TurnView } from "./turn-view.js";

/** Options of {@link pipedChat}. */
export interface PipedOptions {
  /** Text is printed as it arrives, also what may be taken back. @default false */
  readonly isStreamed?: boolean | undefined;
}

/**
 * Runs a chat without a terminal: each message, or each line of stdin, is a turn. The first turn that fails ends it, and so
 * does the first tool call that waits for a person.
 *
 * @throws the error of the failed turn
 */
export async function pipedChat(
  chat: Chat,
  messages: readonly string[] | undefined,
  { isStreamed = false }: PipedOptions = {},
): Promise<ExitCode> {
  const { terminal, agent } = chat;
  const view = new TurnView(terminal, "err", (slot) => isHere(chat, slot), isStreamed);
  const waits: TaskWaiting[] = [];
  const show = (event: AgentEvent): void => {
    if (event.type === "task_waiting" && event.isBackground && isHere(chat, event.slot))
      waits.push(event);
    if (terminal.isJson) terminal.json(event);
    else view.show(event);
  };
  chat.onBackground = show;
  using exit = new GracefulExit(agent);
  const start = await chatStart(chat);
  if (terminal.isJson) terminal.json(start);
  else for (const line of greeting(start, chat.model.isOffline)) terminal.warn(line);
  try {
    const asks = (await agent.pending(sessionOf(chat))).filter(asksPerson);
    if (asks.length > 0) {
      terminal.json(askDocument(chat, asks));
      leaveWaiting(chat, exit, asks);
    }
    for await (const text of messages ?? stdinLines(terminal, exit.signal)) {
      if (exit.code !== null) break;
      const reply = await exit.during(takeTurn(chat, text, show));
      if (terminal.isJson) terminal.json(replyDocument(reply));
      if (asksOf(reply).length === 0) continue;
      // With --json the event of the call has said so already.
      if (!terminal.isJson) terminal.json(askDocument(chat, asksOf(reply)));
      leaveWaiting(chat, exit, asksOf(reply));
    }
    await finishTasks(chat, exit, waits);
  } catch (error) {
    if (exit.code === null) throw error;
    terminal.warn(error instanceof Error ? error.message : String(error));
  } finally {
    // All turns are done: the next Ctrl-C does not wait for background work.
    exit.leave(exitCodes.ok);
    if (chat.running.count > 0) {
      terminal.warn(pauseText(chat.running.count));
      exit.pauseTasks(chat.running);
    }
    await exit.closeAgent();
  }
  return exit.code ?? exitCodes.ok;
}

type TaskWaiting = Extract<AgentEvent, { readonly type: "task_waiting" }>;

/**
 * Waits for the background tasks of this run: a person who sends a message through a pipe wants its work done when the command
 * ends. A task that needs an approval ends the command like a call that does.
 *
 * @param waits - tasks that began to wait
 */
async function finishTasks(
  chat: Chat,
  exit: GracefulExit,
  waits: readonly TaskWaiting[],
): Promise<void> {
  const { terminal, running, subagents } = chat;
  if (exit.code !== null) return;
  if (running.count > 0)
    terminal.warn(`waiting for ${plural(running.count, "background task")}; Ctrl-C pauses`);
  await running.finished(exit.signal);
  if (exit.code !== null) return;
  for (const taskId of new Set(waits.map((event) => event.taskId))) {
    // The agent may have had it asked in a later turn, or cancelled it.
    const pending = (await subagents?.pending(sessionOf(chat), taskId)) ?? [];
    if (pending.length === 0) continue;
    terminal.json({ ...askDocument(chat, pending), taskId });
    terminal.warn(
      `${taskId} of session ${chat.sessionId} waits for an approval: "${chatCommand(chat)}" at a terminal and /tasks answer ${taskId}`,
    );
    exit.leave(exitCodes.waiting);
  }
}

/** Returns what to type for the session at a terminal; the store and the config file are up to the reader. */
function chatCommand({ terminal, userId, sessionId }: Chat): string {
  const owner = userId === null ? " --anonymous" : ` --user ${userId}`;
  const user = userId === loginName(terminal) ? "" : owner;
  return `holdfast chat${user}${sessionId === "default" ? "" : ` --session ${sessionId}`}`;
}

function leaveWaiting(chat: Chat, exit: GracefulExit, asks: readonly PendingCall[]): void {
  const { terminal, sessionId } = chat;
  const what = isApproval(asks) ? "an approval" : "the answer to a question";
  terminal.warn(
    `session ${sessionId} waits for ${what}: continue it with "${chatCommand(chat)}" at a terminal to answer`,
  );
  exit.leave(exitCodes.waiting);
}

function replyDocument(reply: AgentReply): object {
  const { reason, text, usage, callId, sessionId } = reply;
  const pending = "pending" in reply && { pending: reply.pending };
  return { type: "reply", reason, text, usage, callId, sessionId, ...pending };
}

/** Describes what waits for a person, with the fields of the event of the same name. */
function askDocument({ agent, userId, sessionId }: Chat, pending: readonly PendingCall[]): object {
  const slot = { agentId: agent.agentId, userId, sessionId };
  const type = isApproval(pending) ? "permission_ask" : "tool_suspended";
  return { type, sessionId, slot, pending };
}

function isApproval(pending: readonly PendingCall[]): boolean {
  return pending.some(({ state }) => state === "asking");
}

async function* stdinLines({ in: input }: Terminal, signal: AbortSignal): AsyncGenerator<string> {
  // A signal may arrive before there is anything to read.
  if (signal.aborted) return;
  const stop = (): void => void (input as { destroy?: () => void }).destroy?.();
  signal.addEventListener("abort", stop);
  try {
    for await (const line of textLines(input)) if (line.trim() !== "") yield line;
  } catch (error) {
    if (!signal.aborted) throw error;
  } finally {
    signal.removeEventListener("abort", stop);
  }
}
