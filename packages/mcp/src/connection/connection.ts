import { longestTimerMs } from "@holdfast/core/store-kit";
import type { Client } from "@modelcontextprotocol/client";
import { z } from "zod";
import { backoffMs } from "./backoff.js";
import { tooLargeWords } from "./bounded-fetch.js";
import { AnswerLost, type Failure, failureOf } from "./failure.js";
import { type ListedTools, listTools } from "./list-tools.js";

/** What a connection is made of. */
export interface ConnectionParts {
  /** Connected already. */
  readonly client: Client;
  /** Closes client and transport and waits for the end of a server process. */
  close(): Promise<void>;
  redact(text: string): string;
  readonly listTimeoutMs: number;
  /** Whether an error by the way may mean that the server is gone; the end of a process is noticed without. */
  readonly overHttp: boolean;
  /** Called with every list that was read after the first; whether it was news. */
  onTools(listed: ListedTools): boolean;
}

/** Thrown by a request that failed. */
export class RequestFailed extends Error {
  override readonly name = "RequestFailed";
  readonly failure: Failure;

  // Without the cause: errors of the transport may repeat what the server was sent.
  constructor(failure: Failure) {
    super(failure.words);
    this.failure = failure;
  }
}

/** How soon after one look at a server the next may come; after looks in a row that showed nothing new it takes longer. */
const lookGap = { baseDelayMs: 250, maxDelayMs: 30_000 };
/** How long requests on a session that was refused may take to be refused too, or answered. */
const graceMs = 1_000;
const anything = z.unknown();
const endedWords = "ended or closed the connection";

/** One session with a server, from the handshake until it is lost or closed. */
export class Connection {
  readonly #parts: ConnectionParts;
  readonly #end = new AbortController();
  readonly #lost: Promise<string>;
  #tellLost: (reason: string) => void = () => {};
  #closing: Promise<void> | undefined;
  #pending = 0;
  /** Set when nothing new is sent any more: what the server did. */
  #givenUp: string | undefined;
  #graceTimer: NodeJS.Timeout | undefined;
  #look: "none" | "planned" | "running" | "again" = "running";
  #idleLooks = 0;
  #lastLook = performance.now();
  #lookTimer: NodeJS.Timeout | undefined;

  constructor(parts: ConnectionParts) {
    this.#parts = parts;
    this.#lost = new Promise((resolve) => {
      this.#tellLost = resolve;
    });
    const { client } = parts;
    client.onclose = () => this.fail(endedWords);
    client.onerror = (error) => {
      if (error instanceof AnswerLost || error.message.startsWith("ReadBuffer exceeded"))
        this.fail(tooLargeWords);
      // Of the errors HTTP reports by the way some mean that the server is gone. Whether it is, is asked.
      else if (parts.overHttp) this.#planLook();
      // A pipe that broke is of no use any more, even if the process lives on.
      else if ("syscall" in error) this.fail(endedWords);
    };
    client.setNotificationHandler("notifications/tools/list_changed", () => this.#planLook());
  }

  /** Resolves with what the server did when the connection is of no use any more. */
  get lost(): Promise<string> {
    return this.#lost;
  }

  /** Whether nothing more can be sent on it. */
  get isLost(): boolean {
    return this.#givenUp !== undefined || this.#end.signal.aborted;
  }

  /** Gives the connection up: whoever waits for an answer on it is told. */
  fail(reason: string): void {
    if (this.#end.signal.aborted) return;
    clearTimeout(this.#lookTimer);
    clearTimeout(this.#graceTimer);
    this.#tellLost(reason);
    this.#end.abort(new RequestFailed({ kind: "lost", words: reason }));
    void this.close();
  }

  /** The tools the server has at first; to be called once. @throws RequestFailed */
  async firstTools(signal: AbortSignal): Promise<ListedTools> {
    const listed = await this.#list(signal);
    this.#lookDone();
    return listed;
  }

  /** Runs a tool; what the server answered, unchecked. @throws RequestFailed */
  call(
    name: string,
    input: Readonly<Record<string, unknown>>,
    options: { readonly signal: AbortSignal; onProgress(): void },
  ): Promise<unknown> {
    return this.#guarded(() =>
      this.#parts.client.request(
        { method: "tools/call", params: { name, arguments: input } },
        anything,
        // How long it may take is decided by the signal alone.
        { signal: options.signal, timeout: longestTimerMs, onprogress: options.onProgress },
      ),
    );
  }

  /** Ends the session, and the process where there is one; idempotent. */
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
      // "lost" over HTTP is one request of many: whether the server is gone too, is asked; a pipe has told already.
      if (failure.kind === "not_sent") this.#giveUp(failure.words);
      throw new RequestFailed(failure);
    } finally {
      signal.removeEventListener("abort", onEnd);
      this.#pending--;
      if (this.#pending === 0 && this.#givenUp !== undefined) this.fail(this.#givenUp);
    }
  }

  /** Sends nothing more, and is lost as soon as nothing is waited for: others may yet hear that they did not run. */
  #giveUp(reason: string): void {
    if (this.isLost) return;
    this.#givenUp = reason;
    this.#graceTimer = setTimeout(() => this.fail(reason), graceMs);
  }

  /** Looks at the tools soon: to see whether they changed, and whether the server is there at all. */
  #planLook(): void {
    if (this.isLost) return;
    if (this.#look === "running") this.#look = "again";
    if (this.#look !== "none") return;
    this.#look = "planned";
    // Not more often than that, however much the server has to report.
    const gapMs = backoffMs(this.#idleLooks + 1, lookGap);
    const delayMs = Math.max(0, this.#lastLook + gapMs - performance.now());
    if (delayMs === 0) this.#idleLooks = 0;
    this.#lookTimer = setTimeout(() => void this.#lookNow(), delayMs).unref();
  }

  async #lookNow(): Promise<void> {
    this.#look = "running";
    try {
      const listed = await this.#list(this.#end.signal);
      this.#idleLooks = this.#parts.onTools(listed) ? 0 : this.#idleLooks + 1;
    } catch {
      // Not gone, but not well either; or given up by now.
      this.#idleLooks++;
      this.#look = "again";
    }
    this.#lookDone();
  }

  #lookDone(): void {
    const again = this.#look === "again";
    this.#look = "none";
    this.#lastLook = performance.now();
    if (again) this.#planLook();
  }

  #list(signal: AbortSignal): Promise<ListedTools> {
    const timeout = this.#parts.listTimeoutMs;
    return this.#guarded(() => listTools(this.#parts.client, { signal, timeout }));
  }
}
