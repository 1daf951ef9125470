import type { PermissionOption, RequestPermissionResponse } from "@agentclientprotocol/sdk";
import type { Confirmation, PendingCall, PermissionRule } from "@holdfast/core";
import { cutText, isRecord } from "@holdfast/core/plugin-kit";

/** Longest name of an option, and longest reason that is passed on. */
const MAX_NAME_CHARS = 160;
const MAX_REASON_CHARS = 2_000;

const REJECTED = "The user rejected this call in the editor.";

/** Returns the answers that a person may choose from. */
export function permissionOptions(
  { suggestions = [] }: PendingCall,
  hasUser: boolean,
): PermissionOption[] {
  const rules = suggestions
    .map(({ text, tool }) => (text ?? `Always allow ${tool}`).replace(/^Always allow /, ""))
    .join(", ");
  const always = (optionId: string, where: string): PermissionOption => ({
    optionId,
    kind: "allow_always",
    name: cutText(`Always allow ${rules} ${where}`, MAX_NAME_CHARS),
  });
  return [
    { optionId: "once", kind: "allow_once", name: "Allow once" },
    ...(suggestions.length > 0 ? [always("session", "in this session")] : []),
    ...(suggestions.length > 0 && hasUser ? [always("user", "in all my sessions")] : []),
    { optionId: "reject", kind: "reject_once", name: "Reject" },
    { optionId: "reject_stop", kind: "reject_once", name: "Reject and stop" },
  ];
}

/**
 * Returns the confirmation that an answer stands for; null when the person gave none, because the turn is being cancelled.
 * A client may say why a call is rejected in `_meta.reason` of the outcome.
 */
export function confirmationOf(
  { toolCallId, suggestions = [] }: PendingCall,
  { outcome }: RequestPermissionResponse,
): Confirmation | null {
  if (outcome.outcome !== "selected") return null;
  const { optionId } = outcome;
  if (optionId === "once") return { toolCallId, approve: true };
  if ((optionId === "session" || optionId === "user") && suggestions.length > 0) {
    const rules = suggestions.map(
      ({ tool, pattern }): PermissionRule => ({ tool, ...(pattern !== undefined && { pattern }) }),
    );
    // Exactly the rules that the option named.
    return { toolCallId, approve: true, remember: { scope: optionId, rules } };
  }
  // Also for an option that was not offered.
  const said: unknown = isRecord(outcome._meta) ? outcome._meta["reason"] : undefined;
  const hasReason = typeof said === "string" && said.trim() !== "";
  const reason = hasReason ? cutText(said, MAX_REASON_CHARS) : REJECTED;
  const stops = optionId === "reject_stop";
  return { toolCallId, approve: false, reason, ...(stops && { interrupt: true }) };
}
