import type { JsonObject } from "../json/json.js";
import { createMessage } from "../message/create-message.js";
import type { HintBlock, Message } from "../message/message.js";
import type { ModelRequest, ToolChoice, ToolSchema } from "../ports/model.js";
import type { CallScope } from "./call-scope.js";
import { activeTools } from "./tool-groups.js";

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

/** Builds a request out of the context as it is now. Nothing it adds is ever persisted. */
export async function buildRequest(scope: CallScope, extras: RequestExtras): Promise<ModelRequest> {
  const { parts, session, stop } = scope;
  const { messages, repairs } = session.state.pairedContext();
  if (repairs.length > 0) scope.emit({ type: "repaired", repairs });
  const tail: Message[] = [...extras.transient];
  if (extras.hints.length > 0) tail.push(createMessage("user", extras.hints));
  return {
    system: await systemPrompt(scope),
    messages: [...messages, ...tail],
    tools: extras.tools === null ? [] : [...offeredTools(scope), ...extras.tools],
    ...(extras.toolChoice !== undefined && { toolChoice: extras.toolChoice }),
    ...(extras.output !== undefined && { output: extras.output }),
    signal: stop.signal,
  } satisfies ModelRequest & { system: string };

  function offeredTools({ session: { state } }: CallScope): ToolSchema[] {
    return activeTools(state, parts.tools, parts.toolGroups).map(
      ({ name, description, inputSchema }) => ({ name, description, inputSchema }),
    );
  }
}

async function systemPrompt(scope: CallScope): Promise<string> {
  let prompt = scope.parts.settings.systemPrompt;
  const step = { slot: scope.slot, ctx: scope.ctx, state: scope.session.state };
  for (const hook of scope.parts.hooks.onSystemPrompt) prompt = await hook(prompt, step);
  return prompt;
}
