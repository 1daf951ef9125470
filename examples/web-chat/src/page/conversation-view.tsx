import { pendingOf, planOf, todosOf } from "./chat-message.js";
import { Composer } from "./composer.js";
import { Icon } from "./icons.js";
import { MessageView } from "./message-view.js";
import { TaskPanel } from "./task-panel.js";
import { useConversation } from "./use-conversation.js";
import { useStickyScroll } from "./use-sticky-scroll.js";
import { WindowMeter } from "./window-meter.js";

const suggestions = [
  "Which bookings are overdue?",
  "Remind the late guests by mail",
  "Plan the autumn haul-out",
  "Write the guide to mooring",
];

/** One session: its messages, the agent's list of tasks, and where to write. */
export function ConversationView({
  id,
  title,
  updatedAt,
  onMenu,
  onTurn,
}: {
  readonly id: string;
  readonly title: string;
  readonly updatedAt: string | undefined;
  readonly onMenu: () => void;
  readonly onTurn: () => void;
}) {
  const conversation = useConversation(id, updatedAt, onTurn);
  const { messages, state, error, steering } = conversation;
  const { scroller, isAway, toEnd } = useStickyScroll([messages, steering, error]);
  const pending = pendingOf(messages);
  const isEmpty = messages.length === 0 && state !== "loading";
  return (
    <main className="conversation" data-state={state}>
      <header>
        <button type="button" className="quiet menu" aria-label="Conversations" onClick={onMenu}>
          <Icon name="menu" />
        </button>
        <h1>{title}</h1>
        <WindowMeter share={conversation.context} />
      </header>
      <div className="scroller" ref={scroller}>
        <div className="thread" role="log" aria-busy={state === "working"}>
          {isEmpty && (
            <div className="welcome">
              <Icon name="anchor" />
              <h2>What shall the desk do?</h2>
              <div className="suggestions">
                {suggestions.map((text) => (
                  <button type="button" key={text} onClick={() => void conversation.say(text)}>
                    {text}
                  </button>
                ))}
              </div>
            </div>
          )}
          {messages.map((message, index) => (
            <MessageView
              key={message.id}
              message={message}
              isOpen={state === "working" && index === messages.length - 1}
              progress={conversation.progress}
              pending={index === messages.length - 1 ? pending : []}
              canAnswer={state === "idle"}
              onAnswer={conversation.answer}
            />
          ))}
          {conversation.isCompacting && <p className="divider working">Making room…</p>}
          {steering.map(({ text, when }) => (
            <div className="user steering" key={text}>
              <p>{text}</p>
              <small>{`is read with the ${when}`}</small>
            </div>
          ))}
          {state === "working" && messages.at(-1)?.role === "user" && (
            <p className="thinking">
              <i />
              <i />
              <i />
            </p>
          )}
          {error !== null && (
            <p className="error" role="alert">
              {error}
            </p>
          )}
        </div>
      </div>
      <footer>
        {isAway && (
          <button type="button" className="to-end" aria-label="To the newest" onClick={toEnd}>
            <Icon name="down" />
          </button>
        )}
        <p className="connection" role="status">
          {state === "lost" && "The connection was lost. Connecting again…"}
          {state === "working" &&
            conversation.isOrphaned &&
            "The process that wrote this is gone. Another one takes over…"}
        </p>
        <TaskPanel todos={todosOf(messages)} plan={planOf(messages)} />
        <Composer
          isWorking={state === "working" || state === "lost"}
          onSay={conversation.say}
          onStop={conversation.stop}
        />
      </footer>
    </main>
  );
}
