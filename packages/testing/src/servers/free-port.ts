import { createServer } from "node:net";

/** Ports handed out by this process: the system may offer one again before its server has bound it. */
const taken = new Set<number>();

/** Returns a loopback port that is not in use. */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = await offeredPort();
    if (taken.has(port)) continue;
    taken.add(port);
    return port;
  }
}

function offeredPort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer().unref();
    server.once("error", reject);
    server.listen(0, "127.0.0.1", () => {
      const address = server.address();
      const port = typeof address === "object" && address !== null ? address.port : 0;
      server.close(() => resolve(port));
    });
  });
}
