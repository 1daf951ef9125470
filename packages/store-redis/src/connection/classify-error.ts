/** Meaning of a driver's error, without any of the data that was sent. */
export interface Failure {
  /** Ends the sentence "saving … failed: ". */
  readonly reason: string;
  /** Advice to the operator. */
  readonly advice: string;
  /** True when the command may have been executed nevertheless. */
  readonly mayHaveApplied: boolean;
  /** True when retrying soon may help. */
  readonly retry: boolean;
  /** True when this connection leads to a server that will keep refusing, while a new one may not. */
  readonly drop: boolean;
}

/**
 * Classifies a driver's error.
 *
 * @param sent - true when the command had been handed to the driver; before that it cannot have been executed
 */
export function classifyError(error: unknown, sent: boolean): Failure {
  const message = error instanceof Error ? error.message : "";
  const word = /^-?([A-Z][A-Z0-9_]*)(?: |$)/.exec(message)?.[1];
  if (/^ERR (?:invalid )?DB index/i.test(message)) return noDatabase;
  if (word !== undefined) return refusals.get(word) ?? unknownRefusal(word);
  if (notWritten.some((text) => message.includes(text)))
    return { ...lost, reason: "the connection to Redis is down" };
  return { ...lost, reason: describe(error, message), mayHaveApplied: sent };
}

/** Tells whether the server does not know the script by its hash. */
export function isNoScript(error: unknown): boolean {
  return error instanceof Error && error.message.startsWith("NOSCRIPT");
}

const noDatabase: Failure = {
  reason: "Redis has no such database",
  advice: "choose a number below its setting `databases`",
  mayHaveApplied: false,
  retry: false,
  drop: false,
};

const lost = {
  reason: "the connection to Redis was lost",
  advice: "check that the server runs and can be reached",
  mayHaveApplied: false,
  retry: true,
  drop: false,
};

/** Parts of errors of commands that never left this process, or that every node refused. */
const notWritten = [
  "Stream isn't writeable",
  "The client is offline",
  "The queue is full",
  "Too many Cluster redirections",
  "Cluster isn't ready",
];

const refusals = new Map<string, Failure>([
  refusal("LOADING", "it is starting and still loading its data", { retry: true }),
  refusal("READONLY", "a failover made this server a replica", { retry: true, drop: true }),
  refusal("MASTERDOWN", "this server is a replica without a master", { retry: true, drop: true }),
  refusal("CLUSTERDOWN", "a failover is going on, or slots are not covered", { retry: true }),
  refusal("TRYAGAIN", "the keys are moving to another node", { retry: true }),
  refusal("MOVED", "the keys have moved to another node", { retry: true }),
  refusal("ASK", "the keys are moving to another node", { retry: true }),
  refusal("BUSY", "another script keeps the server busy", { retry: true }),
  refusal("NOREPLICAS", "check the replicas, min-replicas-to-write is not met", { retry: true }),
  refusal("MISCONF", "check its disk, it cannot persist and refuses writes"),
  refusal("OOM", "it is out of memory, check maxmemory"),
  refusal("NOAUTH", "give the client a username and password"),
  refusal("WRONGPASS", "check the client's username and password"),
  refusal("NOPERM", "allow the user the commands, keys and channels of this package"),
]);

function refusal(
  word: string,
  advice: string,
  { retry = false, drop = false }: { retry?: boolean; drop?: boolean } = {},
): [string, Failure] {
  return [word, { reason: answered(word), advice, mayHaveApplied: false, retry, drop }];
}

function unknownRefusal(word: string): Failure {
  const advice = "see the server's log";
  return { reason: answered(word), advice, mayHaveApplied: false, retry: false, drop: false };
}

function answered(word: string): string {
  return `Redis answered ${word}`;
}

function describe(error: unknown, message: string): string {
  const code: unknown = error instanceof Error && "code" in error ? error.code : undefined;
  if (typeof code === "string" && /^E[A-Z]+$/.test(code)) return `no connection to Redis (${code})`;
  return /time(?:d )?out/i.test(message) ? "Redis did not answer in time" : lost.reason;
}
