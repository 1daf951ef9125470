import { type Delegation, delegationOf } from "../../plugin-kit/delegation.js";
import type { Model } from "../../ports/model.js";
import type { ToolGuard } from "../../ports/tool-guard.js";
import type { AgentState } from "../../state/agent-state.js";
import { LiveState } from "../../state/live-state.js";
import type { Tool } from "../../tool/tool.js";
import type { ReActAgent } from "../react-agent.js";
import { RememberedRules } from "../session/remembered-rules.js";
import { storedState } from "../session/stored-state.js";
import type { AgentParts } from "./agent-parts.js";
import { slotNaming } from "./slot-naming.js";

/** An agent that works for another one; see `host.deriveAgent`. */
export type DerivedAgent = Pick<
  ReActAgent,
  | "name"
  | "agentId"
  | "call"
  | "resume"
  | "interrupt"
  | "pending"
  | "getAgentState"
  | "deleteSession"
  | "deleteUser"
>;

/** Differences between a derived agent and the one it works for. */
export interface DerivedAgentOptions {
  /** Name of the agent; its sessions are those of `<agentId>/<name>`. */
  readonly name: string;
  /** @default "" */
  readonly systemPrompt?: string | undefined;
  /** @default the same model */
  readonly model?: Model | undefined;
  /** @default the same number */
  readonly maxIterations?: number | undefined;
  /** Tells which tools of the other agent it has. @default all of them */
  readonly hasTool?: ((tool: Tool) => boolean) | undefined;
}

/**
 * Returns the parts of an agent that works for another: the same objects, but for what the options change.
 *
 * Its guard is the other's and goes by the permissions, the remembered rules and the plan mode of the session that the work
 * is done for, as they are at that moment.
 */
export function deriveParts(parts: AgentParts, options: DerivedAgentOptions): AgentParts {
  const { name, systemPrompt = "", model, maxIterations, hasTool } = options;
  const settings = {
    ...parts.settings,
    ...{ name, systemPrompt, agentId: `${parts.settings.agentId}/${name}`, requireSession: true },
    ...(maxIterations !== undefined && { maxIterations }),
  };
  const governed: AgentParts["hooks"]["onCall"][number] = async (step, next) => {
    const delegation = delegationOf(step.ctx);
    if (delegation) govern(step.state, await rootState(parts, delegation));
    return next();
  };
  return Object.freeze({
    ...parts,
    settings,
    ...(model && { model, fallbackModel: undefined }),
    tools: hasTool ? parts.tools.filter(hasTool) : parts.tools,
    guard: delegatedGuard(parts),
    hooks: { ...parts.hooks, onCall: [governed, ...parts.hooks.onCall] },
    // Of a user, only the other agent has anything to delete.
    onDeleteUser: [],
    // Its runs are continued by the other's, or by the plugin that derived it.
    runMarks: undefined,
    // Its events are among those of the call that it works for.
    feeds: undefined,
    slotOf: slotNaming(settings, undefined),
  } satisfies AgentParts);
}

async function rootState(parts: AgentParts, { root, rootCall }: Delegation): Promise<AgentState> {
  return rootCall()?.state ?? (await storedState(parts, root)) ?? LiveState.create(root);
}

/** Puts a session under the permissions and the plan mode of another, which alone can change them. */
function govern(state: AgentState, root: AgentState): void {
  state.permissionContext = { ...root.permissionContext };
  const { active, planFile } = root.planModeContext;
  state.planModeContext = { active, planFile, ...(active && { enteredBy: "application" }) };
}

function delegatedGuard(parts: AgentParts): ToolGuard {
  const { guard } = parts;
  return {
    get considers() {
      return guard.considers;
    },
    async check(call) {
      const delegation = delegationOf(call.ctx);
      const { agentState } = call.ctx;
      if (!delegation || !agentState) return guard.check(call);
      const root = await rootState(parts, delegation);
      govern(agentState, root);
      const rules = new RememberedRules(parts, delegation.root, root);
      return guard.check({ ...call, remembered: () => rules.all() });
    },
    modeOf: (state) => guard.modeOf?.(state) ?? state.permissionContext.mode,
    ruleProblem: (rule) => guard.ruleProblem?.(rule) ?? null,
  };
}
