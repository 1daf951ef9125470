import { randomUUID } from "node:crypto";
import { join } from "node:path";
import { answerText, questionText } from "../stores/sample-turn.js";
import type { Peer } from "./peer.js";

interface MastraMemory {
  createThread(thread: {
    readonly threadId: string;
    readonly resourceId: string;
  }): Promise<unknown>;
  saveMessages(args: { readonly messages: readonly object[] }): Promise<unknown>;
}

interface AgentModule {
  readonly Agent: new (
    options: object,
  ) => {
    generate(
      text: string,
      options: { readonly memory: { readonly thread: string; readonly resource: string } },
    ): Promise<unknown>;
  };
}

interface MemoryModule {
  readonly Memory: new (options: object) => MastraMemory;
}

interface LibsqlModule {
  readonly LibSQLStore: new (options: { readonly id: string; readonly url: string }) => object;
}

const resource = "user";

/** Mastra with memory in a libSQL file. By default its model sees the last 10 messages only, whatever the session holds. */
export const mastra: Peer = {
  name: "Mastra (last 10 messages)",
  store: "libsql",
  packages: ["@mastra/core@1.71.0", "@mastra/memory@1.31.0", "@mastra/libsql@1.23.1"],
  async open({ load, directory }) {
    const { Agent } = await load<AgentModule>("@mastra/core/agent");
    const { Memory } = await load<MemoryModule>("@mastra/memory");
    const { LibSQLStore } = await load<LibsqlModule>("@mastra/libsql");
    const storage = new LibSQLStore({ id: "bench", url: `file:${join(directory, "bench.db")}` });
    const memory = new Memory({ storage });
    const agent = new Agent({ id: "bench", name: "bench", instructions: "", model, memory });
    return {
      async seed(sessionId, messages) {
        await memory.createThread({ threadId: sessionId, resourceId: resource });
        await memory.saveMessages({ messages: historyOf(sessionId, messages) });
      },
      async turn(sessionId) {
        await agent.generate(questionText, { memory: { thread: sessionId, resource } });
      },
    };
  },
};

/** Model as the AI SDK specifies it. */
const model = {
  specificationVersion: "v2",
  provider: "bench",
  modelId: "reply",
  supportedUrls: {},
  doGenerate: async () => ({
    content: [{ type: "text", text: answerText }],
    finishReason: "stop",
    usage,
    warnings: [],
  }),
  doStream: async () => ({ stream: ReadableStream.from(streamed()) }),
};

const usage = { inputTokens: 1_000, outputTokens: 100, totalTokens: 1_100 };

function* streamed(): Generator<object> {
  yield { type: "stream-start", warnings: [] };
  yield { type: "text-start", id: "1" };
  yield { type: "text-delta", id: "1", delta: answerText };
  yield { type: "text-end", id: "1" };
  yield { type: "finish", finishReason: "stop", usage };
}

function historyOf(threadId: string, messages: number): object[] {
  const began = Date.now() - messages;
  return Array.from({ length: messages }, (_, n) => ({
    id: randomUUID(),
    role: n % 2 === 0 ? "user" : "assistant",
    createdAt: new Date(began + n),
    threadId,
    resourceId: resource,
    content: {
      format: 2,
      parts: [{ type: "text", text: n % 2 === 0 ? questionText : answerText }],
    },
  }));
}
