import type { Plan, Todo } from "./chat-message.js";
import { Markdown } from "./markdown.js";

const marks = { pending: "to do", in_progress: "doing", completed: "done" } as const;

/** The agent's todo list and its plan; empty when it has neither. */
export function TaskPanel({
  todos,
  plan,
}: {
  readonly todos: readonly Todo[];
  readonly plan: Plan | null;
}) {
  if (todos.length === 0 && plan === null) return null;
  const done = todos.filter(({ status }) => status === "completed").length;
  const current = todos.find(({ status }) => status === "in_progress")?.content;
  const allDone = todos.length > 0 && done === todos.length;
  return (
    <div className="tasks">
      {todos.length > 0 && (
        <details className="todos">
          <summary>
            <b>
              {done} of {todos.length} done
            </b>
            <span>{allDone ? "" : current}</span>
          </summary>
          <ul>
            {todos.map(({ content, status }) => (
              <li key={content} data-status={status}>
                <span role="img" aria-label={marks[status]} />
                {content}
              </li>
            ))}
          </ul>
        </details>
      )}
      {plan !== null && (
        <details className="plan">
          <summary>
            <b>Plan</b>
            <span>{plan.approved ? "approved" : "not approved yet"}</span>
          </summary>
          <Markdown text={plan.content} />
        </details>
      )}
    </div>
  );
}
