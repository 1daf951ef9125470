import { quoteLines } from "../../terminal/quote-lines.js";
import { safeLine } from "../../terminal/safe-text.js";
import { type Chat, sessionOf } from "../open-chat.js";
import { todoLines } from "../plan-watch.js";

/** Runs `/plan`: shows plan mode, the plan and the todo list, or enters and leaves plan mode. */
export async function planCommand(chat: Chat, argument: string): Promise<void> {
  const { terminal, agent } = chat;
  if (argument === "on") await agent.enterPlanMode(sessionOf(chat));
  else if (argument === "off") await agent.exitPlanMode(sessionOf(chat));
  else if (argument !== "") {
    terminal.line("/plan, /plan on or /plan off");
    return;
  }
  const state = await agent.getAgentState(sessionOf(chat));
  const { active = false, planFile = null, enteredBy } = state?.planModeContext ?? {};
  const way = enteredBy === "application" ? "/plan off ends it" : "the agent asks you to end it";
  terminal.line(active ? `plan mode is on; ${way}` : "plan mode is off");
  if (argument !== "") return;
  await showPlan(chat, planFile);
  for (const line of todoLines(state?.tasksContext.tasks ?? [])) terminal.line(line);
}

async function showPlan(chat: Chat, path: string | null): Promise<void> {
  const { terminal, agent, userId, sessionId } = chat;
  if (path === null) {
    terminal.line("There is no plan.");
    return;
  }
  const slot = { agentId: agent.agentId, userId, sessionId };
  const bytes = await chat.filesystem()?.read(slot, path);
  terminal.line(`the plan, ${safeLine(path)}${bytes ? ":" : ", is not in the workspace"}`);
  if (!bytes) return;
  const text = new TextDecoder().decode(bytes).trimEnd();
  for (const row of quoteLines(text, terminal.columns)) terminal.line(row);
}
