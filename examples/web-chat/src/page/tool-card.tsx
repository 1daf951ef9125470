import type { ToolPart } from "./chat-message.js";
import { Icon } from "./icons.js";

const states: Readonly<Record<ToolPart["state"], string>> = {
  "input-streaming": "is being prepared",
  "input-available": "works",
  "approval-requested": "waits",
  "approval-responded": "works",
  "output-available": "done",
  "output-error": "failed",
  "output-denied": "not allowed",
};

/** Tools that only keep the agent's papers in order: a line is enough. */
const steps: readonly string[] = ["plan_enter", "plan_write", "plan_exit", "todo_write"];

/** A tool call: what went in, how far it is, what came out. */
export function ToolCard({
  part,
  progress,
}: {
  readonly part: ToolPart;
  readonly progress: unknown;
}) {
  const { toolName, state } = part;
  const isWorking = states[state] === "works";
  return (
    <details className={`card tool ${steps.includes(toolName) ? "step" : ""}`} data-state={state}>
      <summary>
        <Icon name="tool" />
        <b>{toolName.replaceAll("_", " ")}</b>
        <span className="gist">{gist(part.input)}</span>
        <span className="state">{states[state]}</span>
        {isWorking && <ProgressBar progress={progress} />}
      </summary>
      <dl>
        <dt>Input</dt>
        <dd>
          <Value value={part.input} />
        </dd>
        {state === "output-available" && (
          <>
            <dt>Output</dt>
            <dd>
              <Value value={part.output} />
            </dd>
          </>
        )}
        {state === "output-error" && (
          <>
            <dt>Error</dt>
            <dd>{part.errorText}</dd>
          </>
        )}
      </dl>
    </details>
  );
}

/** Progress as tools report it by custom: `{ done, total, note? }`, or a text. */
function ProgressBar({ progress }: { readonly progress: unknown }) {
  const { done, total, note } = Object(progress) as {
    done?: number;
    total?: number;
    note?: string;
  };
  const words = typeof progress === "string" ? progress : note;
  return (
    <span className="progress">
      <progress {...(done !== undefined && total !== undefined && { value: done, max: total })} />
      {words && <small>{words}</small>}
    </span>
  );
}

/** Shows text as it is, and all else as JSON. */
function Value({ value }: { readonly value: unknown }) {
  return <pre>{typeof value === "string" ? value : JSON.stringify(value, null, 2)}</pre>;
}

/** The first short value of an input, to tell calls of the same tool apart. */
function gist(input: unknown): string {
  const first = Object.values(Object(input)).find((value) => typeof value === "string");
  return first === undefined ? "" : (String(first).split("\n")[0] ?? "");
}
