import { StoreError } from "@holdfast/core";
import { sleep } from "@holdfast/core/store-kit";
import { expect } from "vitest";
import type { RedisConnection } from "../../src/connection/redis-connection.js";
import { append } from "./scripts.js";

/** How one writer fared. */
export interface WriterRecord {
  /** What was acknowledged, in order. */
  readonly acknowledged: string[];
  readonly errors: StoreError[];
  /** Stops after the next write that succeeds; resolves then. */
  stop(): Promise<void>;
}

/** Appends one number after the other, repeating each until it is acknowledged or its error is counted. */
export function startWriter(
  connection: RedisConnection,
  key: string,
  minReplicas: number,
): WriterRecord {
  const acknowledged: string[] = [];
  const errors: StoreError[] = [];
  let stopping = false;
  const work = (async () => {
    for (let at = 0; ; at++) {
      try {
        await connection.run("appending", append, [key], [at], { minReplicas });
        acknowledged.push(String(at));
        if (stopping) return;
      } catch (error) {
        if (!StoreError.is(error)) throw error;
        errors.push(error);
      }
      await sleep(2);
    }
  })();
  return {
    acknowledged,
    errors,
    stop: () => {
      stopping = true;
      return work;
    },
  };
}

/** Nothing acknowledged is missing, nothing is there twice, and all of it is in order. */
export async function checkList(
  connection: RedisConnection,
  key: string,
  { acknowledged }: WriterRecord,
): Promise<void> {
  const stored = (await connection.send("reading", "LRANGE", [key, 0, -1])) as string[];
  expect(stored).toEqual([...new Set(stored)].sort((a, b) => Number(a) - Number(b)));
  const present = new Set(stored);
  expect(acknowledged.filter((at) => !present.has(at))).toEqual([]);
}
