import { characterEstimate, definePlugin, type Plugin } from "@holdfast/core";
import type { CompactionOptions } from "./compaction-options.js";
import { ContextCompactor } from "./compactor/context-compactor.js";
import { TokenMeter } from "./context-tokens.js";

/**
 * Keeps the context inside the model's window: before each model call, on `agent.compact`, and after the model has refused
 * a request as too long.
 *
 * @throws ConfigurationError
 * @example
 * const agent = new ReActAgent({ name: "a", model, plugins: [compaction({ triggerMessages: 30, keepMessages: 10 })] });
 */
export function compaction(options: CompactionOptions = {}): Plugin {
  // Made only to check the options, so that a mistake is reported where they are written.
  new ContextCompactor(options, {
    meter: () => new TokenMeter(characterEstimate()),
    offloader: () => undefined,
  });
  return definePlugin({
    name: "compaction",
    contract: 1,
    setup(host) {
      const counter = host.optional("tokenCounter");
      let made: TokenMeter | undefined;
      const meter = (): TokenMeter => {
        made ??= new TokenMeter(counter() ?? characterEstimate());
        return made;
      };
      host.provide(
        "compactor",
        new ContextCompactor(options, { meter, offloader: host.optional("offloader") }),
      );
    },
  });
}
