import { randomUUID } from "node:crypto";
import { readFile } from "node:fs/promises";
import {
  createServer,
  type IncomingMessage,
  request as openRequest,
  type Server,
  type ServerResponse,
} from "node:http";
import { buffer } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import type { Member } from "./fleet.js";

const files: Readonly<Record<string, string>> = {
  "index.html": "text/html; charset=utf-8",
  "page.js": "text/javascript; charset=utf-8",
  "page.css": "text/css; charset=utf-8",
  "icon.svg": "image/svg+xml",
};

const headers = {
  "content-security-policy":
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  "referrer-policy": "no-referrer",
  "x-content-type-options": "nosniff",
  "cache-control": "no-cache",
};

/**
 * Stands in for a load balancer: serves the page, and hands requests below `/api` to the processes in turn, without looking at
 * whose they are.
 *
 * @param members - processes that take requests right now
 */
export function frontDoor(members: () => readonly Member[]): Server {
  let turn = 0;
  return createServer(async (request, response) => {
    const path = request.url ?? "/";
    if (!path.startsWith("/api/")) return sendFile(request, response, path.slice(1));
    const body = await buffer(request);
    const open = members();
    const first = turn++ % (open.length || 1);
    for (const member of [...open.slice(first), ...open.slice(0, first)])
      if ((await pass(request, body, response, member)) === "answered") return;
    response.writeHead(503).end("No server takes requests right now.");
  });
}

/** Hands a request to a process; "refused" when it cannot have got there. */
function pass(
  { method, url, headers: sent }: IncomingMessage,
  body: Buffer,
  response: ServerResponse,
  { port, pid }: Member,
): Promise<"answered" | "refused"> {
  return new Promise((resolve) => {
    const upstream = openRequest({ port, host: "127.0.0.1", method, path: url, headers: sent });
    upstream.once("response", (answer) => {
      response.writeHead(answer.statusCode ?? 502, { ...answer.headers, "x-served-by": pid });
      answer.pipe(response);
      // Cut, not ended: the page has to notice that this was not all.
      answer.once("error", () => response.destroy());
      resolve("answered");
    });
    upstream.once("error", (error: NodeJS.ErrnoException) => {
      if (error.code === "ECONNREFUSED") return resolve("refused");
      if (response.headersSent) response.destroy();
      else response.writeHead(502).end("The server went away.");
      resolve("answered");
    });
    response.once("close", () => upstream.destroy());
    upstream.end(body);
  });
}

async function sendFile(
  request: IncomingMessage,
  response: ServerResponse,
  path: string,
): Promise<void> {
  const isPage = path === "" || path.startsWith("c/");
  const name = isPage ? "index.html" : path;
  const type = files[name];
  if (type === undefined) {
    response.writeHead(404, headers).end("There is nothing here.");
    return;
  }
  const isNew = isPage && !request.headers.cookie?.includes("desk_user=");
  const cookie = `desk_user=${randomUUID()}; Path=/; HttpOnly; SameSite=Strict; Max-Age=31536000`;
  const content = await readFile(fileURLToPath(new URL(`./page/${name}`, import.meta.url)));
  response.writeHead(200, {
    ...headers,
    "content-type": type,
    ...(isNew && { "set-cookie": cookie }),
  });
  response.end(content);
}
