import { characterEstimate, definePlugin, type Plugin } from "@holdfast/core";
import type { CompactionOptions } from "./compaction-options.js";
import { TokenMeter } from "./context-tokens.js";
import { Ladder } from "./ladder/ladder.js";

/**
 * Keeps the context inside the model's window: before each model call, on `agent.compact`, and after the model refused a
 * request as too long.
 *
 * @throws ConfigurationError
 * @example
 * const agent = new ReActAgent({ name: "a", model, plugins: [compaction({ triggerMessages: 30, keepMessages: 10 })] });
 */
export function compaction(options: CompactionOptions = {}): Plugin {
  // Made once for nothing, so that what is wrong is said where the options are written.
  new Ladder(options, {
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
        new Ladder(options, { meter, offloader: host.optional("offloader") }),
      );
    },
  });
}
