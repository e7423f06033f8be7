import type { ZooKeeperAcl, ZooKeeperStat } from "./zookeeper-wire.js";

/*
 * The protocol's records, as zookeeper.jute of ZooKeeper 3.9 lays them out. The package's own codec builds an object for
 * each field; a hand-over waits for that.
 */

const PERMISSIONS: Readonly<Record<string, number>> = { r: 1, w: 2, c: 4, d: 8, a: 16 };

/** Writes one frame, its length first. */
export class FrameWriter {
  #bytes = Buffer.allocUnsafe(256);
  #end = 4;

  int(value: number): this {
    this.#grow(4);
    this.#bytes.writeInt32BE(value, this.#end);
    this.#end += 4;
    return this;
  }

  bool(value: boolean): this {
    this.#grow(1);
    this.#bytes[this.#end++] = value ? 1 : 0;
    return this;
  }

  string(text: string): this {
    // A UTF-16 unit takes three bytes at most.
    this.#grow(4 + 3 * text.length);
    const length = this.#bytes.write(text, this.#end + 4);
    this.#bytes.writeInt32BE(length, this.#end);
    this.#end += 4 + length;
    return this;
  }

  buffer(data: Buffer): this {
    this.#grow(4 + data.length);
    this.#bytes.writeInt32BE(data.length, this.#end);
    data.copy(this.#bytes, this.#end + 4);
    this.#end += 4 + data.length;
    return this;
  }

  /** What has been encoded before. */
  encoded(record: Buffer): this {
    this.#grow(record.length);
    record.copy(this.#bytes, this.#end);
    this.#end += record.length;
    return this;
  }

  /** The frame. Nothing may be written after that. */
  frame(): Buffer {
    this.#bytes.writeInt32BE(this.#end - 4, 0);
    return this.#bytes.subarray(0, this.#end);
  }

  #grow(more: number): void {
    if (this.#end + more <= this.#bytes.length) return;
    const larger = Buffer.allocUnsafe(Math.max(2 * this.#bytes.length, this.#end + more));
    this.#bytes.copy(larger, 0, 0, this.#end);
    this.#bytes = larger;
  }
}

/** The same for every node that a client makes, so it is encoded once. */
export function encodeAcl(acl: readonly ZooKeeperAcl[]): Buffer {
  const writer = new FrameWriter().int(acl.length);
  for (const { permissions, scheme, id } of acl) {
    const bits = [...permissions].reduce((sum, letter) => sum | (PERMISSIONS[letter] ?? 0), 0);
    writer.int(bits).string(scheme).string(id);
  }
  return writer.frame().subarray(4);
}

/** Reads one frame from behind its length and header. Throws a RangeError when it is too short. */
export class FrameReader {
  readonly #bytes: Buffer;
  #at: number;

  constructor(frame: Buffer, from: number) {
    this.#bytes = frame;
    this.#at = from;
  }

  int(): number {
    const value = this.#bytes.readInt32BE(this.#at);
    this.#at += 4;
    return value;
  }

  long(): bigint {
    const value = this.#bytes.readBigInt64BE(this.#at);
    this.#at += 8;
    return value;
  }

  bool(): boolean {
    return this.#bytes.readInt8(this.#at++) !== 0;
  }

  string(): string {
    const from = this.#skip(this.int());
    return this.#bytes.toString("utf8", from, this.#at);
  }

  /** A missing one is empty. A copy: the frame is part of a larger chunk. */
  buffer(): Buffer {
    const from = this.#skip(this.int());
    return Buffer.from(this.#bytes.subarray(from, this.#at));
  }

  strings(): string[] {
    const strings: string[] = [];
    for (let left = this.int(); left > 0; left--) strings.push(this.string());
    return strings;
  }

  stat(): ZooKeeperStat {
    const czxid = this.long();
    const mzxid = this.long();
    const ctime = Number(this.long());
    const mtime = Number(this.long());
    const version = this.int();
    const cversion = this.int();
    this.int(); // aversion
    const ephemeralOwner = this.long();
    this.int(); // dataLength
    const numChildren = this.int();
    this.long(); // pzxid
    return { czxid, mzxid, ctime, mtime, version, cversion, ephemeralOwner, numChildren };
  }

  #skip(length: number): number {
    const from = this.#at;
    if (length > this.#bytes.length - from) throw new RangeError("a reply that ends too early");
    this.#at += Math.max(length, 0);
    return from;
  }
}
