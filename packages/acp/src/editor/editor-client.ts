import {
  type AgentConnection,
  type ClientCapabilities,
  type ClientRequestMethod,
  type ClientRequestParamsByMethod,
  type ClientRequestResponsesByMethod,
  methods,
  type SessionUpdate,
} from "@agentclientprotocol/sdk";
import { timeLimit } from "@holdfast/core/plugin-kit";
import { EditorError } from "./editor-error.js";

/** Options of a request to the editor. */
export interface EditorRequestOptions {
  readonly timeoutMs: number;
  /** Gives up on the request and tells the editor so. */
  readonly signal?: AbortSignal | undefined;
}

/** The editor at the other end of a connection: every request to it has a time limit and can be given up. */
export class EditorClient {
  readonly capabilities: ClientCapabilities;
  readonly #connection: Pick<AgentConnection, "client" | "signal">;

  constructor(
    connection: Pick<AgentConnection, "client" | "signal">,
    capabilities: ClientCapabilities,
  ) {
    this.#connection = connection;
    this.capabilities = capabilities;
  }

  /** True once the connection has ended. */
  get isGone(): boolean {
    return this.#connection.signal.aborted;
  }

  /**
   * Sends a request and waits for its answer.
   *
   * @throws EditorError, or the reason of `signal`
   */
  async request<M extends ClientRequestMethod>(
    method: M,
    params: ClientRequestParamsByMethod[M],
    { timeoutMs, signal }: EditorRequestOptions,
  ): Promise<ClientRequestResponsesByMethod[M]> {
    signal?.throwIfAborted();
    using limit = timeLimit(timeoutMs, { stops: signal ? [signal] : [] });
    const options = { cancellationSignal: limit.signal, stopWaitingOnCancel: true };
    try {
      return await this.#connection.client.request(method, params, options);
    } catch (error) {
      if (signal?.aborted) throw signal.reason;
      if (this.isGone)
        throw new EditorError("gone", `the editor went away before it answered ${method}`, {
          cause: error,
        });
      if (limit.signal.aborted)
        throw new EditorError(
          "timeout",
          `the editor has not answered ${method} in ${timeoutMs} ms`,
        );
      throw new EditorError("refused", `the editor refused ${method}`, { cause: error });
    }
  }

  /** Sends a session update; resolves once it is written, so that a slow editor slows the sender down. */
  async update(sessionId: string, update: SessionUpdate): Promise<void> {
    await this.#connection.client.notify(methods.client.session.update, { sessionId, update });
  }
}
