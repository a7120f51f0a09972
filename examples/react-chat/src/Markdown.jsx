import ReactMarkdown from 'react-markdown';
import remarkGfm from 'remark-gfm';

/** A link that opens a new tab and shows its host. */
function Link({ href, children }) {
  if (!/^https?:\/\//.test(href ?? '')) return <span>{children}</span>;
  const { host } = new URL(href);
  const isPlain = children === href || children === host;
  return (
    <>
      <a href={href} target="_blank" rel="noopener noreferrer">{children}</a>
      {!isPlain && ` (${host})`}
    </>
  );
}

/** An image as a link: the text of a model must not make the browser load something from another server. */
const Image = ({ src, alt }) => <Link href={src}>{alt || 'Image'}</Link>;

/** The text of a model as Markdown. HTML in it stays text. */
export function Markdown({ text }) {
  return (
    <div className="text" data-part="text">
      <ReactMarkdown remarkPlugins={[remarkGfm]} components={{ a: Link, img: Image }}>{text}</ReactMarkdown>
    </div>
  );
}
