import { mkdtemp } from "node:fs/promises";
import { join } from "node:path";
import type { ConversationLog, Message } from "@holdfast/core";
import { uuidv7 } from "@holdfast/core/store-kit";
import { ConversationSearch } from "@holdfast/session-tools";
import { JsonlConversationLog } from "@holdfast/store-json";
import { MysqlConversationLog } from "@holdfast/store-mysql";
import { RedisConversationLog } from "@holdfast/store-redis";
import { Redis } from "ioredis";
import { createPool } from "mysql2/promise";
import { LongestSlice } from "../measure/longest-slice.js";
import { median } from "../measure/statistics.js";
import type { Row, Table } from "../report/table.js";
import type { Scenario, ScenarioContext } from "../scenarios/scenario.js";
import type { BenchServers } from "../stores/bench-servers.js";
import type { StoreName } from "../stores/store-side.js";
import { airlineQuestions } from "./airline-desk-questions.js";

const owner = { agentId: "desk", userId: "user" } as const;
const SESSION_MESSAGES = 200;
const QUERIES = 20;
/** The session that goes on; the others have had their last message a day ago. */
const ACTIVE = "s0";
const AGE_MS = 86_400_000;

/** A log of a store, and how to end its connections. */
interface OpenLog extends AsyncDisposable {
  readonly log: ConversationLog;
}

const logs: Readonly<Record<StoreName, (servers: BenchServers) => Promise<OpenLog>>> = {
  async json({ directory }) {
    const root = await mkdtemp(join(directory, "search-"));
    const log = new JsonlConversationLog({ root, durability: "os" });
    return { log, [Symbol.asyncDispose]: async () => {} };
  },
  async redis(servers) {
    const client = new Redis(await servers.url("redis"));
    const log = new RedisConversationLog({ client, keyPrefix: `${uuidv7()}:` });
    const close = async (): Promise<void> => {
      await log.close();
      await client.quit();
    };
    return { log, [Symbol.asyncDispose]: close };
  },
  async mysql(servers) {
    const pool = createPool({ uri: await servers.url("mysql") });
    const log = new MysqlConversationLog({ pool, tablePrefix: `s${uuidv7().slice(-8)}_` });
    return { log, [Symbol.asyncDispose]: () => pool.end() };
  },
};

/** Measures the cost of a ranked search, by the number of messages of a user. */
export const searchScale: Scenario = {
  name: "search-scale",
  summary:
    "ms, memory and longest slice of a ranked search over 600 to 600,000 messages (--quick: to 6,000)",
  async run(context): Promise<Table[]> {
    const sizes = context.quick ? [600, 6_000] : [600, 6_000, 600_000];
    const rows: Row[] = [];
    for (const store of context.stores)
      for (const size of sizes) {
        context.progress(`search-scale: ${store}, ${size} messages`);
        rows.push(await measure(context, store, size));
      }
    return [
      {
        name: "search-scale",
        title: "A ranked search, by the messages of a user",
        about: `First search of a process (reads everything), a search after two more messages, and a search when nothing changed, median and longest of ${QUERIES}; memory of the index, which is bounded: what does not fit is left to the log's own search; processor time for which a search kept the event loop from other work. Sessions of ${SESSION_MESSAGES} messages of the airline's desk, all but one a day old.`,
        columns: [
          { name: "cold", unit: "ms" },
          { name: "after a turn", unit: "ms" },
          { name: "unchanged", unit: "ms" },
          { name: "longest", unit: "ms" },
          { name: "index", unit: "bytes" },
          { name: "messages in it", unit: "count" },
          { name: "longest slice", unit: "ms" },
        ],
        rows,
      },
    ];
  },
};

async function measure({ servers }: ScenarioContext, store: StoreName, size: number): Promise<Row> {
  await using open = await logs[store](servers);
  const { log } = open;
  const corpus = airlineQuestions();
  const said = corpus.sessions.flatMap(({ turns }) => turns);
  for (let from = 0; from < size; from += SESSION_MESSAGES)
    await append(log, `s${from}`, said, from, Math.min(SESSION_MESSAGES, size - from));
  const search = new ConversationSearch({ log: aged(log) });
  const query = async (n: number) => {
    const began = performance.now();
    const text = corpus.questions[n % corpus.questions.length]?.text ?? "";
    const found = await search.search({ ...owner, query: text });
    return { ms: performance.now() - began, ...found.coverage };
  };
  const slices = new LongestSlice();
  const cold = await query(0);
  const [after, unchanged]: [number[], number[]] = [[], []];
  for (let n = 0; n < QUERIES; n++) {
    unchanged.push((await query(n)).ms);
    await append(log, ACTIVE, said, size + 2 * n, 2);
    after.push((await query(n)).ms);
  }
  const longestSlice = slices.end();
  return {
    store: `${store}, ${size}`,
    contender: "session_search",
    figures: [
      cold.ms,
      median(after),
      median(unchanged),
      Math.max(...after, ...unchanged),
      search.bytes,
      cold.messages,
      longestSlice,
    ],
  };
}

/** Lists sessions as they are a day later: a search reads those of the last minutes again in any case. */
function aged(log: ConversationLog): ConversationLog {
  return {
    contract: log.contract,
    kind: log.kind,
    reach: log.reach,
    append: log.append.bind(log),
    read: log.read.bind(log),
    readBlob: log.readBlob.bind(log),
    search: log.search.bind(log),
    delete: log.delete.bind(log),
    async sessions(query) {
      const { sessions, ...page } = await log.sessions(query);
      const earlier = (at: string): string => new Date(Date.parse(at) - AGE_MS).toISOString();
      const older = sessions.map(({ slot, lastAt }) => ({
        slot,
        lastAt: slot.sessionId === ACTIVE ? lastAt : earlier(lastAt),
      }));
      return { ...page, sessions: older };
    },
  };
}

async function append(
  log: ConversationLog,
  sessionId: string,
  said: readonly Message[],
  from: number,
  count: number,
): Promise<void> {
  const records = Array.from({ length: count }, (_, n) => ({
    v: 1 as const,
    id: uuidv7(),
    callId: sessionId,
    at: new Date(Date.now() - AGE_MS + n).toISOString(),
    kind: "message" as const,
    message: said[(from + n) % said.length] as Message,
  }));
  await log.append({ ...owner, sessionId }, records);
}
