/** The pause after a spaced drawing, as a multiple of its time with the style, the layout and the paint of the browser. */
const PAUSE = 30;
/** The longest such pause, in milliseconds. */
const LONGEST_MS = 150;

/** A drawing that is done once for all changes until a frame. */
export interface PerFrame {
  /**
   * Requests a drawing in the next frame, or in the first frame that is `afterMs` milliseconds after the last one. On a slow
   * device that time is longer, so that the page stays usable.
   */
  request(afterMs?: number): void;
  cancel(): void;
}

/** Returns a drawing that calls `draw`, once for all requests until a frame. */
export function perFrame(draw: () => void): PerFrame {
  let frame = 0;
  let timer: ReturnType<typeof setTimeout> | undefined;
  let drawnAt = -Infinity;
  let cost = 0;
  const cancel = (): void => {
    cancelAnimationFrame(frame);
    clearTimeout(timer);
    frame = 0;
    timer = undefined;
  };
  const inFrame = (): void => {
    frame ||= requestAnimationFrame(() => {
      cancel();
      const began = performance.now();
      drawnAt = began;
      draw();
      // The browser runs this task after it has painted.
      setTimeout(() => {
        drawnAt = performance.now();
        cost = drawnAt - began;
      });
    });
  };
  return {
    request(afterMs = 0) {
      const pause = afterMs && Math.max(afterMs, Math.min(LONGEST_MS, cost * PAUSE));
      const rest = drawnAt + pause - performance.now();
      if (rest <= 0) inFrame();
      else if (!frame) timer ??= setTimeout(inFrame, rest);
    },
    cancel,
  };
}
