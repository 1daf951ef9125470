import { AsyncLocalStorage } from "node:async_hooks";
import type { JsonObject } from "@holdfast/core";
import * as s from "@holdfast/core/plugin-kit/schema";
import { longestTimerMs } from "@holdfast/core/store-kit";
import type { Client, ElicitRequestParams, ElicitResult } from "@modelcontextprotocol/client";
import { backoffMs } from "./backoff.js";
import { AnswerLost, type Failure, failureOf, LimitExceeded, tooLargeWords } from "./failure.js";
import { type ListedTools, listTools } from "./list-tools.js";

/** Parts of a connection. */
export interface ConnectionParts {
  /** A client that is connected. */
  readonly client: Client;
  /** Closes client and transport, and waits for the end of a server process. */
  close(): Promise<void>;
  redact(text: string): string;
  readonly listTimeoutMs: number;
  /** True if an error outside a request may mean that the server is gone; the end of a process is detected anyway. */
  readonly overHttp: boolean;
  /** Characters of all pages of a list of tools together. */
  readonly maxListChars: number;
  /** Called with every list after the first; returns whether it has changed. */
  onTools(listed: ListedTools): boolean;
  /** Number of calls that were given up and may still ask something, where nothing says which call asks. */
  givenUpCalls(): number;
  /** Called when the server asks something. */
  onAsk(): void;
}

/** A tool call in flight, and where its server's questions go. */
export interface RunningCall {
  /** Session that the call belongs to. */
  readonly session: string;
  readonly signal: AbortSignal;
  onProgress(progress: JsonObject): void;
  onQuestion(params: ElicitRequestParams, signal: AbortSignal): Promise<ElicitResult>;
}

/**
 * Call whose answer is being read. Over HTTP a question of the server comes in the stream of the call that it belongs to; over
 * stdio nothing says to which one it does.
 */
const currentCall = new AsyncLocalStorage<RunningCall>();

/** Failure of a request. */
export class RequestFailed extends Error {
  override readonly name = "RequestFailed";
  readonly failure: Failure;

  // Without the cause: errors of the transport may repeat the request.
  constructor(failure: Failure) {
    super(failure.words);
    this.failure = failure;
  }
}

/** Backoff between two refreshes of the list of tools, by the number of refreshes in a row without a change. */
const refreshGap = { baseDelayMs: 250, maxDelayMs: 30_000 };
/** Time the other requests on a refused session get to be refused or answered too. */
const graceMs = 1_000;
const anything = s.unknown();
const endedWords = "ended or closed the connection";

/** One session with a server, from the handshake until it is lost or closed. */
export class Connection {
  readonly #parts: ConnectionParts;
  readonly #end = new AbortController();
  readonly #lost: Promise<string>;
  /** Calls in flight, oldest first. */
  readonly #calls = new Set<RunningCall>();
  readonly #asking = new Set<RunningCall>();
  #tellLost: (reason: string) => void = () => {};
  #closing: Promise<void> | undefined;
  #pending = 0;
  /** Reason nothing is sent any more; undefined while the connection is in use. */
  #givenUp: string | undefined;
  #graceTimer: NodeJS.Timeout | undefined;
  #refreshState: "none" | "planned" | "running" | "again" = "running";
  #idleRefreshes = 0;
  #lastRefresh = performance.now();
  #refreshTimer: NodeJS.Timeout | undefined;

  constructor(parts: ConnectionParts) {
    this.#parts = parts;
    this.#lost = new Promise((resolve) => {
      this.#tellLost = resolve;
    });
    const { client } = parts;
    client.onclose = () => this.fail(endedWords);
    client.onerror = (error) => {
      if (error instanceof LimitExceeded) this.fail(error.message);
      else if (error instanceof AnswerLost) this.fail(tooLargeWords);
      // Some errors outside a request mean that the server is gone: a refresh finds out.
      else if (parts.overHttp) this.#scheduleRefresh();
      // A broken pipe is useless, even if the process is still running.
      else if ("syscall" in error) this.fail(endedWords);
    };
    client.setRequestHandler("elicitation/create", ({ params }, { mcpReq }) =>
      this.#ask(params, mcpReq.signal),
    );
    client.setNotificationHandler("notifications/tools/list_changed", () =>
      this.#scheduleRefresh(),
    );
  }

  /** Resolves with the reason once the connection can no longer be used. */
  get lost(): Promise<string> {
    return this.#lost;
  }

  /** True if nothing more can be sent. */
  get isLost(): boolean {
    return this.#givenUp !== undefined || this.#end.signal.aborted;
  }

  /** True while tool calls are in flight, or were given up and may still run. */
  get isBusy(): boolean {
    return this.#calls.size > 0 || this.#isOwed;
  }

  /** True while there are only calls that were given up and may still run. */
  get isLeftOver(): boolean {
    return this.#calls.size === 0 && this.#isOwed;
  }

  get #isOwed(): boolean {
    return this.#parts.givenUpCalls() > 0;
  }

  /** Gives up the connection and fails its pending requests. */
  fail(reason: string): void {
    if (this.#end.signal.aborted) return;
    clearTimeout(this.#refreshTimer);
    clearTimeout(this.#graceTimer);
    this.#tellLost(reason);
    this.#end.abort(new RequestFailed({ kind: "lost", words: reason }));
    void this.close();
  }

  /** Reads the list of tools for the first time; to be called once. @throws RequestFailed */
  async firstTools(signal: AbortSignal): Promise<ListedTools> {
    const listed = await this.#list(signal);
    this.#refreshDone();
    return listed;
  }

  /** Runs a tool and returns the server's answer unchecked. @throws RequestFailed */
  async call(
    name: string,
    input: Readonly<Record<string, unknown>>,
    call: RunningCall,
  ): Promise<unknown> {
    this.#calls.add(call);
    try {
      return await this.#guarded(() => currentCall.run(call, () => this.#call(name, input, call)));
    } finally {
      this.#calls.delete(call);
    }
  }

  #call(
    name: string,
    input: Readonly<Record<string, unknown>>,
    { signal, onProgress }: RunningCall,
  ): Promise<unknown> {
    const { client, redact } = this.#parts;
    return client.request(
      { method: "tools/call", params: { name, arguments: input } },
      anything,
      // The signal alone decides how long it may take.
      {
        signal,
        timeout: longestTimerMs,
        onprogress: ({ progress, total, message }) =>
          onProgress({
            progress,
            ...(total !== undefined && { total }),
            ...(message !== undefined && { message: redact(message) }),
          }),
      },
    );
  }

  /** Passes a question of the server to the call that it belongs to; one that belongs to none is declined. */
  async #ask(params: ElicitRequestParams, signal: AbortSignal): Promise<ElicitResult> {
    this.#parts.onAsk();
    if (!this.isBusy) return { action: "decline" };
    const call = this.#askingCall();
    if (!call) return { action: "cancel" };
    this.#asking.add(call);
    try {
      return await call.onQuestion(params, signal);
    } finally {
      this.#asking.delete(call);
    }
  }

  /**
   * Returns the call that asks; undefined when it may be one of another session, whose user must not see the question, or one that
   * was given up, which nobody waits for.
   */
  #askingCall(): RunningCall | undefined {
    const current = currentCall.getStore();
    if (current && this.#calls.has(current)) return current;
    if (this.#isOwed || (current && this.#parts.overHttp)) return undefined;
    const calls = [...this.#calls];
    const [first] = calls;
    if (calls.some(({ session }) => session !== first?.session)) return undefined;
    return calls.find((call) => !this.#asking.has(call)) ?? first;
  }

  /** Ends the session, and the process if there is one. Idempotent. */
  close(): Promise<void> {
    this.#closing ??= this.#parts.close();
    this.fail("was closed");
    return this.#closing;
  }

  async #guarded<T>(request: () => Promise<T>): Promise<T> {
    const { signal } = this.#end;
    if (this.isLost) throw new RequestFailed({ kind: "not_sent", words: "is not connected" });
    this.#pending++;
    let onEnd = () => {};
    const ended = new Promise<never>((_, reject) => {
      onEnd = () => reject(signal.reason);
      signal.addEventListener("abort", onEnd, { once: true });
    });
    try {
      return await Promise.race([request(), ended]);
    } catch (error) {
      if (error instanceof RequestFailed) throw error;
      const failure = failureOf(error, this.#parts.redact);
      // "lost" over HTTP concerns one request of many, and a refresh finds out about the server; a pipe has reported its end.
      if (failure.kind === "not_sent") this.#giveUp(failure.words);
      throw new RequestFailed(failure);
    } finally {
      signal.removeEventListener("abort", onEnd);
      this.#pending--;
      if (this.#pending === 0 && this.#givenUp !== undefined) this.fail(this.#givenUp);
    }
  }

  /** Sends nothing more, and ends once no request is pending: the others may still learn that they did not run. */
  #giveUp(reason: string): void {
    if (this.isLost) return;
    this.#givenUp = reason;
    this.#graceTimer = setTimeout(() => this.fail(reason), graceMs);
  }

  /** Reads the list of tools again soon: it may have changed, or the server may be gone. */
  #scheduleRefresh(): void {
    if (this.isLost) return;
    if (this.#refreshState === "running") this.#refreshState = "again";
    if (this.#refreshState !== "none") return;
    this.#refreshState = "planned";
    // Rate-limited, however many changes the server reports.
    const gapMs = backoffMs(this.#idleRefreshes + 1, refreshGap);
    const delayMs = Math.max(0, this.#lastRefresh + gapMs - performance.now());
    if (delayMs === 0) this.#idleRefreshes = 0;
    this.#refreshTimer = setTimeout(() => void this.#refresh(), delayMs).unref();
  }

  async #refresh(): Promise<void> {
    this.#refreshState = "running";
    try {
      const listed = await this.#list(this.#end.signal);
      this.#idleRefreshes = this.#parts.onTools(listed) ? 0 : this.#idleRefreshes + 1;
    } catch {
      // The server is not gone but has a problem, or the connection has been given up.
      this.#idleRefreshes++;
      this.#refreshState = "again";
    }
    this.#refreshDone();
  }

  #refreshDone(): void {
    const again = this.#refreshState === "again";
    this.#refreshState = "none";
    this.#lastRefresh = performance.now();
    if (again) this.#scheduleRefresh();
  }

  #list(signal: AbortSignal): Promise<ListedTools> {
    const { client, listTimeoutMs: timeout, maxListChars } = this.#parts;
    return this.#guarded(() => listTools(client, { signal, timeout, maxListChars }));
  }
}
