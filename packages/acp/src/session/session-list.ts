import type { ListSessionsResponse, SessionInfo } from "@agentclientprotocol/sdk";
import type { SlotInfo } from "@holdfast/core";
import type { AcpAgent } from "../acp-agent.js";

/** Sessions looked at for one page, and pages of them that may have none to show. */
const PAGE = 50;
const MAX_EMPTY_PAGES = 20;

/** Lists the sessions of editors, newest first: those with a directory, or with this one. */
export async function listSessions(
  agent: Pick<AcpAgent, "sessions">,
  userId: string | null,
  query: { readonly cwd?: string | null | undefined; readonly cursor?: string | null | undefined },
): Promise<ListSessionsResponse> {
  let cursor = query.cursor ?? undefined;
  for (let empty = 0; ; empty++) {
    const page = await agent.sessions({
      ...{ userId, limit: PAGE, cursor },
      ...(typeof query.cwd === "string" && { metadata: { cwd: query.cwd } }),
    });
    const sessions = page.slots.flatMap(sessionInfo);
    cursor = page.cursor;
    if (cursor === undefined) return { sessions };
    if (sessions.length > 0 || empty === MAX_EMPTY_PAGES) return { sessions, nextCursor: cursor };
  }
}

function sessionInfo({ slot, info, updatedAt }: SlotInfo): SessionInfo[] {
  const cwd = info?.metadata?.["cwd"];
  if (typeof cwd !== "string") return [];
  const { title = null } = info ?? {};
  return [{ sessionId: slot.sessionId, cwd, title, updatedAt }];
}
