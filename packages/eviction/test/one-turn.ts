import {
  type AgentEvent,
  type AgentState,
  InMemoryAgentStateStore,
  type LogRecord,
  type Offloader,
  ReActAgent,
  type ReActAgentOptions,
  type Tool,
  type ToolResultBlock,
  tool,
  toolResultsOf,
} from "@holdfast/core";
import { withBlobs } from "@holdfast/core/store-kit";
import { type EvictionOptions, toolResultEviction } from "@holdfast/eviction";
import { type ScriptedModel, scriptedModel } from "@holdfast/testing";
import { z } from "zod";

/** What a turn in which a tool ran left behind. */
export interface TurnTaken {
  /** The results of the saved state, in order. */
  readonly results: readonly ToolResultBlock[];
  readonly state: AgentState;
  readonly events: readonly AgentEvent[];
  /** The log, long texts put back. */
  readonly log: readonly LogRecord[];
  readonly model: ScriptedModel;
}

/** How {@link takeTurn} differs from a plain agent with the plugin. */
export interface TurnOptions {
  readonly eviction?: EvictionOptions | undefined;
  readonly offloader?: Offloader | undefined;
  readonly agent?: Partial<ReActAgentOptions> | undefined;
  readonly userId?: string | null | undefined;
  readonly sessionId?: string | undefined;
}

/** A tool without input that returns what `make` does. */
export function toolThat(make: () => unknown, name = "fetch_page"): Tool {
  return tool({ name, description: "Makes output.", input: z.object({}), execute: make });
}

/** A model that calls each of the tools once, at the same time, and then says "Done.". */
export function callsOnce(tools: readonly Tool[]): ScriptedModel {
  const toolCalls = tools.map(({ name }) => ({ name, input: {} }));
  return scriptedModel([{ toolCalls }, "Done."]);
}

/** One turn of an agent with the plugin, in which every tool is called once. */
export async function takeTurn(
  tools: readonly Tool[],
  options: TurnOptions = {},
): Promise<TurnTaken> {
  const model = callsOnce(tools);
  const events: AgentEvent[] = [];
  const stateStore = new InMemoryAgentStateStore();
  const agent = new ReActAgent({
    name: "agent",
    model,
    tools,
    stateStore,
    offloader: options.offloader,
    plugins: [toolResultEviction(options.eviction)],
    onEvent: (event) => events.push(event),
    ...options.agent,
  });
  const { userId = "alice", sessionId = "s1" } = options;
  await agent.call("Go.", { userId, sessionId });
  const state = (await agent.getAgentState(userId, sessionId)) as AgentState;
  const slot = { agentId: "agent", userId, sessionId };
  const { log } = stateStore.companions();
  const records = await Promise.all(
    (await log.read(slot)).map((record) => withBlobs(log, slot, record)),
  );
  await agent.close();
  return { results: state.context.flatMap(toolResultsOf), state, events, log: records, model };
}

/** The only result of a turn. */
export function onlyResult({ results }: TurnTaken): ToolResultBlock {
  const [result] = results;
  if (result === undefined || results.length > 1)
    throw new Error(`the turn has ${results.length} results, not one`);
  return result;
}

/** All the text of a result, block after block. */
export function textIn(result: ToolResultBlock): string {
  return result.output.map((part) => (part.type === "text" ? part.text : "")).join("\n");
}

/** The events of one type. */
export function eventsOf<T extends AgentEvent["type"]>(
  { events }: TurnTaken,
  type: T,
): Extract<AgentEvent, { type: T }>[] {
  return events.filter((event): event is Extract<AgentEvent, { type: T }> => event.type === type);
}
