import { element } from './dom.js';

/** Takes files that the user drops on a node. Without `take` they are refused: the browser would open them in place of the page. */
export function takeDrops(node: HTMLElement, text: string, take?: (files: FileList) => void): void {
  const mark = element('p', { part: 'drop', hidden: true }, text);
  node.append(mark);
  const hasFiles = (event: DragEvent): boolean => event.dataTransfer?.types.includes('Files') ?? false;
  node.addEventListener('dragover', (event) => {
    if (!hasFiles(event)) return;
    event.preventDefault();
    if (!take && event.dataTransfer) event.dataTransfer.dropEffect = 'none';
    mark.hidden = !take;
  });
  node.addEventListener('dragleave', ({ relatedTarget }) => {
    if (!(relatedTarget instanceof Node && node.contains(relatedTarget))) mark.hidden = true;
  });
  node.addEventListener('drop', (event) => {
    mark.hidden = true;
    if (!event.dataTransfer?.files.length) return;
    event.preventDefault();
    take?.(event.dataTransfer.files);
  });
}
