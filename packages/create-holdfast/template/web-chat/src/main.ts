import { missingKey } from "./model.js";
import { serve } from "./serve.js";

const advice = missingKey();
if (advice !== null) console.error(`${advice}\n`);
const { port, pids } = await serve(Number(process.env["PORT"] || 3000), process.env["HOST"]);
console.log(`Harbour desk: http://localhost:${port}
Two processes answer (${pids.join(" and ")}). Try \`kill -9\` on one of them. Ctrl-C ends all of them.`);
