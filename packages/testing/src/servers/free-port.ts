import { createServer } from "node:net";

/**
 * First and last port to hand out. Below the ports that a system gives to outgoing connections, 32,768 on Linux and 49,152
 * elsewhere: a client that tries to reach a server which is just being restarted could be given the server's port, connect to itself,
 * and keep the server from coming back.
 */
const FIRST = 10_000;
const LAST = 32_767;

/** Offset of this process: several that start servers at the same time look at different ports. */
let next = (process.pid * 151) % (LAST - FIRST);

/** Returns a loopback port that is not in use, each time another one. */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = FIRST + next;
    next = (next + 1) % (LAST - FIRST);
    if (await isFree(port)) return port;
  }
}

function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer().unref();
    server.once("error", () => resolve(false));
    server.listen(port, "127.0.0.1", () => server.close(() => resolve(true)));
  });
}
