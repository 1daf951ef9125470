import { type FormEvent, useState } from "react";
import type { Answer } from "./api.js";
import type { PendingCall } from "./chat-message.js";
import { Icon } from "./icons.js";
import { Markdown } from "./markdown.js";
import { takeFocus } from "./take-focus.js";

/** A tool call that asks: run it once, always, with changes, or not at all. */
export function ApprovalCard({
  call,
  canAnswer,
  onAnswer,
}: {
  readonly call: PendingCall;
  readonly canAnswer: boolean;
  readonly onAnswer: (toolCallId: string, answer: Answer) => Promise<void>;
}) {
  const [mode, setMode] = useState<"choose" | "edit" | "refuse">("choose");
  const { toolCallId, name, reason, suggestions = [] } = call;
  const isPlan = name === "plan_exit";
  const rules = suggestions
    .map(({ tool, pattern }) => (pattern === undefined ? tool : `${tool}(${pattern})`))
    .join(", ");
  const answer = (given: Answer): void => void onAnswer(toolCallId, given);
  return (
    <section className="card approval" aria-label={`Approve ${name}`}>
      <header>
        <Icon name="shield" />
        <b>{isPlan ? "Is this the plan?" : `May I use ${name.replaceAll("_", " ")}?`}</b>
      </header>
      {isPlan ? <Markdown text={reason ?? ""} /> : <Fields input={call.input} />}
      {!isPlan && reason && <p className="reason">{reason}</p>}
      {mode === "edit" && (
        <EditForm
          input={call.input}
          onSave={(input) => answer({ approve: true, input })}
          onCancel={() => setMode("choose")}
        />
      )}
      {mode === "refuse" && (
        <RefusalForm
          onRefuse={(why) => answer({ approve: false, ...(why && { reason: why }) })}
          onCancel={() => setMode("choose")}
        />
      )}
      {mode === "choose" && (
        <fieldset disabled={!canAnswer}>
          <button type="button" className="primary" onClick={() => answer({ approve: true })}>
            {isPlan ? "Begin" : "Once"}
          </button>
          {rules !== "" && (
            <button type="button" onClick={() => answer({ approve: true, remember: "user" })}>
              Always <code>{rules}</code>
            </button>
          )}
          {!isPlan && (
            <button type="button" onClick={() => setMode("edit")}>
              Edit
            </button>
          )}
          <button type="button" onClick={() => setMode("refuse")}>
            No…
          </button>
        </fieldset>
      )}
    </section>
  );
}

/** The fields of an input, one line each. */
function Fields({ input }: { readonly input: unknown }) {
  return (
    <dl>
      {Object.entries(Object(input)).map(([name, value]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>{typeof value === "string" ? value : JSON.stringify(value)}</dd>
        </div>
      ))}
    </dl>
  );
}

function EditForm({
  input,
  onSave,
  onCancel,
}: {
  readonly input: unknown;
  readonly onSave: (input: unknown) => void;
  readonly onCancel: () => void;
}) {
  const fields = Object.entries(Object(input)) as [string, unknown][];
  const [problem, setProblem] = useState("");
  const save = (event: FormEvent<HTMLFormElement>): void => {
    event.preventDefault();
    const form = new FormData(event.currentTarget);
    try {
      const edited = fields.map(([name, before]) => {
        const text = String(form.get(name));
        return [name, typeof before === "string" ? text : JSON.parse(text)];
      });
      onSave(Object.fromEntries(edited));
    } catch {
      setProblem("A field that was JSON is not valid JSON any more.");
    }
  };
  return (
    <form onSubmit={save}>
      {fields.map(([name, value], index) => (
        <label key={name}>
          {name}
          <textarea
            name={name}
            defaultValue={typeof value === "string" ? value : JSON.stringify(value)}
            ref={index === 0 ? takeFocus : null}
          />
        </label>
      ))}
      {problem && <p className="error">{problem}</p>}
      <fieldset>
        <button type="submit" className="primary">
          Run with these
        </button>
        <button type="button" onClick={onCancel}>
          Back
        </button>
      </fieldset>
    </form>
  );
}

function RefusalForm({
  onRefuse,
  onCancel,
}: {
  readonly onRefuse: (reason: string) => void;
  readonly onCancel: () => void;
}) {
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        onRefuse(String(new FormData(event.currentTarget).get("reason")).trim());
      }}
    >
      <label>
        Why not? The agent reads this.
        <input name="reason" ref={takeFocus} />
      </label>
      <fieldset>
        <button type="submit" className="danger">
          No
        </button>
        <button type="button" onClick={onCancel}>
          Back
        </button>
      </fieldset>
    </form>
  );
}
