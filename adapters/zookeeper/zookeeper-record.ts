import { StoreError } from "../../src/errors.js";
import type { Card } from "../../src/store.js";

/** The version of records that this code writes, and the highest that it reads. */
const VERSION = 1;

type Json = Readonly<Record<string, unknown>>;

/** The record of a term. The holder's card is in its entry, which is there for as long as the seat is held. */
export interface TermRecord {
  /** The name of the entry that holds the seat while it exists. */
  readonly entry: string;
  readonly since: Date;
}

/** What the data of `term` says. */
export interface TermData {
  /** Null: names nobody. */
  readonly record: TermRecord | null;
  /** Fields that this release does not know: kept when the record is written again. */
  readonly extra: Json;
  /** Why the data cannot be read; null if it can. Such data names nobody. */
  readonly fault: string | null;
}

/** Writes a card. Throws TypeError when its metadata is not JSON. */
export function writeCard(card: Card): Buffer {
  return encode({ v: VERSION, id: card.id, metadata: card.metadata });
}

/** Reads an entry's data; a text says what is wrong with it. Throws StoreError `unsupported` for a later version. */
export function readCard(data: Buffer, path: string): Card | string {
  const json = decode(data, path);
  return typeof json === "string" ? json : cardOf(json);
}

/** Writes the record of a term that begins `since` (ms since the epoch). */
export function writeTerm(entry: string, since: number, extra: Json): Buffer {
  return encode({ ...extra, v: VERSION, entry, since: new Date(since).toISOString() });
}

/** A record that names nobody: how `term` begins. */
export function writeVacant(): Buffer {
  return encode({ v: VERSION, entry: null, since: null });
}

/** Reads the data of `term`. Throws StoreError `unsupported` for a later version; malformed data is told, not thrown. */
export function readTerm(data: Buffer, path: string): TermData {
  const json = decode(data, path);
  if (typeof json === "string") return { record: null, extra: {}, fault: json };
  const { v: _v, entry, since, ...extra } = json;
  if (entry === null) return { record: null, extra, fault: null };
  if (typeof entry !== "string") return { record: null, extra, fault: "names no entry" };
  const began = new Date(typeof since === "string" ? since : Number.NaN);
  if (Number.isNaN(began.getTime())) return { record: null, extra, fault: "does not say since when" };
  return { record: { entry, since: began }, extra, fault: null };
}

function cardOf(json: Json): Card | string {
  const { id, metadata } = json;
  if (typeof id !== "string") return "has no id";
  if (!isObject(metadata)) return "has no metadata";
  return { id, metadata };
}

function encode(json: Json): Buffer {
  return Buffer.from(JSON.stringify(json));
}

function decode(data: Buffer, path: string): Json | string {
  let json: unknown;
  try {
    json = JSON.parse(data.toString());
  } catch {
    return "is not JSON";
  }
  if (!isObject(json)) return "is not a JSON object";
  if (typeof json.v !== "number") return "has no version (v)";
  return checkVersion(json, path);
}

function checkVersion(json: Json, path: string): Json {
  if (typeof json.v === "number" && json.v > VERSION) {
    throw new StoreError(
      "unsupported",
      `${path}: written by a later release (record version ${json.v}, this one reads ${VERSION}): update tenure here`,
    );
  }
  return json;
}

function isObject(value: unknown): value is Json {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
