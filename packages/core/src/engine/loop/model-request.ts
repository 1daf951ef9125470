import type { JsonObject } from "../../json/json.js";
import { createMessage } from "../../message/create-message.js";
import type { HintBlock, Message } from "../../message/message.js";
import type { RequestPrompt } from "../../ports/compactor.js";
import type { ModelRequest, ToolChoice, ToolSchema } from "../../ports/model.js";
import type { Tool } from "../../tool/tool.js";
import type { CallScope } from "../call-scope.js";
import { activeTools } from "../tools/tool-box.js";

/** What one request has beyond the session's context. */
export interface RequestExtras {
  /** Goes to the tail of this request only. */
  readonly hints: readonly HintBlock[];
  /** Protocol messages of this call that never enter the context. */
  readonly transient: readonly Message[];
  /** Offered beside the session's tools; null offers none at all. */
  readonly tools: readonly ToolSchema[] | null;
  readonly toolChoice?: ToolChoice | undefined;
  readonly output?: JsonObject | undefined;
}

/**
 * What the model is sent besides the messages. Made once for a round of reasoning: what comes of its second chances has
 * the same prefix.
 */
export async function promptOf(
  scope: CallScope,
  tools: RequestExtras["tools"],
): Promise<RequestPrompt> {
  const { parts, session, slot, ctx } = scope;
  const { state } = session;
  let system = parts.settings.systemPrompt;
  for (const append of [...parts.promptSections, ...parts.hooks.onSystemPrompt])
    system = await append(system, { slot, ctx, state });
  if (tools === null) return { system, tools: [] };
  const offered = activeTools(state, parts.tools, parts.toolGroups).map(schemaOf);
  return { system, tools: [...offered, ...tools] };
}

/** Builds a request out of the context as it is now. Nothing it adds is ever persisted. */
export function buildRequest(
  scope: CallScope,
  prompt: RequestPrompt,
  extras: RequestExtras,
): ModelRequest {
  const { messages, repairs } = scope.session.state.pairedContext();
  if (repairs.length > 0) scope.emit({ type: "repaired", repairs });
  const tail: Message[] = [...extras.transient];
  if (extras.hints.length > 0) tail.push(createMessage("user", extras.hints));
  return {
    ...prompt,
    messages: [...messages, ...tail],
    ...(extras.toolChoice !== undefined && { toolChoice: extras.toolChoice }),
    ...(extras.output !== undefined && { output: extras.output }),
    signal: scope.stop.signal,
  };
}

const schemas = new WeakMap<Tool, ToolSchema>();

/** One object per tool, so that what is computed about it can be remembered. */
function schemaOf(tool: Tool): ToolSchema {
  let schema = schemas.get(tool);
  if (!schema) {
    const { name, description, inputSchema } = tool;
    schema = Object.freeze({ name, description, inputSchema });
    schemas.set(tool, schema);
  }
  return schema;
}
