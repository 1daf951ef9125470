import { type FormEvent, useId, useState } from "react";
import type { QuestionReply } from "./api.js";
import type { PendingCall, Question } from "./chat-message.js";
import { Icon } from "./icons.js";
import { contentOf, type Field, fieldsOf } from "./question-fields.js";
import { takeFocus } from "./take-focus.js";

/** A tool that asks: a form to fill in, or an address to open. */
export function QuestionCard({
  call,
  question,
  canAnswer,
  onAnswer,
}: {
  readonly call: PendingCall;
  readonly question: Question;
  readonly canAnswer: boolean;
  readonly onAnswer: (toolCallId: string, answer: QuestionReply) => Promise<void>;
}) {
  const { toolCallId, name, questionNumber: number } = call;
  const [problem, setProblem] = useState("");
  const about = number === undefined ? {} : { number };
  const answer = (given: QuestionReply): void => void onAnswer(toolCallId, { ...given, ...about });
  const fields = fieldsOf(question.schema);
  const submit = (event: FormEvent<HTMLFormElement>): void => {
    event.preventDefault();
    const filled = contentOf(fields, new FormData(event.currentTarget));
    if (question.url !== undefined) answer({ action: "accept" });
    else if (typeof filled === "string") setProblem(filled);
    else answer({ action: "accept", content: filled });
  };
  return (
    <section className="card approval" aria-label={`Question of ${name}`}>
      <header>
        <Icon name="shield" />
        <b>{question.message}</b>
      </header>
      <form onSubmit={submit} noValidate>
        {question.url !== undefined && <Address url={question.url} />}
        {fields.map((field, index) => (
          <FieldView key={field.name} field={field} isFirst={index === 0} />
        ))}
        {problem && <p className="error">{problem}</p>}
        <fieldset disabled={!canAnswer}>
          <button type="submit" className="primary">
            {question.url === undefined ? "Answer" : "Done"}
          </button>
          <button type="button" onClick={() => answer({ action: "decline" })}>
            No
          </button>
          <button type="button" onClick={() => answer({ action: "cancel" })}>
            Not now
          </button>
        </fieldset>
      </form>
    </section>
  );
}

/** The address in full, so that the person sees where it leads; a page that opens knows nothing of this one. */
function Address({ url }: { readonly url: string }) {
  return (
    <p className="reason">
      <a href={url} target="_blank" rel="noopener noreferrer">
        {url}
      </a>
    </p>
  );
}

function FieldView({ field, isFirst }: { readonly field: Field; readonly isFirst: boolean }) {
  const { title, description, required } = field;
  const id = useId();
  return (
    <div className="field">
      <label htmlFor={id}>
        {title}
        {required && " *"}
      </label>
      <Control field={field} id={id} isFirst={isFirst} />
      {description && <small>{description}</small>}
    </div>
  );
}

function Control({
  field,
  id,
  isFirst,
}: {
  readonly field: Field;
  readonly id: string;
  readonly isFirst: boolean;
}) {
  const { name, kind, choices, initial, required } = field;
  const about = { id, name, ref: isFirst ? takeFocus : null };
  const isSeveral = kind === "choices";
  if (kind === "choice" || isSeveral)
    return (
      <select
        {...about}
        multiple={isSeveral}
        defaultValue={isSeveral ? [initial ?? []].flat().map(String) : String(initial ?? "")}
      >
        {!required && !isSeveral && <option value="">–</option>}
        {choices.map((one) => (
          <option key={one.value} value={one.value}>
            {one.title}
          </option>
        ))}
      </select>
    );
  if (kind === "boolean")
    return <input {...about} type="checkbox" defaultChecked={initial === true} />;
  return <input {...about} type={kind} step="any" defaultValue={String(initial ?? "")} />;
}
