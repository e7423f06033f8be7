import type { Clock, Timer } from "../clock.js";

/** Shows how far a long command is. */
export interface Progress {
  show(done: number, of: number): void;
  /** Leaves no trace of it. */
  end(): void;
}

/** Shorter than this, ms, needs no progress; and it is not shown more often. */
const PACE = 500;
const CLEAR = "\r\u001b[K";

/** On a terminal only. */
export function progressOn(stream: NodeJS.WriteStream, clock: Clock): Progress {
  if (!stream.isTTY) return { show() {}, end() {} };
  let line = "";
  let shown = false;
  let timer: Timer | null = null;
  const write = () => {
    shown = true;
    stream.write(`${CLEAR}${line}`);
    timer = clock.after(PACE, write);
  };
  return {
    show(done, of) {
      line = `${done} of ${of} elections read`;
      timer ??= clock.after(PACE, write);
    },
    end() {
      timer?.cancel();
      if (shown) stream.write(CLEAR);
    },
  };
}
