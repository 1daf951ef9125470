import { sharedRedis } from "@holdfast/testing/servers";
import type { TestProject } from "vitest/node";

declare module "vitest" {
  interface ProvidedContext {
    readonly redisUrl: string;
  }
}

/** One Redis for all tests that need no server of their own; each has a prefix of its own. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const server = await sharedRedis();
  project.provide("redisUrl", server.url);
  return () => server.stop();
}
