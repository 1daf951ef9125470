import { parseArgs } from "node:util";
import { serve } from "./serve.js";

const { values } = parseArgs({
  options: {
    port: { type: "string", default: "3000" },
    redis: { type: "string", default: process.env["REDIS_URL"] ?? "" },
    files: { type: "string", default: ".holdfast/web-chat" },
    help: { type: "boolean", short: "h", default: false },
  },
});
if (values.help) {
  console.log(`Usage: npm run web -- [--port 3000] [--redis redis://…] [--files .holdfast/web-chat]
Two processes answer, and share a Redis when there is one (--redis, REDIS_URL), else JSON files.`);
  process.exit(0);
}

process.env["DESK_STORE"] = values.redis || values.files;
const served = await serve(Number(values.port)).catch((error: NodeJS.ErrnoException) => {
  if (error.code !== "EADDRINUSE") throw error;
  console.error(`Port ${values.port} is taken: choose another one with --port.`);
  process.exit(1);
});
const { port, pids } = served;
console.log(`Harbour desk: http://localhost:${port}
Two processes answer (${pids.join(" and ")}); they share ${values.redis || `the files in ${values.files}`}.
Try \`kill -9\` on one of them while it answers. Ctrl-C ends all of them.`);
