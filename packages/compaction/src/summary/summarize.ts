import {
  type Message,
  type Model,
  type ModelRequest,
  repairToolPairs,
  type Usage,
  userMessage,
} from "@holdfast/core";
import {
  addUsage,
  askModel,
  type CompactionRequest,
  type ModelAnswer,
  timeLimit,
} from "@holdfast/core/plugin-kit";
import type { CompactionSettings } from "../compaction-options.js";
import type { TokenMeter } from "../context-tokens.js";
import { fill, type ReadSummaryFormat } from "./summary-format.js";
import { SummaryTooLong } from "./summary-too-long.js";
import { transcriptOf } from "./transcript.js";
import { transcriptChunks } from "./transcript-chunks.js";

/** What a summary is made of and with. */
export interface SummaryOrder {
  readonly request: CompactionRequest;
  readonly settings: CompactionSettings;
  readonly format: ReadSummaryFormat;
  readonly meter: TokenMeter;
  /** The beginning of the context, an earlier summary included. */
  readonly prefix: readonly Message[];
  /** Of the agent's model; null when unknown. */
  readonly windowTokens: number | null;
  /** What the provider counts for each token the meter counts. */
  readonly scale: number;
}

/** A summary, ready for the context, and what it cost. */
export interface Summary {
  readonly text: string;
  readonly usage: Usage;
}

/** Not even a small piece of the conversation fits into the summariser's window. */
export class WindowTooSmall extends Error {
  override readonly name = "WindowTooSmall";
}

/** Most tokens of a window that are kept free for the summary: more would only cost the prefix its place in the cache. */
const SUMMARY_ROOM = 4_000;
/** Smallest piece of a conversation worth a request. */
const LEAST_TOKENS = 200;
/** How often a piece that turns out too long is halved. */
const HALVINGS = 6;
const BRIEFLY =
  "The summary broke off because it was too long. Write it again, complete, in at most 400 words.";
const SYSTEM = "You write summaries of conversations between a user and an AI agent.";

/**
 * Has a summary written.
 *
 * The agent's own model gets the conversation as it knows it, with the instruction behind: the provider has all of that in
 * its cache. Another model, or one that calls tools instead of writing, gets it as text; what does not fit into its window
 * comes in pieces, each with the summary of the ones before.
 *
 * @throws whatever the model throws, and the reason of an abort or time-out
 */
export async function summarize(order: SummaryOrder): Promise<Summary> {
  const { request, settings, format } = order;
  using limit = timeLimit(settings.timeoutMs, {
    stops: [request.signal],
    reason: () => new DOMException("the summary was not written in time", "TimeoutError"),
  });
  const desk = new SummaryDesk(order, limit.signal);
  const reply = (await desk.continueConversation()) ?? (await desk.readTranscript());
  return { text: await format.render(reply), usage: desk.usage };
}

class SummaryDesk {
  readonly #order: SummaryOrder;
  readonly #signal: AbortSignal;
  usage: Usage = { inputTokens: 0, outputTokens: 0 };

  constructor(order: SummaryOrder, signal: AbortSignal) {
    this.#order = order;
    this.#signal = signal;
  }

  /** The live conversation with one more instruction; null where that cannot be done or brings no text. */
  async continueConversation(): Promise<string | null> {
    const { request, settings, format, meter, prefix, scale } = this.#order;
    if (settings.model || format.instruction.includes("{messages}")) return null;
    const { messages: paired, repairs } = repairToolPairs(prefix);
    // What a request has to leave out would be gone unread; the transcript has it.
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

  /** The conversation as text, in as many pieces as it takes. */
  async readTranscript(): Promise<string> {
    const { request, settings, format, meter, prefix } = this.#order;
    const model = settings.model ?? request.model;
    const texts = prefix.map(transcriptOf);
    const count = (text: string): number => meter.counter.countText(text);
    const fixed = count(format.instruction) + count(SYSTEM) + 64;
    const window = this.#window();
    let room = window === null ? Infinity : window - this.#room(window) - fixed;
    for (let halving = 0; ; halving++) {
      // With more than one piece there is the summary so far beside it.
      const whole = texts.reduce((sum, text) => sum + count(text) + 2, 0);
      const piece = whole <= room ? room : Math.floor(room * 0.6);
      if (piece < LEAST_TOKENS) throw new WindowTooSmall("the summariser's window is too small");
      try {
        return await this.#inPieces(model, transcriptChunks(texts, piece, count));
      } catch (error) {
        if (this.#signal.aborted || !request.isOverflow(error) || halving >= HALVINGS) throw error;
        room = Math.floor(Math.min(room, whole) / 2);
      }
    }
  }

  async #inPieces(model: Model, pieces: readonly string[]): Promise<string> {
    const { format } = this.#order;
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
      // Going on would lose what the pieces so far said.
      if (soFar === "") return "";
    }
    return soFar;
  }

  /** A summary that breaks off has lost its end, where the next steps are: it is asked for once more, shorter. */
  async #ask(model: Model, request: Omit<ModelRequest, "signal">): Promise<ModelAnswer> {
    const reply = await this.#askOnce(model, request);
    if (!reply.isCutOff || reply.calledTools) return reply;
    const brief = [...request.messages, instruction(BRIEFLY)];
    const second = await this.#askOnce(model, { ...request, messages: brief });
    return second.text.trim() === "" ? reply : second;
  }

  async #askOnce(model: Model, request: Omit<ModelRequest, "signal">): Promise<ModelAnswer> {
    const { settings, format, request: compaction } = this.#order;
    const held = model.structuredOutput && format.jsonSchema;
    const reply = await askModel({
      model,
      request: held ? { ...request, output: held } : request,
      purpose: "summary",
      signal: this.#signal,
      emit: compaction.emit,
      isStopped: () => compaction.signal.aborted,
      maxChars: 8 * Math.max(2_000, settings.reservedTokens),
    });
    if (reply.isTooLong) throw new SummaryTooLong("the summary is too long");
    this.usage = addUsage(this.usage, reply.usage);
    return reply;
  }

  #window(): number | null {
    const { settings, windowTokens } = this.#order;
    return settings.model ? (settings.model.contextWindow ?? null) : windowTokens;
  }

  /** What of a window is left for the summary itself. */
  #room(window: number): number {
    const most = Math.min(this.#order.settings.reservedTokens, SUMMARY_ROOM);
    return Math.min(most, Math.max(64, Math.floor(window / 8)));
  }
}

/** Marked, so that whoever sees the request knows what it is for. */
function instruction(text: string): Message {
  return userMessage([{ type: "hint", text, source: "compaction" }]);
}
