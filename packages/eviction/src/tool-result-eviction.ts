import {
  characterEstimate,
  definePlugin,
  HoldfastError,
  type Offloader,
  type Plugin,
  type ToolCallStep,
  type ToolResultBlock,
} from "@holdfast/core";
import { describeSlot } from "@holdfast/core/store-kit";
import { type EvictedResult, type EvictionMeans, evictResult, MAX_NOTES } from "./evict-result.js";
import { evictionOf } from "./eviction-metadata.js";
import {
  type EvictionOptions,
  type EvictionSettings,
  NOTICE_CHARS,
  readOptions,
} from "./eviction-options.js";
import { excluder } from "./excluded-tools.js";
import { logOnly } from "./log-only.js";
import { isOver, sizeOf, textSizeOf } from "./result-size.js";
import { OffloaderTooSlow, withinTime } from "./within-time.js";

const advice =
  'use a workspace, pass an offloader, or set onMissingOffloader: "truncate" to keep only head and tail';

/**
 * Keeps large tool results out of the context: the whole goes to the agent's `Offloader`, a preview with the way back
 * stays.
 *
 * - A result that cannot be offloaded stays as it is, and an `error` event with the code `EVICTION_FAILED` says so.
 * - Data blocks stay or go through `offloadData`; they are never dropped.
 * - Needs an `Offloader` (a workspace brings one) unless `onMissingOffloader` is `"truncate"`.
 *
 * @throws ConfigurationError for options that are wrong
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

      /** The result that takes its place; null when it stays. */
      async function evict(
        step: ToolCallStep,
        result: ToolResultBlock,
      ): Promise<EvictedResult | null> {
        const offloader: Pick<Offloader, "offloadToolResult" | "offloadData" | "readBackTool"> =
          offloaderIfAny() ?? logOnly;
        const { name } = step.call;
        if (name === offloader.readBackTool?.name || isExcluded(name)) return null;
        if (wasEvicted(result, settings)) return null;
        if (!isOver(result.output, settings, counter)) return null;
        return withinTime(settings.timeoutMs, step.signal, (gaveUp) => {
          const means: EvictionMeans = { slot: step.slot, settings, offloader, counter, gaveUp };
          return evictResult(result, means);
        });
      }

      host.use({
        name: "eviction",
        async onToolResult(original, step) {
          let evicted: EvictedResult | null;
          try {
            evicted = await evict(step, original);
          } catch (error) {
            // A call that is being stopped did not fail at this. Nor is it thrown on: the engine would then put the
            // originals of all parallel calls back, those that were evicted too.
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

/** Whether a result is what an eviction left. The mark alone does not make it small: tools write metadata too. */
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
    message: `the result of tool "${call.name}", call ${JSON.stringify(call.id)} of ${describeSlot(slot)}, could not be offloaded and stays in the context as it is: ${reasonOf(error)}`,
  };
}

/** Why it failed. Of a foreign error only its code or name: its message may quote what was to be written. */
function reasonOf(error: unknown): string {
  if (HoldfastError.is(error) || error instanceof OffloaderTooSlow) return error.message;
  if (!(error instanceof Error)) return "the offloader threw something that is not an error";
  const code: unknown = "code" in error ? error.code : undefined;
  return typeof code === "string" ? `${error.name} ${code}` : error.name;
}
