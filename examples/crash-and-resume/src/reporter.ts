import { type ModelRequest, tool, toolResultsOf } from "@holdfast/core";
import { HarnessAgent } from "@holdfast/harness";
import { type ScriptedModel, type ScriptedReply, scriptedModel } from "@holdfast/testing";
import { z } from "zod";

/** Message of the model's request, as it is printed. */
export interface ShownMessage {
  readonly role: string;
  readonly text: string;
}

/** Message from the reporter's process to its parent. */
export type ReporterMessage =
  | { readonly type: "progress"; readonly text: string }
  /** The tool that never ends has begun: the process can be killed now. */
  | { readonly type: "writing" }
  | { readonly type: "shown"; readonly messages: readonly ShownMessage[] }
  | { readonly type: "reply"; readonly text: string };

/** Creates an agent that saves after every step; its second tool never finishes when `stuck`. */
export function reporter(options: {
  readonly workspace: string;
  readonly stuck: boolean;
  send(news: ReporterMessage): void;
}): { readonly agent: HarnessAgent; readonly model: ScriptedModel } {
  const { send, stuck, workspace } = options;
  const model = scriptedModel(report);
  const collect = tool({
    name: "collect_figures",
    description: "Collects the figures of the quarter.",
    input: z.object({}),
    execute() {
      send({ type: "progress", text: "collect_figures done: revenue 120, costs 80" });
      return "revenue 120, costs 80";
    },
  });
  const write = tool({
    name: "write_report",
    description: "Writes the report.",
    input: z.object({ profit: z.number() }),
    async execute({ profit }) {
      send({ type: "progress", text: `write_report({ profit: ${profit} }) is running` });
      if (stuck) {
        send({ type: "writing" });
        await new Promise(() => {});
      }
      return `report.pdf, profit ${profit}`;
    },
  });
  const agent = HarnessAgent.builder()
    .name("reporter")
    .model(model)
    .workspace(workspace)
    .tools(collect, write)
    .persistence("step")
    .onEvent((event) => {
      if (event.type === "state_saved")
        send({ type: "progress", text: event.final ? "saved" : "step saved" });
    })
    .build();
  return { agent, model };
}

/** Stands in for a model: decides by the request alone. */
function report(request: ModelRequest): ScriptedReply {
  const results = request.messages.flatMap(toolResultsOf);
  const figures = results.find(({ name }) => name === "collect_figures");
  const written = results.filter(({ name }) => name === "write_report").at(-1);
  if (!figures) return { toolCalls: [{ name: "collect_figures", input: {} }] };
  if (written?.state === "success") return "The report is written. The figures were still there.";
  return {
    text: written ? "Writing was cut off and I cannot know how far it got, so I do it again." : "",
    toolCalls: [{ name: "write_report", input: { profit: 40 } }],
  };
}
