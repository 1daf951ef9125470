import { memo } from "react";
import ReactMarkdown, { type Components } from "react-markdown";
import remarkGfm from "remark-gfm";
import remend from "remend";

const plugins = [remarkGfm];

const components: Components = {
  a: ({ node: _, ...rest }) => <a {...rest} target="_blank" rel="noopener noreferrer nofollow" />,
  // Wide tables scroll by themselves instead of the whole page.
  table: ({ node: _, ...rest }) => (
    <div className="table">
      <table {...rest} />
    </div>
  ),
};

/**
 * Shows Markdown of the model: no HTML, no addresses but web, mail and phone.
 *
 * @param isOpen - more text will come: what is half written, such as `**bold`, is shown as if it were closed
 */
export const Markdown = memo(function Markdown({
  text,
  isOpen = false,
}: {
  readonly text: string;
  readonly isOpen?: boolean;
}) {
  return (
    <div className="markdown">
      <ReactMarkdown remarkPlugins={plugins} components={components}>
        {isOpen ? remend(text) : text}
      </ReactMarkdown>
    </div>
  );
});
