/** ZooKeeper's requests, by name. `connect` stands for the handshake, which has no header. */
export const OPCODES = {
  create: 1,
  delete: 2,
  exists: 3,
  getData: 4,
  setData: 5,
  getACL: 6,
  setACL: 7,
  getChildren: 8,
  sync: 9,
  ping: 11,
  getChildren2: 12,
  check: 13,
  multi: 14,
  create2: 15,
  auth: 100,
  setWatches: 101,
  setWatches2: 105,
  addWatch: 106,
  closeSession: -11,
} as const;

export type OpcodeName = keyof typeof OPCODES | "connect";

const NAMES = new Map(Object.entries(OPCODES).map(([name, code]) => [code as number, name as OpcodeName]));

/** A frame of a client: `opcode` is its name, or the bare number. */
export interface Request {
  readonly xid: number;
  readonly opcode: OpcodeName | `${number}`;
}

/** The header of a request frame (which begins with its length). */
export function parseRequest(frame: Buffer): Request {
  const code = frame.readInt32BE(8);
  return { xid: frame.readInt32BE(4), opcode: NAMES.get(code) ?? `${code}` };
}

/** What a server grants in its first frame. */
export interface GrantedSession {
  readonly id: bigint;
  readonly password: Buffer;
  /** Milliseconds. */
  readonly timeout: number;
}

/** The session that a connect response grants; null if it says that the session has expired. */
export function parseConnectResponse(frame: Buffer): GrantedSession | null {
  const timeout = frame.readInt32BE(8);
  const id = frame.readBigInt64BE(12);
  const length = frame.readInt32BE(20);
  return timeout > 0 ? { id, timeout, password: Buffer.from(frame.subarray(24, 24 + length)) } : null;
}

/** Cuts a stream into frames of a 4-byte length and so many bytes. A stream that cannot be framed comes out as it went in. */
export class FrameSplitter {
  #rest: Buffer = Buffer.alloc(0);
  #raw: boolean;

  constructor(framed: boolean) {
    this.#raw = !framed;
  }

  /** Whether what comes out are mere chunks, such as four-letter words. */
  get raw(): boolean {
    return this.#raw;
  }

  push(chunk: Buffer): Buffer[] {
    if (this.#raw) return [chunk];
    this.#rest = this.#rest.length === 0 ? chunk : Buffer.concat([this.#rest, chunk]);
    const frames: Buffer[] = [];
    while (this.#rest.length >= 4) {
      const length = this.#rest.readInt32BE(0);
      if (length < 0 || length > 64 * 1024 * 1024) {
        this.#raw = true;
        return [...frames, this.#rest];
      }
      if (this.#rest.length < 4 + length) break;
      frames.push(this.#rest.subarray(0, 4 + length));
      this.#rest = this.#rest.subarray(4 + length);
    }
    return frames;
  }
}
