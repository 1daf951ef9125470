import { definePlugin, type Plugin, type PluginHost } from "@holdfast/core";
import { BackgroundSpans } from "./background/background-spans.js";
import { CallTrace } from "./call/call-trace.js";
import { currentCall, outsideCalls, withinCall } from "./call/current-call.js";
import { traceTool } from "./call/trace-tool.js";
import { traceStream } from "./chat-span.js";
import { type OtelOptions, type OtelSettings, readOptions } from "./otel-options.js";
import { Telemetry } from "./telemetry.js";

/**
 * Records traces and metrics of an agent with OpenTelemetry's conventions for generative AI.
 *
 * - Uses the SDK that the program registers; without one it does next to nothing.
 * - Records contents and user ids only on request, and never ids in metrics.
 *
 * @throws ConfigurationError for invalid options
 * @example
 * HarnessAgent.builder().name("assistant").model(model).use(otel()).build();
 */
export function otel(options: OtelOptions = {}): Plugin {
  const settings = readOptions(options);
  return definePlugin({ name: "otel", contract: 1, setup: (host) => setUp(host, settings) });
}

function setUp(host: PluginHost, settings: OtelSettings): void {
  const telemetry = new Telemetry(settings, host.agent);
  const background = new BackgroundSpans(telemetry);
  const model = host.optional("model");
  host.observe((event) => background.observe(event));
  host.onClose(() => background.close());
  host.use({
    name: "otel",
    async onRun(step, next) {
      const call = new CallTrace(telemetry, step, model()?.id);
      if (!call.isTraced && !telemetry.isMeasured) return outsideCalls(next);
      background.rememberCall(step.slot, call.span.spanContext());
      step.observe((event) => call.observe(event));
      try {
        const reply = await withinCall(call, next);
        call.replied(reply);
        return reply;
      } catch (error) {
        call.threw(error);
        throw error;
      }
    },
    onCall(step, next) {
      currentCall(telemetry)?.entered(step);
      return next();
    },
    onModelCall(step, next) {
      const chat = currentCall(telemetry)?.work.chat(step.requestId);
      return chat ? traceStream(chat, step, next) : next();
    },
    onToolCall(step, next) {
      const call = currentCall(telemetry);
      return call ? traceTool(call, step, next) : next();
    },
  });
}
