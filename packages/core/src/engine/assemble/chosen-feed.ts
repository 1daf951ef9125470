import { isRecord } from "../../json/json.js";
import { contractProblem } from "../../plugin-kit/contract-problem.js";
import { showValue } from "../../plugin-kit/show-value.js";
import type { AgentStateStore } from "../../ports/agent-state-store.js";
import type { EventFeed } from "../../ports/event-feed.js";
import type { ReActAgentOptions } from "./agent-options.js";
import { reachExtent } from "./local-part-problems.js";

/** Returns the event feed that the options ask for, if any; adds what is wrong with it to `problems`. */
export function chosenFeed(
  options: Pick<ReActAgentOptions, "eventFeed" | "distributedStore" | "singleNode">,
  stateStore: AgentStateStore,
  problems: string[],
): EventFeed | undefined {
  const { eventFeed: asked = false, distributedStore, singleNode } = options;
  if (asked === false) return undefined;
  const feed = asked === true ? (distributedStore ?? stateStore.companions?.())?.eventFeed : asked;
  const problem =
    feed === undefined
      ? `store "${stateStore.kind}" keeps no events; pass an EventFeed, or leave eventFeed out`
      : (feedProblem(feed) ?? (singleNode === true ? null : reachProblem(feed, stateStore)));
  if (problem === null) return feed;
  problems.push(`eventFeed: ${problem}`);
  return undefined;
}

function feedProblem(feed: unknown): string | null {
  if (!isRecord(feed) || !["append", "read", "open", "delete"].every((method) => method in feed))
    return `must be true, false or an EventFeed, got ${showValue(feed)}`;
  const problem = contractProblem(feed["contract"] as number);
  return problem === null ? null : `it ${problem}`;
}

function reachProblem(feed: EventFeed, { reach, kind }: AgentStateStore): string | null {
  return feed.reach === reach || reach !== "distributed"
    ? null
    : `state store "${kind}" serves every node but event feed "${feed.kind}" only ${reachExtent[feed.reach]}, so a call on another node could not be attached to; use eventFeed: true, or singleNode: true if only one node will ever run`;
}
