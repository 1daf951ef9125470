import { sharedMariadb } from "@holdfast/testing/servers";
import type { TestProject } from "vitest/node";

declare module "vitest" {
  interface ProvidedContext {
    readonly mysqlUrl: string;
  }
}

/** One MariaDB for all tests that need no server of their own; each has a prefix of its own. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const server = await sharedMariadb();
  project.provide("mysqlUrl", server.url);
  return () => server.stop();
}
