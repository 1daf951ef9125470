import {
  characterEstimate,
  definePlugin,
  type Plugin,
  type TokenCounter,
  type Tool,
  type ToolSchema,
} from "@holdfast/core";
import { jsonSchemaOf } from "@holdfast/core/plugin-kit";

/** Tokens of a request, by part; their sum is that of the whole. */
export interface RequestParts {
  readonly system: number;
  readonly tools: number;
  readonly messages: number;
}

/** Knows the parts of a request that are not messages: the system prompt and the tools that the model was last offered. */
export class RequestWatch {
  #system = "";
  #tools: readonly ToolSchema[] | null = null;
  #known: readonly Tool[] = [];
  #counter: () => TokenCounter | undefined = () => undefined;

  /** Plugin that watches the agent. */
  readonly plugin: Plugin = definePlugin({
    name: "cli-requests",
    contract: 1,
    setup: (host) => {
      this.#counter = host.optional("tokenCounter");
      host.onBuild(({ tools }) => {
        this.#known = tools;
        return [];
      });
      host.use({
        name: "cli-requests",
        onSystemPrompt: (prompt, { slot }) => {
          // Agents that work for this one have prompts of their own.
          if (slot.agentId === host.agent.agentId) this.#system = prompt;
          return prompt;
        },
        onModelCall: (step, next) => {
          if (step.purpose === "reasoning" && step.slot.agentId === host.agent.agentId)
            this.#tools = step.request.tools;
          return next();
        },
      });
    },
  });

  /**
   * Divides the tokens of a whole request among its parts, as a token counter sees their sizes.
   *
   * @param total - tokens of the request, as the compactor counts them
   */
  parts(total: number, messages: Parameters<TokenCounter["countMessages"]>[0]): RequestParts {
    const counter = this.#counter() ?? characterEstimate();
    const said = counter.countMessages(messages);
    const system = counter.countText(this.#system);
    const tools = counter.countTools(this.#tools ?? this.#known.map(schemaOf));
    // A provider may count in another way; the shares are the same, and what rounding leaves goes to the messages.
    const scale = total / Math.max(1, said + system + tools);
    const shares = { system: Math.round(system * scale), tools: Math.round(tools * scale) };
    return { ...shares, messages: Math.max(0, total - shares.system - shares.tools) };
  }
}

function schemaOf({ name, description, input }: Tool): ToolSchema {
  return { name, description, inputSchema: jsonSchemaOf(input, `tool ${name}`) };
}
