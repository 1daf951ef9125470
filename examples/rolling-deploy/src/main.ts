import { parseArgs } from "node:util";
import { privateRedis } from "@holdfast/testing/servers";
import { rollingDeploy } from "./rolling-deploy.js";

const { values } = parseArgs({
  options: {
    store: { type: "string", short: "s" },
    sessions: { type: "string", default: "50" },
    calls: { type: "string", default: "12" },
    deploys: { type: "string", default: "3" },
    json: { type: "boolean", default: false },
    help: { type: "boolean", short: "h", default: false },
  },
});
if (values.help) {
  console.log(`Usage: node dist/main.js [--store redis://… | mysql://…] [--sessions 50] [--calls 12] [--deploys 3] [--json]
Without --store a private Redis is started for the run (redis-server must be installed).`);
  process.exit(0);
}

const options = {
  sessions: Number(values.sessions),
  callsPerSession: Number(values.calls),
  deploys: Number(values.deploys),
};
const server = values.store === undefined ? await privateRedis() : undefined;
try {
  console.error(
    `${options.sessions} sessions with ${options.callsPerSession} calls each; two processes, each replaced ${options.deploys} times.`,
  );
  const summary = await rollingDeploy({ ...options, url: values.store ?? server?.url ?? "" });
  if (values.json) console.log(JSON.stringify(summary));
  else {
    console.log(`\ncalls answered       ${summary.answered} of ${summary.calls}`);
    console.log(`sent to a second one ${summary.repeated}`);
    console.log(`processes replaced   ${summary.replacedProcesses}`);
    console.log(
      `sessions stored      ${summary.problems.length === 0 ? "all complete and in order" : "NOT AS THEY SHOULD BE"}`,
    );
    for (const problem of summary.problems) console.log(`  ${problem}`);
  }
  if (summary.problems.length > 0) process.exitCode = 1;
} finally {
  await server?.stop();
}
