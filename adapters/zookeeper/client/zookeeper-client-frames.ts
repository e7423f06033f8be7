/** Larger than any reply that tenure can cause; a length beyond it means that this is no ZooKeeper server. */
const LARGEST_FRAME = 64 * 1024 * 1024;

/**
 * Cuts the byte stream of one connection into frames (4 bytes of length, then so many bytes). Copies each byte at most
 * once, whatever the chunks are.
 */
export class FrameSplitter {
  readonly #take: (frame: Buffer) => void;
  #chunks: Buffer[] = [];
  #held = 0;
  /** How many bytes the frame begun takes; 4 while its length is not known. */
  #wanted = 4;

  /** `take` is given each frame, its length included. */
  constructor(take: (frame: Buffer) => void) {
    this.#take = take;
  }

  /** Throws if the bytes cannot be ZooKeeper's. */
  push(chunk: Buffer): void {
    this.#chunks.push(chunk);
    this.#held += chunk.length;
    if (this.#held < this.#wanted) return;
    const bytes = this.#chunks.length === 1 ? chunk : Buffer.concat(this.#chunks, this.#held);
    let from = 0;
    this.#wanted = 4;
    while (bytes.length - from >= this.#wanted) {
      this.#wanted = frameLength(bytes, from);
      if (bytes.length - from < this.#wanted) break;
      const frame = bytes.subarray(from, from + this.#wanted);
      from += this.#wanted;
      this.#wanted = 4;
      this.#take(frame);
    }
    this.#chunks = from < bytes.length ? [bytes.subarray(from)] : [];
    this.#held = bytes.length - from;
  }
}

function frameLength(bytes: Buffer, from: number): number {
  const size = bytes.readInt32BE(from);
  if (size < 0 || size > LARGEST_FRAME) throw new Error("the answer is not ZooKeeper's");
  return 4 + size;
}
