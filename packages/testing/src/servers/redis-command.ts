import { connect } from "node:net";

/** Address of a server. */
export interface Address {
  readonly host: string;
  readonly port: number;
  /** Of the default user, where the server asks for one. */
  readonly password?: string | undefined;
}

/** Longest wait for an answer. */
const timeoutMs = 10_000;

/**
 * Sends one command to a Redis server and returns its answer as text, as `redis-cli` prints it into a file: the elements of
 * lists in lines of their own, errors as their message. Rejects without an answer.
 */
export async function redisCommand(
  { host, port, password }: Address,
  ...args: readonly (string | number)[]
): Promise<string> {
  const commands = password === undefined ? [args] : [["AUTH", password], args];
  const socket = connect({ host, port });
  socket.setTimeout(timeoutMs, () =>
    socket.destroy(new Error(`${host}:${port} did not answer within ${timeoutMs} ms`)),
  );
  try {
    socket.write(commands.map(encode).join(""));
    let received = Buffer.alloc(0);
    for await (const data of socket) {
      received = Buffer.concat([received, data as Buffer]);
      const answer = answerIn(received, commands.length);
      if (answer !== undefined) return answer;
    }
    throw new Error(`${host}:${port} closed the connection without an answer`);
  } finally {
    socket.destroy();
  }
}

function encode(args: readonly (string | number)[]): string {
  const parts = args.map((arg) => `$${Buffer.byteLength(String(arg))}\r\n${arg}\r\n`);
  return `*${args.length}\r\n${parts.join("")}`;
}

/** The last of as many answers, or nothing while they are incomplete. */
function answerIn(received: Buffer, answers: number): string | undefined {
  const lines: string[] = [];
  let at = 0;
  for (let left = answers; left > 0; left--) {
    if (left === 1) lines.length = 0;
    const end = readAnswer(received, at, lines);
    if (end === undefined) return undefined;
    at = end;
  }
  return lines.join("\n").trimEnd();
}

/** Adds the lines of the answer that begins at `at`, and returns where it ends. */
function readAnswer(received: Buffer, at: number, lines: string[]): number | undefined {
  const lineEnd = received.indexOf("\r\n", at);
  if (lineEnd === -1) return undefined;
  const kind = received.toString("latin1", at, at + 1);
  const line = received.toString("utf8", at + 1, lineEnd);
  let next: number | undefined = lineEnd + 2;
  if (kind === "*") {
    for (let left = Number(line); left > 0 && next !== undefined; left--)
      next = readAnswer(received, next, lines);
    return next;
  }
  if (kind !== "$" || line === "-1") {
    lines.push(kind === "$" ? "" : line);
    return next;
  }
  const end = next + Number(line);
  if (received.length < end + 2) return undefined;
  lines.push(received.toString("utf8", next, end));
  return end + 2;
}

/** Makes a check that a Redis server is up and has loaded its data. */
export function redisAnswers(address: Address): () => Promise<boolean> {
  return () =>
    redisCommand(address, "PING").then(
      // A server that asks for a password not known here is up as well.
      (answer) => answer === "PONG" || answer.startsWith("NOAUTH"),
      () => false,
    );
}
