import {
  type Message,
  type Model,
  type ModelRequest,
  type PluginHost,
  repairToolPairs,
  type Usage,
  userMessage,
} from "@holdfast/core";
import {
  addUsage,
  type CompactionRequest,
  type ModelAnswer,
  timeLimit,
} from "@holdfast/core/plugin-kit";
import type { CompactionSettings } from "../compaction-options.js";
import type { TokenMeter } from "../context-tokens.js";
import { SummaryTooLong, WindowTooSmall } from "./summary-failure.js";
import { fill, type ReadSummaryFormat, type RenderedSummary } from "./summary-format.js";
import { transcriptChunks, transcriptOf } from "./transcript.js";

/** Asks a model inside the hooks of the agent. */
export type AskModel = PluginHost["askModel"];

/** Messages to summarise, and what is needed to do it. */
export interface SummaryTask {
  readonly ask: AskModel;
  readonly request: CompactionRequest;
  readonly settings: CompactionSettings;
  readonly format: ReadSummaryFormat;
  readonly meter: TokenMeter;
  /** The beginning of the context, including an earlier summary. */
  readonly prefix: readonly Message[];
  /** Window of the agent's model; null when unknown. */
  readonly windowTokens: number | null;
  /** Tokens the provider counts per token of the meter. */
  readonly scale: number;
}

/** A summary, ready for the context, and its usage. */
export interface Summary extends RenderedSummary {
  readonly usage: Usage;
}

/** Tokens of a window to leave free for the summary, at most: with more, fewer conversations could be sent as they are cached. */
const MAX_SUMMARY_ROOM = 4_000;
/** Smallest piece of a conversation worth a request. */
const MIN_PIECE_TOKENS = 200;
/** Times a piece that turns out too long is halved. */
const MAX_HALVINGS = 6;
const SHORTER_INSTRUCTION =
  "The summary broke off because it was too long. Write it again, complete, in at most 400 words.";
const SYSTEM = "You write summaries of conversations between a user and an AI agent.";

/**
 * Asks a model for a summary.
 *
 * The agent's own model gets the conversation as it was sent before, followed by the instruction: the provider has most of
 * that in its cache. Another model, or one that calls tools instead of writing, gets a transcript; if that does not fit into
 * its window it is sent in pieces, each with the summary of the ones before.
 *
 * @throws whatever the model throws, and the reason of an abort or timeout
 */
export async function summarize(task: SummaryTask): Promise<Summary> {
  const { request, settings, format } = task;
  using limit = timeLimit(settings.timeoutMs, {
    stops: [request.signal],
    reason: () => new DOMException("the summary was not written in time", "TimeoutError"),
  });
  const writer = new SummaryWriter(task, limit.signal);
  const reply = (await writer.continueConversation()) ?? (await writer.readTranscript());
  return { ...(await format.render(reply)), usage: writer.usage };
}

class SummaryWriter {
  readonly #task: SummaryTask;
  readonly #signal: AbortSignal;
  usage: Usage = { inputTokens: 0, outputTokens: 0 };

  constructor(task: SummaryTask, signal: AbortSignal) {
    this.#task = task;
    this.#signal = signal;
  }

  /** Sends the conversation itself with one more instruction; null if that is impossible or yields no text. */
  async continueConversation(): Promise<string | null> {
    const { request, settings, format, meter, prefix, scale } = this.#task;
    if (settings.model || format.instruction.includes("{messages}")) return null;
    const { messages: paired, repairs } = repairToolPairs(prefix);
    // A request leaves these messages out, and they would be lost unread; a transcript has them.
    if (repairs.some(({ kind }) => kind.startsWith("duplicate") || kind.startsWith("orphan")))
      return null;
    const messages = [...paired, instruction(format.instruction)];
    const size = meter.promptTokens(request.prompt) + meter.counter.countMessages(messages);
    const window = this.#window();
    if (window !== null && size * scale + this.#room(window) > window) return null;
    try {
      const reply = await this.#ask(request.model, { ...request.prompt, messages });
      return reply.calledTools || reply.text.trim() === "" ? null : reply.text;
    } catch (error) {
      if (this.#signal.aborted || !request.isOverflow(error)) throw error;
      return null;
    }
  }

  /** Sends the conversation as text, in as many pieces as it takes. */
  async readTranscript(): Promise<string> {
    const { request, settings, format, meter, prefix } = this.#task;
    const model = settings.model ?? request.model;
    const texts = prefix.map(transcriptOf);
    const count = (text: string): number => meter.counter.countText(text);
    const fixed = count(format.instruction) + count(SYSTEM) + 64;
    const window = this.#window();
    let room = window === null ? Infinity : window - this.#room(window) - fixed;
    for (let halving = 0; ; halving++) {
      // With several pieces the summary so far needs room too.
      const whole = texts.reduce((sum, text) => sum + count(text) + 2, 0);
      const piece = whole <= room ? room : Math.floor(room * 0.6);
      if (piece < MIN_PIECE_TOKENS)
        throw new WindowTooSmall("the summariser's window is too small");
      try {
        return await this.#inPieces(model, transcriptChunks(texts, piece, count));
      } catch (error) {
        if (this.#signal.aborted || !request.isOverflow(error) || halving >= MAX_HALVINGS)
          throw error;
        room = Math.floor(Math.min(room, whole) / 2);
      }
    }
  }

  async #inPieces(model: Model, pieces: readonly string[]): Promise<string> {
    const { format } = this.#task;
    let soFar = "";
    for (const [index, piece] of pieces.entries()) {
      const part = pieces.length === 1 ? "" : ` part="${index + 1} of ${pieces.length}"`;
      const before = soFar === "" ? "" : `<summary_so_far>\n${soFar}\n</summary_so_far>\n\n`;
      const material = `${before}<conversation${part}>\n${piece}\n</conversation>`;
      const text = format.instruction.includes("{messages}")
        ? fill(format.instruction, { messages: material })
        : `${material}\n\n${format.instruction}${
            before === ""
              ? ""
              : "\n\nWrite one summary that holds the summary so far and this part."
          }`;
      const messages = [instruction(text)];
      const reply = await this.#ask(model, { system: SYSTEM, messages, tools: [] });
      soFar = reply.text.trim();
      // Carrying on would lose the pieces so far.
      if (soFar === "") return "";
    }
    return soFar;
  }

  /** Asks once more, for a shorter one, if a summary was cut off: its end has the next steps. */
  async #ask(model: Model, request: Omit<ModelRequest, "signal">): Promise<ModelAnswer> {
    const reply = await this.#askOnce(model, request);
    if (!reply.isCutOff || reply.calledTools) return reply;
    const brief = [...request.messages, instruction(SHORTER_INSTRUCTION)];
    const second = await this.#askOnce(model, { ...request, messages: brief });
    return second.text.trim() === "" ? reply : second;
  }

  async #askOnce(model: Model, request: Omit<ModelRequest, "signal">): Promise<ModelAnswer> {
    const { ask, settings, format, request: compaction } = this.#task;
    const held = model.structuredOutput && format.jsonSchema;
    const reply = await ask({
      from: compaction,
      model,
      request: held ? { ...request, output: held } : request,
      purpose: "summary",
      signal: this.#signal,
      isStopped: () => compaction.signal.aborted,
      maxChars: 8 * Math.max(2_000, settings.reservedTokens),
    });
    if (reply.isTooLong) throw new SummaryTooLong("the summary is too long");
    this.usage = addUsage(this.usage, reply.usage);
    return reply;
  }

  #window(): number | null {
    const { settings, windowTokens } = this.#task;
    return settings.model ? (settings.model.contextWindow ?? null) : windowTokens;
  }

  /** Tokens of a window to leave free for the summary itself. */
  #room(window: number): number {
    const most = Math.min(this.#task.settings.reservedTokens, MAX_SUMMARY_ROOM);
    return Math.min(most, Math.max(64, Math.floor(window / 8)));
  }
}

/** A hint with its source, so that models and middleware can tell it from what the user says. */
function instruction(text: string): Message {
  return userMessage([{ type: "hint", text, source: "compaction" }]);
}
