import { settledParts } from "@holdfast/server/ai-sdk/page";
import { memo } from "react";
import type { Answer, QuestionReply } from "./api.js";
import { ApprovalCard } from "./approval-card.js";
import { type ChatData, type ChatMessage, type PendingCall, textOf } from "./chat-message.js";
import { Icon } from "./icons.js";
import { Markdown } from "./markdown.js";
import { QuestionCard } from "./question-card.js";
import { ToolCard } from "./tool-card.js";

interface MessageViewProps {
  readonly message: ChatMessage;
  /** True while the message is being written. */
  readonly isOpen: boolean;
  readonly progress: Readonly<Record<string, unknown>>;
  readonly pending: readonly PendingCall[];
  readonly canAnswer: boolean;
  readonly onAnswer: (toolCallId: string, answer: Answer | QuestionReply) => Promise<void>;
}

/** A message of the person, or everything that the agent did in one turn. */
export const MessageView = memo(function MessageView(props: MessageViewProps) {
  const { message, isOpen } = props;
  const { compacted, status } = message.metadata ?? {};
  if (message.role === "user") return <Words text={textOf(message)} compacted={compacted} />;
  return (
    <article className="assistant" data-compacted={compacted} aria-label="Reply">
      {settledParts(message).map((part, index) => (
        <PartView key={index} part={part} {...props} />
      ))}
      {!isOpen && status === "interrupted" && <p className="note">Stopped.</p>}
    </article>
  );
});

function Words({
  text,
  compacted,
}: {
  readonly text: string;
  readonly compacted?: boolean | undefined;
}) {
  return (
    <div className="user" data-compacted={compacted}>
      <p>{text}</p>
    </div>
  );
}

function PartView({
  part,
  isOpen,
  progress,
  pending,
  canAnswer,
  onAnswer,
}: MessageViewProps & { readonly part: ChatMessage["parts"][number] }) {
  switch (part.type) {
    case "text":
      return <Markdown text={part.text} isOpen={isOpen && part.state === "streaming"} />;
    case "reasoning":
      return (
        <details className="reasoning">
          <summary>Thoughts</summary>
          <Markdown text={part.text} isOpen={isOpen} />
        </details>
      );
    case "dynamic-tool": {
      const asking = pending.find(({ toolCallId }) => toolCallId === part.toolCallId);
      if (part.state === "approval-requested" && asking)
        return <ApprovalCard call={asking} canAnswer={canAnswer} onAnswer={onAnswer} />;
      if (asking?.question) {
        const about = { call: asking, question: asking.question, canAnswer, onAnswer };
        return <QuestionCard key={asking.questionNumber} {...about} />;
      }
      return <ToolCard part={part} progress={progress[part.toolCallId]} />;
    }
    case "data-compaction":
      return <CompactionDivider {...part.data} />;
    case "data-steered":
      return <Words text={part.data.text} />;
    default:
      return null;
  }
}

function CompactionDivider({ tokensBefore, tokensAfter }: ChatData["compaction"]) {
  const tokens =
    tokensBefore === undefined || tokensAfter === undefined
      ? ""
      : ` · ${tokensBefore.toLocaleString("en")} → ${tokensAfter.toLocaleString("en")} tokens`;
  return (
    <p className="divider">
      <span>
        <Icon name="fold" /> The model reads a summary of what is above{tokens}
      </span>
    </p>
  );
}
