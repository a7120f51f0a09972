/**
 * An image as a link. The text of a model must not make the browser load something from another server: the address of
 * an image can carry data of the chat. The policy in index.html forbids it too.
 */
function Image({ src, alt }) {
  if (!/^https?:\/\//.test(src ?? '')) return alt;
  return (
    <>
      <a href={src} target="_blank" rel="noopener noreferrer">{alt || 'Image'}</a> ({new URL(src).host})
    </>
  );
}

/** The slots of `CopilotChat` that show the text of a model. */
export const MESSAGES = { assistantMessage: { markdownRenderer: { components: { img: Image } } } };
