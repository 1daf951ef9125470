import { randomUUID } from "node:crypto";
import { ask } from "./balancer.js";
import { Deployment } from "./deployment.js";
import { Fleet } from "./fleet.js";
import { openStore } from "./open-store.js";
import { Progress } from "./progress.js";
import { answerTo } from "./support-agent.js";
import { problemsOf } from "./verify.js";

/** Size of a deploy. */
export interface DeployOptions {
  readonly url: string;
  readonly sessions: number;
  readonly callsPerSession: number;
  /** Number of times that every process is replaced. */
  readonly deploys: number;
}

/** Result of a run. */
export interface DeploySummary {
  readonly calls: number;
  readonly answered: number;
  /** Calls that had to be sent to a second process, or more. */
  readonly repeated: number;
  readonly replacedProcesses: number;
  readonly problems: readonly string[];
}

const processes = 2;

/** Serves sessions from two processes while each is replaced, again and again, and looks at what is stored afterwards. */
export async function rollingDeploy(options: DeployOptions): Promise<DeploySummary> {
  const { url, sessions: count, callsPerSession, deploys } = options;
  const prefix = `deploy_${randomUUID().slice(0, 8)}_`;
  const { store, close } = openStore(url, prefix);
  const fleet = new Fleet(url, prefix);
  const progress = new Progress(count * callsPerSession);
  const sessions = new Map<string, string[]>();
  let [answered, repeated] = [0, 0];
  try {
    for (let n = 0; n < processes; n++) progress.note(`process ${(await fleet.add()).pid} is up`);
    const deployment = new Deployment(fleet, deploys * processes, count * callsPerSession, (text) =>
      progress.note(text),
    );
    const talk = async (session: number): Promise<void> => {
      const sessionId = `session-${session}`;
      const questions: string[] = [];
      sessions.set(sessionId, questions);
      for (let n = 0; n < callsPerSession; n++) {
        const text = `order ${session}-${n}`;
        questions.push(text);
        await deployment.mayCall();
        const answer = await ask(fleet, { sessionId, callId: `${sessionId}-${n}`, text });
        if (answer.text !== answerTo(text)) throw new Error(`${sessionId}: a wrong answer`);
        answered++;
        if (answer.repeats > 0) repeated++;
        progress.step();
        deployment.answered();
      }
    };
    await Promise.all(Array.from({ length: count }, (_, session) => talk(session)));
    const replacedProcesses = await deployment.finished();
    progress.end();
    const problems = await problemsOf(store, sessions);
    return { calls: count * callsPerSession, answered, repeated, replacedProcesses, problems };
  } finally {
    await fleet.stop();
    await close();
  }
}
