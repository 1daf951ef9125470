import type { Contender } from "../measure/contender.js";
import { seededRandom } from "../measure/random.js";
import type { AgentNode } from "./agent-node.js";
import type { Rig } from "./rig.js";

/** Chooses the node of the next turn. */
type Balancer = (sessionId: string) => AgentNode;

/** Names of our contenders. */
const nodeContenders = ["one node", "two nodes in turn", "three nodes at random"] as const;

/** Name of a contender of our own. */
export type NodeContender = (typeof nodeContenders)[number];

const balancers: Readonly<
  Record<NodeContender, { nodes: number; balance: (nodes: readonly AgentNode[]) => Balancer }>
> = {
  "one node": { nodes: 1, balance: inTurn },
  "two nodes in turn": { nodes: 2, balance: inTurn },
  "three nodes at random": { nodes: 3, balance: atRandom },
};

/** The floor of a rig, then agents on its nodes, which they share. */
export async function rigContenders(
  rig: Rig,
  names: readonly NodeContender[] = nodeContenders,
): Promise<Contender[]> {
  const nodes: AgentNode[] = [];
  const needed = Math.max(0, ...names.map((name) => balancers[name].nodes));
  while (nodes.length < needed) nodes.push(await rig.openNode());
  const ours = names.map((name): Contender => {
    const next = balancers[name].balance(nodes.slice(0, balancers[name].nodes));
    return {
      store: rig.store,
      name,
      seed: (sessionId, messages) => rig.side.seed(sessionId, messages),
      turn: (sessionId) => next(sessionId).turn(sessionId),
    };
  });
  return [rig.side.floor, ...ours];
}

/** Each session's turns go from node to node, however many sessions are under way. */
function inTurn(nodes: readonly AgentNode[]): Balancer {
  const turns = new Map<string, number>();
  return (sessionId) => {
    const turn = turns.get(sessionId) ?? 0;
    turns.set(sessionId, turn + 1);
    return nodes[turn % nodes.length] as AgentNode;
  };
}

function atRandom(nodes: readonly AgentNode[]): Balancer {
  const random = seededRandom(1);
  return () => nodes[Math.floor(random() * nodes.length)] as AgentNode;
}
