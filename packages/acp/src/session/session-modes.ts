import { RequestError, type SessionMode, type SessionModeState } from "@agentclientprotocol/sdk";
import type { AgentState, PermissionMode, SessionName } from "@holdfast/core";
import type { AcpAgent } from "../acp-agent.js";

/** Mode that an editor offers: a permission mode, or plan mode. */
export type EditorMode = PermissionMode | "plan";

const words: Readonly<Record<EditorMode, Omit<SessionMode, "id">>> = {
  default: { name: "Ask", description: "Asks before tools change something" },
  accept_edits: { name: "Accept edits", description: "Edits files of the project without asking" },
  explore: { name: "Explore", description: "Only reads" },
  plan: { name: "Plan", description: "Only reads, and writes a plan for you to approve" },
  dont_ask: { name: "Never ask", description: "Refuses what would have to be asked" },
  bypass: { name: "Bypass", description: "Runs every tool without asking" },
};

/** Modes of a session: permission modes and plan mode, one of which an editor shows as chosen. */
export class SessionModes {
  readonly #offered: readonly EditorMode[];
  #permission: PermissionMode = "default";
  #isPlanning = false;

  constructor(offered: readonly EditorMode[]) {
    this.#offered = offered;
  }

  get current(): EditorMode {
    return this.#isPlanning ? "plan" : this.#permission;
  }

  /** Returns the modes as the answer to a session request has them; undefined when none is offered. */
  get state(): { readonly modes: SessionModeState } | undefined {
    if (this.#offered.length === 0) return undefined;
    const availableModes = this.#offered.map((id) => ({ id, ...words[id] }));
    return { modes: { currentModeId: this.current, availableModes } };
  }

  /** Takes over what a stored session has. */
  read({ permissionContext, planModeContext }: AgentState): void {
    this.#permission = permissionContext.mode;
    this.#isPlanning = planModeContext.active;
  }

  /** Notes that the agent entered or left plan mode; returns true when the editor shows another mode now. */
  notePlan(isPlanning: boolean): boolean {
    if (!this.#offered.includes("plan") || this.#isPlanning === isPlanning) return false;
    this.#isPlanning = isPlanning;
    return true;
  }

  /**
   * Chooses a mode.
   *
   * @throws RequestError for one that is not offered
   */
  async choose(agent: AcpAgent, session: SessionName, modeId: string): Promise<void> {
    const mode = this.#offered.find((offered) => offered === modeId);
    if (mode === undefined)
      throw RequestError.invalidParams({ modeId }, `there is no mode ${JSON.stringify(modeId)}`);
    if (mode === "plan") {
      await agent.enterPlanMode(session);
      this.#isPlanning = true;
      return;
    }
    if (this.#isPlanning) await agent.exitPlanMode(session);
    this.#isPlanning = false;
    await agent.setPermissionMode(session, mode);
    this.#permission = mode;
  }
}
