import { connectRaw, type RawSession, type RawStat } from "../../support/raw-session.js";

/** The record that a term znode holds. */
export interface TermView {
  readonly entry: string | null;
  readonly stat: RawStat;
}

/** How a second session, straight to the server, sees one election. */
export class QueueView {
  readonly raw: RawSession;
  readonly path: string;

  constructor(raw: RawSession, path: string) {
    this.raw = raw;
    this.path = path;
  }

  /** The names of the entries, in order of their sequence; also those that are not tenure's. Behind a sync. */
  async entries(): Promise<string[]> {
    await this.raw.sync();
    const names = await this.raw.children(`${this.path}/candidates`).catch(orNoNode([] as string[]));
    return names.sort((a, b) => Number(a.slice(-10)) - Number(b.slice(-10)));
  }

  /** Null while there is none. Behind a sync. */
  async term(): Promise<TermView | null> {
    await this.raw.sync();
    const read = await this.raw.get(`${this.path}/term`).catch(orNoNode(null));
    if (!read) return null;
    const { entry } = JSON.parse(read.data) as { entry: string | null };
    return { entry, stat: read.stat };
  }

  /** The id on the card of the entry that the term names; null if nobody holds the seat. */
  async leader(): Promise<string | null> {
    const term = await this.term();
    return term?.entry ? this.idOf(term.entry) : null;
  }

  /** The id on the card of an entry; null if it has gone. */
  async idOf(entry: string): Promise<string | null> {
    const read = await this.raw.get(this.entryPath(entry)).catch(orNoNode(null));
    return read ? (JSON.parse(read.data) as { id: string }).id : null;
  }

  /** The entry whose card has this id; throws if there is none or several. */
  async entryOf(id: string): Promise<string> {
    const names = await this.entries();
    const ids = await Promise.all(names.map((name) => this.idOf(name)));
    const found = names.filter((_, index) => ids[index] === id);
    if (found.length !== 1) throw new Error(`${found.length} entries of ${id} among ${names.length}`);
    return found[0] as string;
  }

  entryPath(entry: string): string {
    return `${this.path}/candidates/${entry}`;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.raw.close();
  }
}

export async function viewOf(address: string, root: string, election = "seat"): Promise<QueueView> {
  return new QueueView(await connectRaw(address), `${root}/${election}`);
}

function orNoNode<T>(value: T): (error: Error) => T {
  return (error) => {
    if (error.name === "NO_NODE") return value;
    throw error;
  };
}
