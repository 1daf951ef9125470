import { createRequire } from "node:module";
import { fileURLToPath } from "node:url";
import { eventually, type SpawnedScript, spawnScript } from "@holdfast/testing";
import type { McpStdioServerOptions } from "../../src/index.js";

const require = createRequire(import.meta.url);

/** The reference servers of the MCP project. */
export const everything: string = require.resolve(
  "@modelcontextprotocol/server-everything/dist/index.js",
);
export const filesystem: string = require.resolve(
  "@modelcontextprotocol/server-filesystem/dist/index.js",
);

/** A server that can be made to misbehave; see the file. */
export const tiny: string = fileURLToPath(new URL("../fixtures/tiny-server.mjs", import.meta.url));
const tinyHttp = new URL("../fixtures/tiny-http-server.mjs", import.meta.url);

/** Short pauses, so that tests need not wait for the server to be tried again. */
export const quick = { baseDelayMs: 20, maxDelayMs: 100 } as const;

/** How to start the tiny server; it writes down what it receives in `journal`. */
export function tinyServer(
  journal: string,
  behaviour: object = {},
): McpStdioServerOptions & { readonly retry: typeof quick } {
  const args = [tiny, journal, JSON.stringify(behaviour)];
  return { command: process.execPath, args, retry: quick };
}

/** The reference server over streamable HTTP, listening. */
export async function everythingOverHttp(port: number): Promise<SpawnedScript> {
  const server = spawnScript(everything, ["streamableHttp"], { env: { PORT: String(port) } });
  await eventually(() => server.stderr.includes("listening on port"));
  return server;
}

/** The tiny server over HTTP, listening; the lines it writes are what it received. */
export async function tinyOverHttp(port: number, behaviour: object = {}): Promise<SpawnedScript> {
  const server = spawnScript(tinyHttp, [String(port), JSON.stringify(behaviour)]);
  await server.line("listening");
  return server;
}

/** Whether a process is there. */
export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}
