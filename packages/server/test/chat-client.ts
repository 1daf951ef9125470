import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { onTestFinished } from "vitest";
import type { AiSdkVersion } from "../src/ai-sdk/ui-chunk.js";
import type { UiMessage } from "../src/ai-sdk/ui-message.js";
import type { Handler } from "../src/http/endpoint.js";
import { nodeListener } from "../src/node-listener.js";
import { clients } from "./ai-sdk-clients.js";

/** Serves a handler over HTTP until the test is over. */
export async function serve(handler: Handler): Promise<string> {
  const server = createServer(nodeListener(handler));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

/** The AI SDK's chat, as much of it as the tests use. */
export interface Chat {
  readonly messages: readonly UiMessage[];
  readonly status: string;
  readonly error: Error | undefined;
  sendMessage(message?: { text: string }, options?: { body?: object }): Promise<void>;
  regenerate(): Promise<void>;
  resumeStream(): Promise<void>;
  stop(): Promise<void>;
  addToolApprovalResponse(answer: {
    id: string;
    approved: boolean;
    reason?: string;
    options?: { body?: object };
  }): Promise<void>;
  addToolResult(result: { tool: string; toolCallId: string; output: unknown }): Promise<void>;
}

/** Options of {@link openChat}. */
export interface ChatOptions {
  readonly version?: AiSdkVersion;
  readonly user?: string;
  readonly id?: string;
  readonly messages?: readonly UiMessage[];
  /** Path that a stream is resumed at, behind that of the session. @default "/stream" */
  readonly resumeAt?: string;
  onData?(part: { readonly type: string; readonly data: unknown }): void;
}

/** Opens a chat of the AI SDK itself against a server. */
export function openChat(url: string, options: ChatOptions = {}): Chat {
  const { version = 6, user = "alice", id = "trip", messages = [], resumeAt } = options;
  const sdk = clients[version] as unknown as {
    readonly AbstractChat: new (options: object) => Chat;
    readonly DefaultChatTransport: new (options: object) => object;
    readonly lastAssistantMessageIsCompleteWithApprovalResponses?: unknown;
  };
  return new sdk.AbstractChat({
    id,
    transport: new sdk.DefaultChatTransport({
      api: `${url}/api/chat`,
      headers: { authorization: user },
      ...(resumeAt !== undefined && {
        prepareReconnectToStreamRequest: ({ api, headers }: { api: string; headers: object }) => ({
          api: `${api}/${id}${resumeAt}`,
          headers,
        }),
      }),
    }),
    state: new ChatState([...messages]),
    sendAutomaticallyWhen: sdk.lastAssistantMessageIsCompleteWithApprovalResponses,
    onData: options.onData,
  });
}

/** What a page keeps for the chat. */
class ChatState {
  status = "ready";
  error: Error | undefined;
  messages: UiMessage[];

  constructor(messages: UiMessage[]) {
    this.messages = messages;
  }

  pushMessage = (message: UiMessage): void => {
    this.messages = [...this.messages, message];
  };

  popMessage = (): void => {
    this.messages = this.messages.slice(0, -1);
  };

  replaceMessage = (index: number, message: UiMessage): void => {
    this.messages = this.messages.map((one, at) => (at === index ? this.snapshot(message) : one));
  };

  snapshot = <T>(value: T): T => structuredClone(value);
}

/** Returns a value as JSON has it: without fields that are undefined. */
export function plain<T>(value: T): T {
  return JSON.parse(JSON.stringify(value)) as T;
}
