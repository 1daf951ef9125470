import { type ModelRequest, toolResultsOf } from "@holdfast/core";
import type { ScriptedReply } from "@holdfast/testing";

/** Stands in for a model: decides by the results that came since the task was given. */
export function write({ messages }: ModelRequest): ScriptedReply {
  const start = messages.findLastIndex(({ role }) => role === "user");
  const results = messages.slice(start).flatMap(toolResultsOf);
  const mail = (to: string, text: string) => ({ name: "send_mail", input: { to, text } });
  if (results.length === 0) return { toolCalls: [{ name: "list_people", input: {} }] };
  const text = "The meeting is on Friday.";
  if (results.length === 1)
    return {
      toolCalls: ["ann@example.com", "bob@example.com", "press@example.org"].map((to) =>
        mail(to, text),
      ),
    };
  if (results.length === 4)
    return {
      toolCalls: [
        mail("ann@example.com", "Please bring the figures."),
        { name: "delete_mails", input: {} },
      ],
    };
  const sent = results.filter(({ name, state }) => name === "send_mail" && state === "success");
  const denied = results.filter(({ state }) => state === "denied");
  return `${sent.length} mails were sent; ${denied.length} calls were denied.`;
}
