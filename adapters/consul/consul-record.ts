import { randomBytes } from "node:crypto";
import { StoreError } from "../../src/errors.js";
import type { Card } from "../../src/store.js";

/** The version of records that this code writes, and the highest that it reads. */
const VERSION = 1;

type Json = Readonly<Record<string, unknown>>;

/** What a key of the queue says. */
export interface PlaceRecord extends Card {
  /** ModifyIndex of the session's own key: a query that waits for its end needs no other one before. */
  readonly anchor: number;
}

/** What `term` says. */
export interface TermRecord extends Card {
  readonly number: number;
  /** The place that was seated. */
  readonly entry: string;
  readonly session: string;
  readonly since: Date;
  /** Fields that this release does not know: kept when the record is written again. */
  readonly extra: Json;
}

/** What the lock says. */
export interface LockRecord {
  /** The place that was seated; null: the lock is free. */
  readonly entry: string | null;
  /** ModifyIndex of the session's own key; 0: not known. */
  readonly anchor: number;
  /** An operator's who keeps the seat free. */
  readonly stead: Card | null;
}

export interface Letter {
  /** The place that was seated by the transaction that wrote this letter; null: somebody left. */
  readonly entry: string | null;
  readonly number: number;
}

/** Writes the value of a place. Throws TypeError when the metadata is not JSON. */
export function writePlace({ id, metadata }: Card, anchor: number): string {
  return JSON.stringify({ v: VERSION, id, metadata, anchor });
}

export function readPlace(text: string, key: string): PlaceRecord | string {
  const json = decode(text, key);
  if (typeof json === "string") return json;
  const card = cardOf(json);
  return typeof card === "string" ? card : { ...card, anchor: indexOf(json.anchor) };
}

export function writeTerm({ extra, number, entry, session, id, metadata, since }: TermRecord): string {
  return JSON.stringify({ ...extra, v: VERSION, number, entry, session, id, metadata, since: since.toISOString() });
}

export function readTerm(text: string, key: string): TermRecord | string {
  const json = decode(text, key);
  if (typeof json === "string") return json;
  const { v: _v, number, entry, session, id: _id, metadata: _metadata, since, ...extra } = json;
  const card = cardOf(json);
  if (typeof card === "string") return card;
  if (typeof number !== "number" || !Number.isSafeInteger(number) || number < 1) return "has no number";
  if (typeof entry !== "string" || typeof session !== "string") return "names no place";
  const began = new Date(typeof since === "string" ? since : Number.NaN);
  if (Number.isNaN(began.getTime())) return "does not say since when";
  return { ...card, number, entry, session, since: began, extra };
}

export function writeLock({ entry, anchor, stead }: LockRecord): string {
  return JSON.stringify({ v: VERSION, entry, anchor, ...(stead === null ? {} : { stead: { id: stead.id, metadata: stead.metadata } }) });
}

/** Null: the value is not tenure's. */
export function readLock(text: string, key: string): LockRecord | null {
  const json = decode(text, key);
  if (typeof json === "string") return null;
  const { entry, stead } = json;
  const card = isObject(stead) ? cardOf(stead) : null;
  return { entry: typeof entry === "string" ? entry : null, anchor: indexOf(json.anchor), stead: typeof card === "string" ? null : card };
}

/** Consul leaves the index of an unchanged entry alone, and nobody is woken: each letter is unlike any other. */
export function writeLetter({ entry, number }: Letter): string {
  return JSON.stringify({ v: VERSION, entry, number, unique: unique() });
}

/** A letter of whatever form means at least: look. */
export function readLetter(text: string): Letter {
  try {
    const { entry, number } = JSON.parse(text) as Record<string, unknown>;
    if (typeof entry === "string" && typeof number === "number") return { entry, number };
  } catch {
    // Nothing to learn from it.
  }
  return { entry: null, number: 0 };
}

/** A text never used before. */
export function unique(): string {
  return randomBytes(12).toString("base64url");
}

function indexOf(value: unknown): number {
  return typeof value === "number" && Number.isSafeInteger(value) && value > 0 ? value : 0;
}

function cardOf(json: Json): Card | string {
  const { id, metadata } = json;
  if (typeof id !== "string") return "has no id";
  if (!isObject(metadata)) return "has no metadata";
  return { id, metadata };
}

function decode(text: string, key: string): Json | string {
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch {
    return "is not JSON";
  }
  if (!isObject(json)) return "is not a JSON object";
  if (typeof json.v !== "number") return "has no version (v)";
  if (json.v <= VERSION) return json;
  const told = `${key}: written by a later release (record version ${json.v}, this one reads ${VERSION}): update tenure here`;
  throw new StoreError("unsupported", told);
}

function isObject(value: unknown): value is Json {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
