import type { AgentStateStore, DistributedStore, Model } from "@holdfast/core";
import { HarnessAgent } from "@holdfast/harness";
import type { NodeOptions } from "./node-place.js";
import { answerText, questionText } from "./sample-turn.js";

/** Model that answers at once with the same text. It does not look at the request: its time would grow with the history. */
const replyModel: Model = {
  id: "reply",
  async *stream() {
    yield { type: "text_delta", text: answerText };
    yield { type: "finish", reason: "stop", usage: { inputTokens: 1_000, outputTokens: 100 } };
  },
};

/** Parts of a node. */
export interface AgentNodeOptions extends NodeOptions {
  readonly workspace: string;
  readonly stateStore?: AgentStateStore | undefined;
  readonly distributedStore?: DistributedStore | undefined;
  /** Ends the store and its connections. */
  readonly closeStore: () => Promise<void>;
}

/** A harness agent with its defaults, caches of its own and connections of its own, as one process of a fleet has. */
export class AgentNode {
  readonly #agent: HarnessAgent;
  readonly #closeStore: () => Promise<void>;

  constructor({ model, workspace, stateStore, distributedStore, closeStore }: AgentNodeOptions) {
    this.#agent = HarnessAgent.create({
      name: "bench",
      model: model ?? replyModel,
      workspace,
      ...(stateStore && { stateStore }),
      ...(distributedStore && { distributedStore }),
    });
    this.#closeStore = closeStore;
  }

  /** Takes one turn on a session. */
  async turn(sessionId: string): Promise<void> {
    await this.#agent.call(questionText, { userId: "user", sessionId });
  }

  async close(): Promise<void> {
    await this.#agent.close();
    await this.#closeStore();
  }
}
