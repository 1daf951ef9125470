import {
  characterEstimate,
  definePlugin,
  type Offloader,
  type Plugin,
  type ToolCallStep,
  type ToolResultBlock,
} from "@holdfast/core";
import { reasonOf } from "@holdfast/core/plugin-kit";
import { describeSlot } from "@holdfast/core/store-kit";
import { type EvictedResult, type EvictionInput, evictResult, MAX_NOTES } from "./evict-result.js";
import { evictionOf } from "./eviction-metadata.js";
import {
  type EvictionOptions,
  type EvictionSettings,
  excluder,
  NOTICE_CHARS,
  readOptions,
} from "./eviction-options.js";
import { isOver, sizeOf, textSizeOf } from "./result-size.js";
import { OffloaderTimeout, withinTime } from "./within-time.js";

const advice =
  'use a workspace, pass an offloader, or set onMissingOffloader: "truncate" to keep only head and tail';

/** The part of an offloader that evictions use. */
type ResultOffloader = Pick<Offloader, "offloadToolResult" | "offloadData" | "readBackTool">;

/** Reference of results that only the conversation log has in full. */
const LOG_REFERENCE = "conversation log";

/** Used if there is no offloader: the engine logs every original, so the text may be cut. */
const logOnly: ResultOffloader = {
  async offloadToolResult() {
    return {
      reference: LOG_REFERENCE,
      readBack:
        "The rest is kept in the conversation log only: session_history or session_search show it where you have them; otherwise call the tool again with a narrower request.",
    };
  },
};

/**
 * Keeps large tool results out of the context: the whole goes to the agent's `Offloader`; a preview that says how to read
 * it back stays.
 *
 * - A result that cannot be offloaded stays as it is, and an `error` event with the code `EVICTION_FAILED` says so.
 * - Data blocks stay or go through `offloadData`; they are never dropped.
 * - Needs an `Offloader` (a workspace brings one) unless `onMissingOffloader` is `"truncate"`.
 *
 * @throws ConfigurationError for invalid options
 * @example
 * new ReActAgent({ name, model, tools, offloader, plugins: [toolResultEviction({ maxResultChars: 40_000 })] });
 */
export function toolResultEviction(options: EvictionOptions = {}): Plugin {
  const settings = readOptions(options);
  const isExcluded = excluder(settings.exclude);
  return definePlugin({
    name: "eviction",
    contract: 1,
    setup(host) {
      if (settings.onMissingOffloader === "error") host.require("offloader", advice);
      const offloaderIfAny = host.optional("offloader");
      const tokenCounterIfAny = host.optional("tokenCounter");
      const estimate = characterEstimate();
      const counter = () => tokenCounterIfAny() ?? estimate;

      /** Returns the result to replace it with; null if it stays. */
      async function evict(
        step: ToolCallStep,
        result: ToolResultBlock,
      ): Promise<EvictedResult | null> {
        const offloader: ResultOffloader = offloaderIfAny() ?? logOnly;
        const { name } = step.call;
        if (name === offloader.readBackTool?.name || isExcluded(name)) return null;
        if (wasEvicted(result, settings)) return null;
        if (!isOver(result.output, settings, counter)) return null;
        return withinTime(settings.timeoutMs, step.signal, (gaveUp) => {
          const input: EvictionInput = { slot: step.slot, settings, offloader, counter, gaveUp };
          return evictResult(result, input);
        });
      }

      host.use({
        name: "eviction",
        async onToolResult(original, step) {
          let evicted: EvictedResult | null;
          try {
            evicted = await evict(step, original);
          } catch (error) {
            // An eviction that ends because its call is being stopped has not failed. The error is not rethrown either: the
            // engine would then restore the originals of all parallel calls, including the evicted ones.
            if (!step.signal.aborted) step.emit(failureEvent(step, error));
            return original;
          }
          if (evicted === null) return original;
          const { result, eviction, sha256 } = evicted;
          const { toolCallId, name } = result;
          const { reference, chars, data } = eviction;
          step.emit({ type: "tool_result_evicted", toolCallId, name, chars, reference });
          step.mark({
            name: "eviction",
            details: {
              ...{ callId: toolCallId, name, reference, chars },
              ...(data && { data }),
              ...(sha256 !== null && { sha256 }),
            },
          });
          return result;
        },
      });
    },
  });
}

/** Tells whether a result was evicted before. The metadata alone does not prove it: tools write metadata too. */
function wasEvicted(result: ToolResultBlock, settings: EvictionSettings): boolean {
  const before = evictionOf(result);
  if (before === null || sizeOf(result.output) >= before.chars) return false;
  const preview = 2 * settings.previewChars + (MAX_NOTES + 2) * NOTICE_CHARS;
  return textSizeOf(result.output) <= Math.max(settings.maxResultChars, preview);
}

function failureEvent(
  { slot, call }: ToolCallStep,
  error: unknown,
): { readonly type: "error"; readonly code: string; readonly message: string } {
  return {
    type: "error",
    code: "EVICTION_FAILED",
    message: `the result of tool "${call.name}", call ${JSON.stringify(call.id)} of ${describeSlot(slot)}, could not be offloaded and stays in the context as it is: ${error instanceof OffloaderTimeout ? error.message : reasonOf(error)}`,
  };
}
