import { homedir } from "node:os";
import { isAbsolute } from "node:path";
import { type McpServer, RequestError } from "@agentclientprotocol/sdk";
import type { AcpSettings, SessionAgent } from "../acp-options.js";
import type { EditorClient } from "../editor/editor-client.js";
import { editorSession } from "../editor/editor-session.js";
import { AcpSession } from "./acp-session.js";

/** Session as an editor names it when it opens one. */
export interface SessionRequest {
  readonly sessionId: string;
  readonly cwd: string;
  readonly mcpServers?: readonly McpServer[] | undefined;
}

/** Sessions that one editor has open, each with an agent of its own. */
export class OpenSessions {
  readonly #settings: AcpSettings;
  readonly #client: EditorClient;
  readonly #sessions = new Map<string, AcpSession>();
  /** Agents that are being made. */
  #opening = 0;
  /** Agent that lists and deletes sessions. */
  #librarian: Promise<SessionAgent> | null = null;
  #isClosed = false;

  constructor(settings: AcpSettings, client: EditorClient) {
    this.#settings = settings;
    this.#client = client;
  }

  /** @throws RequestError for a session that is not open */
  get(sessionId: string): AcpSession {
    const session = this.#sessions.get(sessionId);
    if (!session) throw RequestError.sessionNotFound(sessionId);
    return session;
  }

  /** Opens a session that is new. @throws RequestError */
  async create(request: SessionRequest): Promise<AcpSession> {
    return this.#open(request, async () => true);
  }

  /**
   * Opens a stored session, in place of one that is open already.
   *
   * @param prepare - what to do before the session counts as open
   * @throws RequestError when there is none
   */
  async restore(
    request: SessionRequest,
    prepare: (session: AcpSession) => Promise<void>,
  ): Promise<AcpSession> {
    await this.close(request.sessionId);
    return this.#open(request, async (session) => {
      if (!(await session.restore())) return false;
      await prepare(session);
      return true;
    });
  }

  /** Closes a session; resolves to false when it is not open. */
  async close(sessionId: string): Promise<boolean> {
    const session = this.#sessions.get(sessionId);
    this.#sessions.delete(sessionId);
    await session?.close();
    return session !== undefined;
  }

  /** Returns an agent that is bound to no session. */
  async librarian(): Promise<SessionAgent["agent"]> {
    this.#librarian ??= Promise.resolve(
      this.#settings.agentFor(
        editorSession(this.#client, {
          ...{ sessionId: "-", cwd: homedir(), mcpServers: [] },
          timeoutMs: this.#settings.requestTimeoutMs,
        }),
      ),
    );
    // The next request tries again.
    this.#librarian.catch(() => {
      this.#librarian = null;
    });
    return (await this.#librarian).agent;
  }

  /** Closes all agents. */
  async closeAll(): Promise<void> {
    this.#isClosed = true;
    const librarian = await this.#librarian?.catch(() => null);
    const ended = await Promise.allSettled([
      ...[...this.#sessions.keys()].map((id) => this.close(id)),
      librarian?.close?.(),
    ]);
    for (const end of ended)
      if (end.status === "rejected") this.#settings.onError(end.reason as unknown);
  }

  async #open(
    { sessionId, cwd, mcpServers = [] }: SessionRequest,
    prepare: (session: AcpSession) => Promise<boolean>,
  ): Promise<AcpSession> {
    const { maxSessions, requestTimeoutMs: timeoutMs, agentFor } = this.#settings;
    if (!isAbsolute(cwd)) throw RequestError.invalidParams({ cwd }, "cwd must be an absolute path");
    if (this.#sessions.size + this.#opening >= maxSessions)
      throw RequestError.invalidRequest(
        { maxSessions },
        `${maxSessions} sessions are open already; close one first`,
      );
    this.#opening++;
    try {
      const editor = editorSession(this.#client, { sessionId, cwd, mcpServers, timeoutMs });
      const made = await agentFor(editor);
      const session = new AcpSession({
        ...{ id: sessionId, cwd, client: this.#client, settings: this.#settings, made },
      });
      const isThere = await prepare(session).catch(async (error: unknown) => {
        await session.close();
        throw error;
      });
      if (!isThere || this.#isClosed) {
        await session.close();
        throw RequestError.sessionNotFound(sessionId);
      }
      // Another request may have opened it meanwhile.
      const before = this.#sessions.get(sessionId);
      this.#sessions.set(sessionId, session);
      await before?.close();
      return session;
    } finally {
      this.#opening--;
    }
  }
}
