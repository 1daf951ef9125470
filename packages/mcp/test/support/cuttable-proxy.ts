import { connect, createServer, type Socket } from "node:net";

/** A way to a local port on which all connections can be broken while the server behind it lives on. */
export interface CuttableProxy extends AsyncDisposable {
  readonly port: number;
  /** Whether the server behind it has said this. */
  passed(text: string): boolean;
  /** Breaks every connection there is; new ones work. */
  cut(): void;
}

export async function cuttableProxy(target: number): Promise<CuttableProxy> {
  const sockets = new Set<Socket>();
  let said = "";
  const server = createServer((incoming) => {
    const outgoing = connect(target, "127.0.0.1");
    for (const socket of [incoming, outgoing]) {
      sockets.add(socket);
      socket.on("error", () => {});
      socket.on("close", () => {
        sockets.delete(socket);
        incoming.destroy();
        outgoing.destroy();
      });
    }
    outgoing.on("data", (chunk: Buffer) => {
      said += chunk.toString("latin1");
    });
    incoming.pipe(outgoing).pipe(incoming);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const cut = (): void => {
    for (const socket of sockets) socket.destroy();
  };
  return {
    port: (server.address() as { port: number }).port,
    passed: (text) => said.includes(text),
    cut,
    [Symbol.asyncDispose]: async () => {
      cut();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
