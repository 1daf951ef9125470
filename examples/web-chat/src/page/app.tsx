import { generateId } from "ai";
import { useEffect, useEffectEvent, useState } from "react";
import { ConversationView } from "./conversation-view.js";
import { Sidebar } from "./sidebar.js";
import { useSessions } from "./use-sessions.js";

/** The whole page: sessions at the side, one of them open. The address names the open one. */
export function App() {
  const [id, setId] = useState(idInAddress);
  const [isMenuOpen, setMenuOpen] = useState(false);
  const sessions = useSessions();

  const open = (next: string): void => {
    history.pushState(null, "", `/c/${encodeURIComponent(next)}`);
    setId(next);
    setMenuOpen(false);
  };
  const step = (by: number): void => {
    const at = sessions.list.findIndex((session) => session.id === id);
    const next = sessions.list[at + by];
    if (next) open(next.id);
  };
  const onKey = useEffectEvent((event: KeyboardEvent) => {
    if (event.key === "Escape") setMenuOpen(false);
    if (!event.altKey) return;
    const keys: Record<string, () => void> = {
      KeyN: () => open(generateId()),
      ArrowUp: () => step(-1),
      ArrowDown: () => step(1),
    };
    const action = keys[event.code];
    if (action) event.preventDefault();
    action?.();
  });
  const onBack = useEffectEvent(() => setId(idInAddress()));
  useEffect(() => {
    const key = (event: KeyboardEvent) => onKey(event);
    const back = () => onBack();
    addEventListener("keydown", key);
    addEventListener("popstate", back);
    return () => {
      removeEventListener("keydown", key);
      removeEventListener("popstate", back);
    };
  }, []);

  const { title = "New conversation", updatedAt } =
    sessions.list.find((session) => session.id === id) ?? {};
  useEffect(() => {
    document.title = `${title} · Harbour desk`;
  }, [title]);
  return (
    <div className="app" data-menu={isMenuOpen || undefined}>
      <Sidebar
        sessions={sessions}
        openId={id}
        onOpen={open}
        onNew={() => open(generateId())}
        // By the address: a person who went elsewhere before the answer came stays there.
        onDeleted={(gone) => gone === idInAddress() && open(generateId())}
      />
      <button
        type="button"
        className="scrim"
        aria-label="Close the list of conversations"
        tabIndex={-1}
        onClick={() => setMenuOpen(false)}
      />
      <ConversationView
        key={id}
        id={id}
        title={title}
        updatedAt={updatedAt}
        onMenu={() => setMenuOpen((is) => !is)}
        onTurn={sessions.refresh}
      />
    </div>
  );
}

/** Returns the session that the address names; a new one for the bare address. */
function idInAddress(): string {
  const named = /^\/c\/([^/]+)$/.exec(location.pathname)?.[1];
  if (named !== undefined) return decodeURIComponent(named);
  const id = generateId();
  history.replaceState(null, "", `/c/${id}`);
  return id;
}
