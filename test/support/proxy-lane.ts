import type { Socket } from "node:net";

/** How one direction of all links of a proxy behaves at present. */
export interface LaneRules {
  swallow: boolean;
  held: boolean;
  /** Milliseconds. */
  delay: number;
}

/** Bytes; or the end of what the other side sends; or the end of the link, once what came before has been sent. */
type Item = Buffer | "end" | "destroy";

/** One direction of one link: keeps the order, whatever is held back or delayed. */
export class Lane {
  readonly #to: Socket;
  readonly #rules: LaneRules;
  readonly #destroy: () => void;
  readonly #queue: { item: Item; due: number }[] = [];
  #timer: NodeJS.Timeout | undefined;
  /** Whether something was swallowed: the stream has a hole then. */
  lost = false;

  constructor(to: Socket, rules: LaneRules, destroy: () => void) {
    this.#to = to;
    this.#rules = rules;
    this.#destroy = destroy;
  }

  /** How many frames (or chunks) wait here. */
  get length(): number {
    return this.#queue.length;
  }

  push(item: Item): void {
    const last = this.#queue.at(-1)?.due ?? 0;
    this.#queue.push({ item, due: Math.max(last, performance.now() + this.#rules.delay) });
    this.pump();
  }

  /** Sends what may go. */
  pump(): void {
    clearTimeout(this.#timer);
    while (!this.#rules.held) {
      const next = this.#queue[0];
      if (!next) return;
      const wait = next.due - performance.now();
      if (wait > 0) {
        this.#timer = setTimeout(() => this.pump(), wait);
        return;
      }
      this.#queue.shift();
      this.#send(next.item);
    }
  }

  clear(): void {
    clearTimeout(this.#timer);
    this.#queue.length = 0;
  }

  #send(item: Item): void {
    if (this.#rules.swallow) this.lost = true;
    else if (item === "end") this.#to.end();
    else if (item === "destroy") this.#to.write(Buffer.alloc(0), () => this.#destroy());
    else if (this.#to.writable) this.#to.write(item);
  }
}
