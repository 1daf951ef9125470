import { randomUUID } from "node:crypto";
import {
  type AgentApp,
  type AgentRequestMethod,
  type AgentRequestParamsByMethod,
  type AgentRequestResponsesByMethod,
  agent as agentApp,
  type InitializeRequest,
  type InitializeResponse,
  methods,
  PROTOCOL_VERSION,
  RequestError,
  type Stream,
} from "@agentclientprotocol/sdk";
import { HoldfastError, InvalidInputError } from "@holdfast/core";
import { type AcpOptions, type AcpSettings, readOptions } from "./acp-options.js";
import { EditorClient } from "./editor/editor-client.js";
import { OpenSessions } from "./session/open-sessions.js";
import { listSessions } from "./session/session-list.js";
import { SignIn } from "./session/sign-in.js";

/** Connection to an editor. */
export interface AcpServer {
  /** Resolves once the connection has ended and the agents of its sessions are closed. */
  readonly closed: Promise<void>;
  /** Ends the connection, and resolves as `closed` does. */
  close(): Promise<void>;
}

/**
 * Serves an editor over a stream of the Agent Client Protocol, version 1.
 *
 * @throws ConfigurationError
 * @example
 * const server = serveAcp({ name: "assistant", agentFor: () => ({ agent }) }, stdioStream());
 * await server.closed;
 */
export function serveAcp(options: AcpOptions, stream: Stream): AcpServer {
  const handlers = new Handlers(readOptions(options));
  const app = handlers.app();
  const connection = app.connect(stream);
  handlers.connect(connection);
  const closed = connection.closed.then(() => handlers.close());
  return {
    closed,
    close() {
      connection.close();
      return closed;
    },
  };
}

/** Answers to the requests of one editor. */
class Handlers {
  readonly #settings: AcpSettings;
  readonly #signIn: SignIn;
  #connection: ConstructorParameters<typeof EditorClient>[0] | null = null;
  #sessions: OpenSessions | null = null;

  constructor(settings: AcpSettings) {
    this.#settings = settings;
    this.#signIn = new SignIn(settings.auth);
  }

  connect(connection: ConstructorParameters<typeof EditorClient>[0]): void {
    this.#connection = connection;
  }

  async close(): Promise<void> {
    await this.#sessions?.closeAll();
  }

  /** Returns the protocol's methods, as far as this agent has them. */
  app(): AgentApp {
    const { session } = methods.agent;
    const app = agentApp({ name: this.#settings.name });
    const on = <M extends AgentRequestMethod>(
      method: M,
      answer: (
        params: AgentRequestParamsByMethod[M],
        signal: AbortSignal,
      ) => Promise<AgentRequestResponsesByMethod[M]>,
    ): void => {
      const handle = ({ params, signal }: { params: unknown; signal: AbortSignal }) =>
        answer(params as AgentRequestParamsByMethod[M], signal).catch((error: unknown) => {
          throw this.#shown(error);
        });
      app.onRequest(method, handle as Parameters<typeof app.onRequest<M>>[1]);
    };
    on(methods.agent.initialize, async (params) => this.#initialize(params));
    on(methods.agent.authenticate, async ({ methodId }) => {
      await this.#signIn.authenticate(methodId);
      return {};
    });
    if (this.#signIn.hasLogout)
      on(methods.agent.logout, async () => {
        await this.#signIn.logout();
        return {};
      });
    on(session.new, async (request) => {
      const sessions = await this.#opened();
      const sessionId = randomUUID();
      const opened = await sessions.create({ ...request, sessionId });
      afterAnswer(() => opened.announce());
      return { sessionId, ...opened.modes };
    });
    on(session.load, async (request) => {
      const sessions = await this.#opened();
      const opened = await sessions.restore(request, (found) => found.replay());
      afterAnswer(() => opened.announce().then(() => opened.goOn()));
      return { ...opened.modes };
    });
    on(session.resume, async (request) => {
      const sessions = await this.#opened();
      const opened = await sessions.restore(request, async () => undefined);
      afterAnswer(() => opened.announce().then(() => opened.goOn()));
      return { ...opened.modes };
    });
    on(session.list, async (query) => {
      const sessions = await this.#opened();
      return listSessions(await sessions.librarian(), this.#settings.userId, query);
    });
    on(session.delete, async ({ sessionId }) => {
      const sessions = await this.#opened();
      await sessions.close(sessionId);
      const agent = await sessions.librarian();
      if (!(await agent.deleteSession(this.#settings.userId, sessionId)))
        throw RequestError.sessionNotFound(sessionId);
      return {};
    });
    on(session.close, async ({ sessionId }) => {
      const sessions = await this.#opened();
      await sessions.get(sessionId).cancel();
      await sessions.close(sessionId);
      return {};
    });
    on(session.setMode, async ({ sessionId, modeId }) => {
      await (await this.#opened()).get(sessionId).setMode(modeId);
      return {};
    });
    on(session.prompt, async ({ sessionId, prompt }, signal) => {
      const found = (await this.#opened()).get(sessionId);
      return { stopReason: await found.prompt(prompt, signal) };
    });
    app.onNotification(session.cancel, ({ params: { sessionId } }) =>
      this.#sessions?.get(sessionId).cancel(),
    );
    return app;
  }

  #initialize({ clientCapabilities = {} }: InitializeRequest): InitializeResponse {
    if (!this.#connection) throw RequestError.internalError();
    if (this.#sessions) throw RequestError.invalidRequest(undefined, "initialized already");
    const client = new EditorClient(this.#connection, clientCapabilities);
    this.#sessions = new OpenSessions(this.#settings, client);
    const { name, version } = this.#settings;
    return {
      protocolVersion: PROTOCOL_VERSION,
      agentInfo: { name, title: name, version },
      authMethods: this.#signIn.methods,
      agentCapabilities: {
        loadSession: true,
        promptCapabilities: { image: true, embeddedContext: true },
        mcpCapabilities: { http: true },
        sessionCapabilities: { list: {}, delete: {}, resume: {}, close: {} },
        ...(this.#signIn.hasLogout && { auth: { logout: {} } }),
      },
    };
  }

  /** Returns the sessions of the editor, once it may use them. @throws RequestError */
  async #opened(): Promise<OpenSessions> {
    await this.#signIn.check();
    if (!this.#sessions) throw RequestError.invalidRequest(undefined, "initialize comes first");
    return this.#sessions;
  }

  /** Returns an error as the editor gets it: Holdfast's own words, and nothing of any other error. */
  #shown(error: unknown): RequestError {
    if (error instanceof RequestError) return error;
    this.#settings.onError(error);
    if (!HoldfastError.is(error)) return new RequestError(-32603, "Internal error");
    const code = InvalidInputError.is(error) ? -32602 : -32603;
    return new RequestError(code, error.message, { code: error.code });
  }
}

/** Does something once the answer to the request in hand is on its way: the editor has to know the session first. */
function afterAnswer(work: () => Promise<void>): void {
  setImmediate(() => void work().catch(() => undefined));
}
