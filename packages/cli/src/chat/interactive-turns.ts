import {
  type AgentEvent,
  type AgentReply,
  type CallInput,
  type Confirmation,
  InvalidInputError,
  type Message,
  type PendingCall,
  PendingConfirmationError,
} from "@holdfast/core";
import type { QuestionAnswer } from "@holdfast/core/plugin-kit";
import type { TaskRecord } from "@holdfast/subagents";
import { plural } from "../terminal/format.js";
import { openTaskLines } from "./commands/tasks-command.js";
import { asksOf, asksPerson, type Chat, sessionOf, takeTurn } from "./open-chat.js";
import { PlanWatch } from "./plan-watch.js";
import { askApprovals, askEach } from "./questions/ask-approvals.js";
import type { Questioner } from "./questions/questioner.js";
import { askServerQuestion } from "./questions/server-question.js";
import type { StatusLine } from "./status-line.js";

/** Terminal side of {@link InteractiveTurns}. */
export interface TurnDisplay {
  readonly questioner: Questioner;
  show(event: AgentEvent): void;
  status(line: StatusLine): void;
  /** Shows an error after which the chat goes on. */
  problem(error: unknown): void;
  /** The chat is to end: nothing is asked any more. */
  readonly isLeaving: boolean;
}

/** Answers of a person to what waits for them. */
type PersonsInput =
  | { readonly confirm: readonly Confirmation[] }
  | { readonly answers: readonly QuestionAnswer[] };

/** Takes turns with a person who is there: sends messages, and asks until nothing waits for an answer. */
export class InteractiveTurns {
  /** Messages sent so far. */
  count = 0;
  readonly #chat: Chat;
  readonly #display: TurnDisplay;
  readonly #plan = new PlanWatch();
  #hasUsedTools = false;

  constructor(chat: Chat, display: TurnDisplay) {
    this.#chat = chat;
    this.#display = display;
  }

  /** Begins with a session, and asks about what waits in it. */
  async enterSession(): Promise<void> {
    for (const line of await this.#plan.begin(this.#chat)) this.#note(line);
    for (const line of await openTaskLines(this.#chat)) this.#display.status(line);
    this.#hasUsedTools = false;
    await this.#answerWaiting();
    await this.#showChanges();
  }

  /** Sends a message. What waits for an answer, because of another process or an error, is asked first. */
  async send(text: string | Message): Promise<void> {
    this.count++;
    this.#hasUsedTools = false;
    await this.#answer(asksOf(await this.#sendOnceAnswered(text)));
    await this.#showChanges();
  }

  /** Asks about what a task waits for. Esc leaves it waiting. */
  async answerTask({ taskId, isBackground }: TaskRecord): Promise<void> {
    const { agent, subagents } = this.#chat;
    const session = sessionOf(this.#chat);
    // What a task in the foreground asks is the session's own question.
    if (!isBackground && (await this.#answerWaiting())) return;
    const asked = (await subagents?.pending(session, taskId)) ?? [];
    if (asked.length === 0) {
      this.#note(`${taskId} waits for nothing`);
      return;
    }
    const confirm = await askEach(this.#display.questioner, asked, "Esc leaves it waiting");
    if (confirm === null || this.#display.isLeaving) {
      this.#note(`${taskId} keeps waiting`);
      return;
    }
    const answers: Confirmation[] = [];
    for (const { remember, ...answer } of confirm) {
      // The rules that count are those of this session, and not of the subagent's.
      if (typeof remember === "object") await agent.rememberRules(session, remember);
      answers.push(answer);
    }
    await subagents?.confirm(session, taskId, answers);
  }

  async #showChanges(): Promise<void> {
    // Only tools change them; without one the state need not be read.
    if (!this.#hasUsedTools) return;
    for (const line of await this.#plan.changes(this.#chat)) this.#note(line);
  }

  async #sendOnceAnswered(text: string | Message): Promise<AgentReply> {
    try {
      return await this.#take(text);
    } catch (error) {
      if (!PendingConfirmationError.is(error)) throw error;
      if (!(await this.#answerWaiting())) throw error;
      return this.#take(text);
    }
  }

  /** @returns whether something was waiting and all of it is answered */
  async #answerWaiting(): Promise<boolean> {
    const waiting = await this.#waiting();
    if (waiting.length === 0) return false;
    const verb = waiting.length === 1 ? "waits" : "wait";
    this.#note(`${plural(waiting.length, "tool call")} of this session ${verb} for your answer`);
    return this.#answer(waiting);
  }

  /** Asks until nothing waits. @returns false when the chat ends before */
  async #answer(asks: readonly PendingCall[]): Promise<boolean> {
    for (let asked = asks; asked.length > 0; ) {
      // A person who decides about a plan wants to see what it has led to.
      await this.#showChanges();
      const input = await this.#ask(asked);
      if (this.#display.isLeaving) {
        this.#note(`${plural(asked.length, "tool call")} not answered; the session keeps waiting`);
        return false;
      }
      asked = await this.#confirm(input);
      if ("confirm" in input && input.confirm.some(({ interrupt }) => interrupt))
        this.#note("denied; the turn has ended");
    }
    return true;
  }

  /** Asks for approvals, which are given together, or else the questions of calls, one after another. */
  async #ask(asked: readonly PendingCall[]): Promise<PersonsInput> {
    const { questioner } = this.#display;
    const approvals = asked.filter(({ state }) => state === "asking");
    if (approvals.length > 0) return { confirm: await askApprovals(questioner, approvals) };
    const answers: QuestionAnswer[] = [];
    for (const { toolCallId, question } of asked) {
      if (question === undefined || this.#display.isLeaving) continue;
      answers.push({ toolCallId, ...(await askServerQuestion(questioner, question)) });
    }
    return { answers };
  }

  /** @returns what still asks */
  async #confirm(answers: CallInput): Promise<readonly PendingCall[]> {
    try {
      return asksOf(await this.#take(answers));
    } catch (error) {
      // Such as a call that another process has answered meanwhile: nothing has changed.
      if (!InvalidInputError.is(error)) throw error;
      this.#display.problem(error);
      return this.#waiting();
    }
  }

  async #waiting(): Promise<readonly PendingCall[]> {
    const pending = await this.#chat.agent.pending(sessionOf(this.#chat));
    return pending.filter(asksPerson);
  }

  async #take(input: CallInput): Promise<AgentReply> {
    const reply = await takeTurn(this.#chat, input, (event) => {
      if (event.type === "tool_result") this.#hasUsedTools = true;
      this.#display.show(event);
    });
    if (reply.reason === "tool_suspended" && asksOf(reply).length === 0) {
      const count = reply.pending.length;
      const text = `${plural(count, "tool call")} needed a result from outside, which cannot be given here, and ${count === 1 ? "was" : "were"} closed`;
      this.#display.status({ kind: "problem", text });
    } else if (reply.reason === "max_iterations")
      this.#note("stopped at the maximum number of iterations");
    return reply;
  }

  #note(text: string): void {
    this.#display.status({ kind: "note", text });
  }
}
