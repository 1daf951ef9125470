import { missingKey } from "./model.js";
import { serve } from "./serve.js";

const advice = missingKey();
if (advice !== null) console.error(`${advice}\n`);
const wanted = Number(process.env["PORT"] || 3000);
const served = await serve(wanted, process.env["HOST"]).catch((error: NodeJS.ErrnoException) => {
  if (error.code !== "EADDRINUSE") throw error;
  console.error(`Port ${wanted} is taken: set PORT to another one.`);
  process.exit(1);
});
const { port, pids } = served;
console.log(`Harbour desk: http://localhost:${port}
Two processes answer (${pids.join(" and ")}). Try \`kill -9\` on one of them. Ctrl-C ends all of them.`);
