import { type FormEvent, useState } from "react";
import type { SessionEntry } from "./api.js";
import { Icon } from "./icons.js";
import { takeFocus } from "./take-focus.js";
import { ThemeButton } from "./theme-button.js";
import type { Sessions } from "./use-sessions.js";

/** Sessions by title, with what can be done to each. */
export function Sidebar({
  sessions,
  openId,
  onOpen,
  onNew,
  onDeleted,
}: {
  readonly sessions: Sessions;
  readonly openId: string;
  readonly onOpen: (id: string) => void;
  readonly onNew: () => void;
  readonly onDeleted: (id: string) => void;
}) {
  return (
    <aside className="sidebar" aria-label="Conversations">
      <header>
        <span className="brand">
          <Icon name="anchor" /> Harbour desk
        </span>
        <ThemeButton />
      </header>
      <button type="button" className="new" onClick={onNew} title="Alt+N">
        <Icon name="plus" /> New conversation
      </button>
      <nav onPointerEnter={() => sessions.hold(true)} onPointerLeave={() => sessions.hold(false)}>
        <ul>
          {sessions.list.map((session) => (
            <SessionItem
              key={session.id}
              session={session}
              isOpen={session.id === openId}
              onOpen={() => onOpen(session.id)}
              onRename={(title) => sessions.rename(session.id, title)}
              onDelete={async () => {
                await sessions.remove(session.id);
                onDeleted(session.id);
              }}
            />
          ))}
        </ul>
      </nav>
      <p className="keys">
        <kbd>/</kbd> write · <kbd>Esc</kbd> stop · <kbd>Alt</kbd>+<kbd>N</kbd> new
      </p>
    </aside>
  );
}

function SessionItem({
  session,
  isOpen,
  onOpen,
  onRename,
  onDelete,
}: {
  readonly session: SessionEntry;
  readonly isOpen: boolean;
  readonly onOpen: () => void;
  readonly onRename: (title: string) => Promise<void>;
  readonly onDelete: () => Promise<void>;
}) {
  const [mode, setMode] = useState<"shown" | "renaming" | "deleting">("shown");
  const title = session.title ?? "Untitled";
  const save = (event: FormEvent<HTMLFormElement>): void => {
    event.preventDefault();
    const next = String(new FormData(event.currentTarget).get("title")).trim();
    setMode("shown");
    if (next !== "" && next !== title) void onRename(next);
  };
  if (mode === "renaming")
    return (
      <li>
        <form onSubmit={save}>
          <input
            name="title"
            aria-label="Title"
            defaultValue={title}
            maxLength={200}
            ref={takeFocus}
            onKeyDown={({ key }) => key === "Escape" && setMode("shown")}
            onBlur={() => setMode("shown")}
          />
        </form>
      </li>
    );
  if (mode === "deleting")
    return (
      <li className="deleting">
        <span>Delete it for good?</span>
        <button type="button" className="danger" onClick={() => void onDelete()}>
          Delete
        </button>
        <button type="button" ref={takeFocus} onClick={() => setMode("shown")}>
          Keep
        </button>
      </li>
    );
  return (
    <li>
      <button
        type="button"
        className="session"
        aria-current={isOpen ? "page" : undefined}
        onClick={onOpen}
      >
        <span>{title}</span>
        {session.waiting && (
          <span className="waiting" role="img" aria-label="waits for you" title="Waits for you" />
        )}
      </button>
      <button
        type="button"
        className="quiet"
        aria-label={`Rename ${title}`}
        onClick={() => setMode("renaming")}
      >
        <Icon name="pencil" />
      </button>
      <button
        type="button"
        className="quiet"
        aria-label={`Delete ${title}`}
        onClick={() => setMode("deleting")}
      >
        <Icon name="trash" />
      </button>
    </li>
  );
}
