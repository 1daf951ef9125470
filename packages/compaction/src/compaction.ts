import { characterEstimate, definePlugin, type Plugin } from "@holdfast/core";
import { type CompactionOptions, readCompactionOptions } from "./compaction-options.js";
import { ContextCompactor, configurationOf } from "./compactor/context-compactor.js";
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
  // So that a mistake is reported where the options are written.
  configurationOf(readCompactionOptions(options));
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
        new ContextCompactor(options, {
          ask: (question) => host.askModel(question),
          meter,
          offloader: host.optional("offloader"),
        }),
      );
    },
  });
}
