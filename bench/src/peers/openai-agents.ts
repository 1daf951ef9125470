import { open, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { answerText, questionText } from "../stores/sample-turn.js";
import type { Peer } from "./peer.js";

type Item = object;

interface AgentsModule {
  readonly Agent: new (options: object) => object;
  readonly Runner: new (
    options: object,
  ) => {
    run(agent: object, input: string, options: { readonly session: object }): Promise<unknown>;
  };
  readonly Usage: new () => object;
  readonly assistant: (text: string) => Item;
  readonly user: (text: string) => Item;
}

/** OpenAI Agents with a session in a file of JSON lines; the package has one in memory alone, so this is ours. */
export const openaiAgents: Peer = {
  name: "OpenAI Agents",
  store: "file",
  packages: ["@openai/agents@0.20.0", "zod@4.6.7"],
  async open({ load, directory }) {
    const { Agent, Runner, Usage, assistant, user } = await load<AgentsModule>("@openai/agents");
    const model = {
      getResponse: async () => ({ usage: new Usage(), output: [assistant(answerText)] }),
      getStreamedResponse() {
        throw new Error("not used");
      },
    };
    const agent = new Agent({ name: "bench", instructions: "", model });
    const runner = new Runner({ tracingDisabled: true });
    const path = (sessionId: string) => join(directory, `${sessionId}.jsonl`);
    return {
      async seed(sessionId, messages) {
        const history = Array.from({ length: messages }, (_, n) =>
          n % 2 === 0 ? user(questionText) : assistant(answerText),
        );
        await writeFile(path(sessionId), linesOf(history));
      },
      async turn(sessionId) {
        const session = new FileSession(sessionId, path(sessionId));
        await runner.run(agent, questionText, { session });
      },
    };
  },
};

/** The least that the SDK's interface `Session` needs: read all lines, append and sync. */
class FileSession {
  readonly #id: string;
  readonly #path: string;

  constructor(id: string, path: string) {
    this.#id = id;
    this.#path = path;
  }

  async getSessionId(): Promise<string> {
    return this.#id;
  }

  async getItems(limit?: number): Promise<Item[]> {
    const text = await readFile(this.#path, "utf8").catch(() => "");
    const lines = text.split("\n").filter((line) => line !== "");
    const wanted = limit === undefined ? lines : lines.slice(-limit);
    return wanted.map((line) => JSON.parse(line) as Item);
  }

  async addItems(items: readonly Item[]): Promise<void> {
    const file = await open(this.#path, "a");
    try {
      await file.appendFile(linesOf(items));
      await file.datasync();
    } finally {
      await file.close();
    }
  }

  async popItem(): Promise<Item | undefined> {
    const items = await this.getItems();
    const last = items.pop();
    await writeFile(this.#path, linesOf(items));
    return last;
  }

  async clearSession(): Promise<void> {
    await rm(this.#path, { force: true });
  }
}

function linesOf(items: readonly Item[]): string {
  return items.map((item) => `${JSON.stringify(item)}\n`).join("");
}
