import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import {
  type ClientCapabilities,
  type ClientConnection,
  type ClientContext,
  type CreateElicitationRequest,
  type CreateElicitationResponse,
  client,
  type InitializeResponse,
  methods,
  PROTOCOL_VERSION,
  RequestError,
  type RequestPermissionOutcome,
  type RequestPermissionRequest,
  type SessionNotification,
  type SessionUpdate,
  type Stream,
  type TerminalExitStatus,
} from "@agentclientprotocol/sdk";
import { eventually } from "@holdfast/testing";

/** Behaviour of a {@link TestEditor}. */
export interface TestEditorOptions {
  readonly capabilities?: ClientCapabilities;
  /** Answers a permission request. @default never */
  readonly answer?: (
    request: RequestPermissionRequest,
    signal: AbortSignal,
  ) => RequestPermissionOutcome | Promise<RequestPermissionOutcome>;
  /** Open buffers, by absolute path; a write to any other file is refused. */
  readonly buffers?: Map<string, string>;
  readonly elicit?: (request: CreateElicitationRequest) => CreateElicitationResponse;
  /** Slows the editor down: called for every update before the next is read. */
  readonly onUpdate?: (update: SessionUpdate) => void | Promise<void>;
}

/** Kind of a session update. */
type Kind = SessionUpdate["sessionUpdate"];

interface Terminal {
  readonly child: ChildProcess;
  readonly ended: Promise<TerminalExitStatus>;
  output: string;
}

/** Returns two streams that are each other's other end. */
export function streamPair(): readonly [Stream, Stream] {
  const [one, other] = [new TransformStream(), new TransformStream()];
  return [
    { readable: one.readable, writable: other.writable },
    { readable: other.readable, writable: one.writable },
  ];
}

/** An editor: the SDK's own client, with files in buffers and real processes in its terminals. */
export class TestEditor {
  readonly connection: ClientConnection;
  readonly notifications: SessionNotification[] = [];
  readonly asked: RequestPermissionRequest[] = [];
  /** Paths of files that were read through the editor. */
  readonly reads: string[] = [];
  /** Terminals that were not released. */
  readonly terminals = new Map<string, Terminal>();
  readonly #options: TestEditorOptions;
  #terminals = 0;

  constructor(stream: Stream, options: TestEditorOptions = {}) {
    this.#options = options;
    const app = client({ name: "test editor" })
      .onNotification(methods.client.session.update, async ({ params }) => {
        this.notifications.push(params);
        await options.onUpdate?.(params.update);
      })
      .onRequest(methods.client.session.requestPermission, async ({ params, signal }) => {
        this.asked.push(params);
        const never = new Promise<RequestPermissionOutcome>(() => undefined);
        return { outcome: await (options.answer?.(params, signal) ?? never) };
      });
    const { buffers } = options;
    if (buffers)
      app
        .onRequest(methods.client.fs.readTextFile, ({ params: { path } }) => {
          this.reads.push(path);
          const content = buffers.get(path);
          if (content === undefined) throw RequestError.resourceNotFound(path);
          return { content };
        })
        .onRequest(methods.client.fs.writeTextFile, ({ params: { path, content } }) => {
          if (!buffers.has(path)) throw RequestError.resourceNotFound(path);
          buffers.set(path, content);
        });
    const { elicit } = options;
    if (elicit) app.onRequest(methods.client.elicitation.create, ({ params }) => elicit(params));
    this.#addTerminals(app);
    this.connection = app.connect(stream);
  }

  get agent(): ClientContext {
    return this.connection.agent;
  }

  initialize(): Promise<InitializeResponse> {
    const { capabilities: clientCapabilities = {} } = this.#options;
    return this.agent.request(methods.agent.initialize, {
      protocolVersion: PROTOCOL_VERSION,
      clientCapabilities,
    });
  }

  /** Opens a session and returns its id. */
  async open(cwd: string): Promise<string> {
    const { sessionId } = await this.agent.request(methods.agent.session.new, {
      cwd,
      mcpServers: [],
    });
    return sessionId;
  }

  /** Sends a prompt and returns why it stopped. */
  async prompt(sessionId: string, text: string): Promise<string> {
    const { stopReason } = await this.agent.request(methods.agent.session.prompt, {
      sessionId,
      prompt: [{ type: "text", text }],
    });
    return stopReason;
  }

  cancel(sessionId: string): Promise<void> {
    return this.agent.notify(methods.agent.session.cancel, { sessionId });
  }

  /** Returns the updates of one kind. */
  updates<K extends Kind>(kind: K): Extract<SessionUpdate, { sessionUpdate: K }>[] {
    return this.notifications
      .map(({ update }) => update)
      .filter((update) => update.sessionUpdate === kind) as never;
  }

  /** Returns all that the agent, or the user, was shown to say. */
  text(kind: "agent_message_chunk" | "user_message_chunk" = "agent_message_chunk"): string {
    return this.updates(kind)
      .map(({ content }) => (content.type === "text" ? content.text : `[${content.type}]`))
      .join("");
  }

  /** Waits until the agent was shown to say something. */
  async says(text: string): Promise<void> {
    await eventually(() => this.text().includes(text), { what: `saying ${JSON.stringify(text)}` });
  }

  /** Waits for a permission request: the first one, or the one with this number. */
  async isAsked(count = 1): Promise<RequestPermissionRequest> {
    await eventually(() => this.asked.length >= count, { what: "asking" });
    return this.asked[count - 1] as RequestPermissionRequest;
  }

  #addTerminals(app: ReturnType<typeof client>): void {
    const { terminal } = methods.client;
    const found = (id: string): Terminal => {
      const known = this.terminals.get(id);
      if (!known) throw RequestError.resourceNotFound(id);
      return known;
    };
    app
      .onRequest(terminal.create, ({ params: { command, args = [], cwd } }) => {
        const child = spawn(command, args, { cwd: cwd ?? undefined });
        const ended = once(child, "close").then(([exitCode, signal]) => ({ exitCode, signal }));
        const made: Terminal = { child, ended, output: "" };
        for (const stream of [child.stdout, child.stderr])
          stream.setEncoding("utf8").on("data", (text: string) => {
            made.output += text;
          });
        const terminalId = `terminal-${++this.#terminals}`;
        this.terminals.set(terminalId, made);
        return { terminalId };
      })
      .onRequest(terminal.waitForExit, ({ params }) => found(params.terminalId).ended)
      .onRequest(terminal.output, async ({ params }) => {
        const { child, ended, output } = found(params.terminalId);
        const hasEnded = child.exitCode !== null || child.signalCode !== null;
        return { output, truncated: false, ...(hasEnded && { exitStatus: await ended }) };
      })
      .onRequest(terminal.kill, ({ params }) => {
        found(params.terminalId).child.kill("SIGKILL");
      })
      .onRequest(terminal.release, ({ params }) => {
        found(params.terminalId).child.kill("SIGKILL");
        this.terminals.delete(params.terminalId);
      });
  }
}

/** Chooses an option by its id. */
export function choose(optionId: string, reason?: string): RequestPermissionOutcome {
  return { outcome: "selected", optionId, ...(reason !== undefined && { _meta: { reason } }) };
}
