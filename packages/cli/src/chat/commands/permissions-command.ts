import { formatRule } from "@holdfast/permissions";
import { printTable } from "../../terminal/format.js";
import { safeLine } from "../../terminal/safe-text.js";
import { type Chat, sessionOf } from "../open-chat.js";
import { permissionModeOf, permissionModes } from "../permission-modes.js";

/** Runs `/permissions`: shows the mode and the remembered rules, sets the mode, or forgets a rule. */
export async function permissionsCommand(chat: Chat, argument: string): Promise<void> {
  const [verb = "", value = "", ...more] = argument.split(/\s+/u);
  if (verb === "") await show(chat);
  else if (verb === "mode" && more.length === 0) await setMode(chat, value);
  else if (verb === "forget" && more.length === 0) await forget(chat, value);
  else chat.terminal.line("/permissions, /permissions mode <mode> or /permissions forget <number>");
}

async function show(chat: Chat): Promise<void> {
  const { terminal, agent } = chat;
  const session = sessionOf(chat);
  const context = (await agent.getAgentState(session))?.permissionContext;
  const { mode = "default", isModeSet = mode !== "default" } = context ?? {};
  const isConfigured = chat.config?.config.plugins?.some(({ name }) => name === "permissions");
  if (!isModeSet && isConfigured) terminal.line("mode: that of the config file");
  else terminal.line(`mode: ${mode} (${permissionModes[mode]})`);
  const rules = await agent.rememberedRules(session);
  const rows = rules.map((rule, index) => [String(index + 1), rule.scope, formatRule(rule)]);
  if (rows.length === 0) terminal.line("No rule is remembered.");
  else printTable(terminal, ["", "SCOPE", "ALWAYS ALLOWED"], rows);
}

async function setMode(chat: Chat, name: string): Promise<void> {
  const { terminal, agent } = chat;
  const mode = permissionModeOf(name);
  if (mode === undefined) {
    terminal.line(name === "" ? "Which one?" : `There is no mode ${safeLine(name)}.`);
    printTable(terminal, ["MODE", "EFFECT"], Object.entries(permissionModes));
    return;
  }
  await agent.setPermissionMode(sessionOf(chat), mode);
  terminal.line(`mode: ${mode} (${permissionModes[mode]})`);
}

async function forget(chat: Chat, number: string): Promise<void> {
  const { terminal, agent } = chat;
  const session = sessionOf(chat);
  const rules = await agent.rememberedRules(session);
  const rule = /^\d{1,4}$/u.test(number) ? rules[Number(number) - 1] : undefined;
  if (rule === undefined) {
    terminal.line(`There is no rule ${safeLine(number)}; /permissions lists them with numbers.`);
    return;
  }
  const { tool, pattern, scope } = rule;
  const rest = { tool, ...(pattern !== undefined && { pattern }) };
  await agent.forgetRules(session, { scope, rules: [rest] });
  terminal.line(`Forgotten: ${safeLine(formatRule(rule))}`);
}
