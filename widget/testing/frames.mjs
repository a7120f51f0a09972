// Counts frames in a page, for the measurements.

/**
 * Is evaluated in a page: collects the gaps between frames and the blocking time of `seconds`, in milliseconds. `each` is the
 * name of a function of the page that is called in each frame, with the milliseconds since the beginning.
 */
export function frames({ seconds, each }) {
  let blocked = 0;
  const observer = new PerformanceObserver((list) => {
    for (const { duration } of list.getEntries()) blocked += Math.max(0, duration - 50);
  });
  observer.observe({ type: 'longtask' });
  const gaps = [];
  const begin = performance.now();
  return new Promise((done) => {
    let last = begin;
    const frame = () => {
      const now = performance.now();
      gaps.push(now - last);
      last = now;
      if (each) window[each](now - begin);
      if (now - begin < seconds * 1_000) return requestAnimationFrame(frame);
      observer.disconnect();
      done({ gaps, blocked });
    };
    requestAnimationFrame(frame);
  });
}

/** Returns the value below which a share of the values is. */
export const quantile = (values, share) => values.sort((a, b) => a - b)[Math.floor(values.length * share)];
