import type { Redis } from "ioredis";

/** Message of a user that waits for an answer. */
export interface Job {
  /** Names the call: a job that is taken twice is answered once. */
  readonly id: string;
  readonly userId: string;
  readonly sessionId: string;
  readonly text: string;
}

/** Job that a worker has taken, and its place in the stream. */
export interface TakenJob {
  readonly entry: string;
  readonly job: Job;
}

type Entry = readonly [entry: string, fields: readonly string[] | null];

const STREAM = "jobs";
const GROUP = "workers";
/** A worker that was silent for so long is taken for dead, and its job is taken by another. */
const SILENT_MS = 60_000;
/** Seconds for which an answer waits to be read. */
const ANSWER_SECONDS = 3_600;

/** Jobs in a Redis stream. A job stays there until it is finished, whatever happens to the worker that took it. */
export class JobQueue {
  readonly #client: Redis;
  readonly #consumer: string;
  /** Cursor of the next look for silent workers: one look passes ten jobs of others at most. */
  #cursor = "0-0";

  /** @param client - a connection of its own: it is blocked while the queue waits */
  constructor(client: Redis, consumer: string) {
    this.#client = client;
    this.#consumer = consumer;
  }

  /** Makes the stream and its group, where they are not there yet. */
  async open(): Promise<void> {
    try {
      await this.#client.xgroup("CREATE", STREAM, GROUP, "0", "MKSTREAM");
    } catch (error) {
      if (!String(error).includes("BUSYGROUP")) throw error;
    }
  }

  async add(job: Job): Promise<void> {
    await this.#client.xadd(STREAM, "*", "job", JSON.stringify(job));
  }

  /** Takes the job of a silent worker, else the next new one; null when there was none for some time. */
  async take(): Promise<TakenJob | null> {
    const [cursor, silent] = (await this.#client.xautoclaim(
      ...([STREAM, GROUP, this.#consumer, SILENT_MS, this.#cursor] as const),
      ...(["COUNT", 1] as const),
    )) as [string, Entry[]];
    this.#cursor = cursor;
    const found = silent[0] ?? (await this.#next());
    if (found === undefined) return null;
    const [entry, fields] = found;
    return fields === null ? null : { entry, job: JSON.parse(fields[1] ?? "") as Job };
  }

  async #next(): Promise<Entry | undefined> {
    const answer = (await this.#client.xreadgroup(
      ...(["GROUP", GROUP, this.#consumer] as const),
      ...(["COUNT", 1, "BLOCK", 2_000, "STREAMS", STREAM, ">"] as const),
    )) as [string, Entry[]][] | null;
    return answer?.[0]?.[1][0];
  }

  /** Tells the others that the worker of a job is alive. */
  async keep({ entry }: TakenJob): Promise<void> {
    await this.#client.xclaim(STREAM, GROUP, this.#consumer, 0, entry, "JUSTID");
  }

  /** Lets another worker take a job at once. */
  async giveBack({ entry }: TakenJob): Promise<void> {
    const idle = ["IDLE", SILENT_MS, "JUSTID"] as const;
    await this.#client.xclaim(STREAM, GROUP, this.#consumer, 0, entry, ...idle);
  }

  /** Returns how often a job was taken. */
  async attempts({ entry }: TakenJob): Promise<number> {
    const rows = await this.#client.xpending(STREAM, GROUP, entry, entry, 1);
    return Number((rows as [string, string, number, number][])[0]?.[3] ?? 0);
  }

  /** Answers a job, and removes it. */
  async finish({ entry, job }: TakenJob, answer: string): Promise<void> {
    const key = answerKey(job.id);
    await this.#client
      .multi()
      .rpush(key, answer)
      .expire(key, ANSWER_SECONDS)
      .xack(STREAM, GROUP, entry)
      .xdel(STREAM, entry)
      .exec();
  }

  /** Waits for the answer to a job; null when there was none for some time. */
  async answer(id: string, seconds: number): Promise<string | null> {
    const [, answer] = (await this.#client.blpop(answerKey(id), seconds)) ?? [null, null];
    return answer;
  }
}

function answerKey(id: string): string {
  return `answer:${id}`;
}
