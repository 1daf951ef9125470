import type { ExplicitToolResult, ToolCallContext } from "@holdfast/core";
import type { ToolAnswer, ToolQuestion } from "@holdfast/core/plugin-kit";
import type { ElicitRequestParams, ElicitResult } from "@modelcontextprotocol/client";
import type { CallDeadline } from "../call-deadline.js";
import { isSameQuestion, questionOf } from "./question-of.js";

/** Result of a call, or what a person has to answer first. */
export type Outcome =
  | { readonly result: ExplicitToolResult }
  | { readonly question: ToolQuestion; readonly reason: string };

/** Reports and questions of a running call. */
export interface CallPort {
  readonly deadline: CallDeadline;
  /** Answers that a person gave to this call before it was made. */
  readonly answers: readonly ToolAnswer[];
  progress(value: Parameters<ToolCallContext["progress"]>[0]): void;
  /** Answers a question of the server; waits for a person unless one has answered it before. */
  ask(params: ElicitRequestParams, signal: AbortSignal): Promise<ElicitResult>;
}

/** Settings of an {@link AskingCall}. */
export interface AskingCallOptions {
  readonly deadline: CallDeadline;
  readonly answers: readonly ToolAnswer[];
  /** Words about a question of the server. */
  readonly reason: string;
  redact(text: string): string;
  /** Makes the call; its outcome may be a question too, which is then asked in place of a result. */
  start(port: CallPort): Promise<Outcome>;
}

/** A question of the server that waits for a person. */
interface OpenQuestion {
  readonly question: ToolQuestion;
  answer(result: ElicitResult): void;
}

/**
 * A tool call whose server may ask questions while it runs. Between two of them it outlives the run of the tool that made it:
 * the server's request stays open until a later run brings the answer, or the call is ended.
 */
export class AskingCall {
  readonly #options: AskingCallOptions;
  readonly #run: Promise<Outcome>;
  readonly #open: OpenQuestion[] = [];
  /** Number of recorded answers that were replayed or passed over. */
  #replayed = 0;
  #wake: () => void = () => {};
  #progress: ToolCallContext["progress"] = () => {};
  #isOver = false;

  constructor(options: AskingCallOptions) {
    this.#options = options;
    const { deadline, answers } = options;
    this.#run = options
      .start({
        deadline,
        answers,
        progress: (value) => this.#progress(value),
        ask: (params, signal) => this.#ask(params, signal),
      })
      .finally(() => {
        this.#isOver = true;
        deadline.close();
        for (const { answer } of this.#open.splice(0)) answer({ action: "cancel" });
      });
    this.#run.catch(() => {});
  }

  /** True once the call has ended, with whatever outcome: its questions can no longer be answered. */
  get isOver(): boolean {
    return this.#isOver;
  }

  /** Gives an answer to the question that waits first. @returns false when the call does not wait for it */
  answer({ question, action, content }: ToolAnswer): boolean {
    const [first] = this.#open;
    if (this.#isOver || !first || !isSameQuestion(first.question, question)) return false;
    this.#open.shift();
    // The server gets an answer of its own shape: the person's fields, checked against its schema.
    first.answer({
      action,
      ...(content && { content: content as ElicitResult["content"] }),
    } as ElicitResult);
    return true;
  }

  /** Waits for the result or the next question, on behalf of the run of the tool with this context. */
  async outcome(ctx: Pick<ToolCallContext, "signal" | "progress">): Promise<Outcome> {
    const { deadline, reason } = this.#options;
    this.#progress = (value) => ctx.progress(value);
    deadline.stopBy(ctx.signal);
    if (this.#open.length === 0) deadline.resume();
    try {
      const asked = new Promise<void>((resolve) => {
        this.#wake = resolve;
        if (this.#open.length > 0) resolve();
      });
      const ended = await Promise.race([this.#run, asked]);
      const [first] = this.#open;
      return ended ?? (first ? { question: first.question, reason } : await this.outcome(ctx));
    } catch (error) {
      if (deadline.why === "stopped") throw ctx.signal?.reason;
      throw error;
    } finally {
      this.#progress = () => {};
      deadline.stopBy(undefined);
      if (!this.#isOver) deadline.pause();
    }
  }

  /** Ends the call; the server is told. */
  end(): void {
    this.#options.deadline.stop();
  }

  async #ask(params: ElicitRequestParams, signal: AbortSignal): Promise<ElicitResult> {
    const question = questionOf(params, this.#options.redact);
    if (question === null) return { action: "cancel" };
    const given = this.#recorded(question);
    if (given) return given;
    return new Promise((resolve) => {
      const entry: OpenQuestion = { question, answer: resolve };
      this.#open.push(entry);
      this.#options.deadline.pause();
      signal.addEventListener("abort", () => {
        const index = this.#open.indexOf(entry);
        if (index >= 0) this.#open.splice(index, 1);
        resolve({ action: "cancel" });
      });
      this.#wake();
    });
  }

  /** Returns the answer that was given to the same question before, each once and in order. */
  #recorded(question: ToolQuestion): ElicitResult | undefined {
    const { answers } = this.#options;
    for (let index = this.#replayed; index < answers.length; index++) {
      const { question: answered, action, content } = answers[index] as ToolAnswer;
      if (!isSameQuestion(answered, question)) continue;
      this.#replayed = index + 1;
      return {
        action,
        ...(content && { content: content as ElicitResult["content"] }),
      } as ElicitResult;
    }
    return undefined;
  }
}
