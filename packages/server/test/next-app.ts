import { type ChildProcess, execFile, spawn } from "node:child_process";
import { cp, mkdir, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { eventually, tempDirectory } from "@holdfast/testing";

const run = promisify(execFile);
const packages = fileURLToPath(new URL("../..", import.meta.url));

const route = `
import { InMemoryAgentStateStore, ReActAgent } from "@holdfast/core";
import { chatHandler } from "@holdfast/server/ai-sdk";

const agent = new ReActAgent({
  name: "assistant",
  stateStore: new InMemoryAgentStateStore(),
  model: {
    id: "noting",
    async *stream() {
      yield { type: "text_delta", text: "Noted." };
      yield { type: "finish", reason: "stop", usage: { inputTokens: 1, outputTokens: 1 } };
    },
  },
});
const handle = chatHandler({ agent, identify: (request) => request.headers.get("authorization") });
export { handle as DELETE, handle as GET, handle as PATCH, handle as POST };
`;

const files: Readonly<Record<string, string>> = {
  "package.json": '{ "private": true, "type": "module" }',
  "next.config.mjs":
    'export default { serverExternalPackages: ["@holdfast/core", "@holdfast/server"] };',
  "app/layout.js":
    'export default ({ children }) => <html lang="en"><body>{children}</body></html>;',
  "app/page.js": "export default () => <p>Chat</p>;",
  "app/api/chat/[[...path]]/route.js": route,
};

/** A built app of Next.js in a directory of its own, with a chat handler behind `/api/chat`. */
export class NextApp implements AsyncDisposable {
  readonly url: string;
  readonly #server: ChildProcess;
  readonly #cleanup: () => Promise<void>;

  private constructor(url: string, server: ChildProcess, cleanup: () => Promise<void>) {
    this.url = url;
    this.#server = server;
    this.#cleanup = cleanup;
  }

  /** Installs a version of Next.js, builds the app and starts it. */
  static async start(version: string): Promise<NextApp> {
    const { path: cwd, cleanup } = await tempDirectory("holdfast-next-");
    for (const [name, text] of Object.entries(files)) {
      await mkdir(join(cwd, name, ".."), { recursive: true });
      await writeFile(join(cwd, name), text);
    }
    const quiet = ["--no-audit", "--no-fund", "--no-package-lock"];
    await run("npm", ["install", ...quiet, `next@${version}`, "react", "react-dom"], { cwd });
    for (const name of ["core", "server"])
      for (const part of ["dist", "package.json"])
        await cp(join(packages, name, part), join(cwd, "node_modules/@holdfast", name, part), {
          recursive: true,
        });
    const env = { ...process.env, NEXT_TELEMETRY_DISABLED: "1", NODE_ENV: "production" };
    const next = join(cwd, "node_modules/next/dist/bin/next");
    await run(process.execPath, [next, "build"], { cwd, env });
    const port = String(await unusedPort());
    const server = spawn(process.execPath, [next, "start", "-H", "127.0.0.1", "-p", port], {
      cwd,
      env,
      stdio: "ignore",
    });
    const app = new NextApp(`http://127.0.0.1:${port}`, server, cleanup);
    await eventually(async () => (await fetch(app.url).catch(() => null))?.status === 200);
    return app;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const ended = new Promise((resolve) => this.#server.once("exit", resolve));
    this.#server.kill();
    await ended;
    await this.#cleanup();
  }
}

async function unusedPort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}
